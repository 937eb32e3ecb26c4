import { fileURLToPath } from 'node:url';
import { checkInEngine } from '../build/engine-check.ts';
import { checkImports, importedLibraries } from '../build/imports.ts';
import { missingRun, positionsIn } from '../build/positions.ts';
import type { Compile, Diagnostic, Language } from '../language.ts';
import type { ScriptProgram } from '../../plugins/program.ts';
import { scriptTemplates } from '../typed-template.ts';
import { compilerDirectory } from '../types/native-compiler.ts';
import { loadTypeChecker, typeCheckerProgram } from '../types/type-checker.ts';

const javascript: Language = {
  identifier: 'javascript',
  pretty: 'JavaScript',
  short: 'js',
  ...scriptTemplates('javascript'),
  packages: ['oxc-parser', 'typescript', 'quickjs-wasi', 'lru-cache'],
  probe: () => {
    for (const name of ['typescript/unstable/sync', 'oxc-parser']) fileURLToPath(import.meta.resolve(name));
    compilerDirectory();
  },
  needs: ['addons'],
  helper: typeCheckerProgram,
  loadCompiler,
};

// By the parser's names of its severities.
const severities: Readonly<Record<string, Diagnostic['severity']>> = {
  Error: 'error',
  Advice: 'information',
};

async function loadCompiler(): Promise<Compile> {
  const [checkTypes, { parseSync }] = await Promise.all([
    loadTypeChecker('javascript'),
    import('oxc-parser'),
  ]);
  return async (source, types) => {
    const parsed = parseSync('plugin.js', source, {
      lang: 'js',
      sourceType: 'module',
      showSemanticErrors: true,
    });
    const positionAt = positionsIn(source);
    const at = (offset: number, message: string, severity: Diagnostic['severity'] = 'error'): Diagnostic => ({
      ...positionAt(offset),
      message,
      severity,
    });
    const errors = parsed.errors.map(({ message, labels, helpMessage, severity }) =>
      at(
        // For a duplicate name, the last label is the duplicate.
        labels.at(-1)?.start ?? 0,
        helpMessage ? `${message}. ${helpMessage}` : message,
        severities[severity] ?? 'warning',
      ),
    );
    if (errors.some(({ severity }) => severity === 'error')) return { diagnostics: errors };
    errors.push(...checkImports(source, parsed.module, types.libraries));
    const exports = parsed.module.staticExports.flatMap(({ entries }) => entries);
    if (!exports.some(({ exportName }) => exportName.name === 'run'))
      errors.push(at(0, missingRun(types, true)));
    if (errors.length) return { diagnostics: errors };
    const program: ScriptProgram = { kind: 'script', code: source, file: 'plugin.js' };
    const imports = importedLibraries(parsed.module);
    const problems = await checkInEngine(program, imports);
    if (problems.length) return { diagnostics: problems };
    const { parses, diagnostics } = checkTypes(source, types);
    // The parser and the engine accept the source, so that it is JavaScript even if the type checker cannot parse it.
    if (!parses) return { program, imports, diagnostics: [] };
    return diagnostics.some(({ severity }) => severity === 'error')
      ? { diagnostics }
      : { program, imports, diagnostics };
  };
}

export default javascript;
