import type * as sqlite from 'node:sqlite';

/**
 * Loads `node:sqlite` without the warning that it is experimental, which Node prints once when the module is loaded and
 * which is of no use to the people who run the service. Every other warning is printed as ever.
 */
export function loadSqlite(): typeof sqlite {
  const emitWarning = process.emitWarning.bind(process);
  process.emitWarning = (warning: string | Error, ...rest: unknown[]) => {
    const isAboutSqlite = String(warning).startsWith('SQLite is an experimental feature');
    if (!isAboutSqlite) Reflect.apply(emitWarning, process, [warning, ...rest]);
  };
  try {
    // Loading a built-in module is synchronous, so that nothing else warns meanwhile. An import declaration would load it
    // before any of this file's code runs.
    return process.getBuiltinModule('node:sqlite');
  } finally {
    process.emitWarning = emitWarning;
  }
}
