import type * as sqlite from 'node:sqlite';

/**
 * Loads `node:sqlite` without Node's warning that it is experimental, which is of no use to operators of the service. Every other
 * warning is still printed.
 */
export function loadSqlite(): typeof sqlite {
  const emitWarning = process.emitWarning.bind(process);
  process.emitWarning = (warning: string | Error, ...rest: unknown[]) => {
    const isAboutSqlite = String(warning).startsWith('SQLite is an experimental feature');
    if (!isAboutSqlite) Reflect.apply(emitWarning, process, [warning, ...rest]);
  };
  try {
    // Loading a built-in module is synchronous, so that nothing else can warn meanwhile. An import declaration would load it before
    // any code of this file runs.
    return process.getBuiltinModule('node:sqlite');
  } finally {
    process.emitWarning = emitWarning;
  }
}
