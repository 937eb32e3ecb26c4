import { SourceMap } from 'node:module';
import { fileURLToPath } from 'node:url';
import { checkInEngine } from '../build/engine-check.ts';
import { checkImports, importedLibraries } from '../build/imports.ts';
import { missingRun, positionOfRun, positionsIn } from '../build/positions.ts';
import type { Compile, Diagnostic, Language } from '../language.ts';
import type { ScriptProgram } from '../../plugins/program.ts';
import { scriptTemplates } from '../typed-template.ts';
import { compilerDirectory } from '../types/native-compiler.ts';
import { loadTypeChecker, typeCheckerProgram } from '../types/type-checker.ts';

const typescript: Language = {
  identifier: 'typescript',
  pretty: 'TypeScript',
  short: 'ts',
  ...scriptTemplates('typescript'),
  packages: ['oxc-parser', 'oxc-transform', 'typescript', 'quickjs-wasi', 'lru-cache'],
  probe: () => {
    for (const name of ['typescript/unstable/sync', 'oxc-parser', 'oxc-transform'])
      fileURLToPath(import.meta.resolve(name));
    compilerDirectory();
  },
  needs: ['addons'],
  helper: typeCheckerProgram,
  loadCompiler,
};

async function loadCompiler(): Promise<Compile> {
  const [checkTypes, { parseSync }, { transformSync }] = await Promise.all([
    loadTypeChecker('typescript'),
    import('oxc-parser'),
    import('oxc-transform'),
  ]);
  return async (source, types) => {
    const { diagnostics } = checkTypes(source, types);
    if (diagnostics.some(({ severity }) => severity === 'error')) return { diagnostics };
    const { code, map, errors } = transformSync('plugin.ts', source, {
      lang: 'ts',
      sourceType: 'module',
      sourcemap: true,
    });
    if (errors.length || !map) {
      return {
        diagnostics: errors.map(({ message, labels }) => ({
          ...positionsIn(source)(labels[0]?.start ?? 0),
          message,
          severity: 'error' as const,
        })),
      };
    }
    const program: ScriptProgram = { kind: 'script', code, file: 'plugin.ts', mappings: map.mappings };
    // The transformed source has no type-only imports.
    const { module } = parseSync('plugin.js', code, { lang: 'js', sourceType: 'module' });
    const unusable = checkImports(code, module, types.libraries);
    if (unusable.length) return { diagnostics: unusable.map((one) => inSource(one, map)) };
    const exports: readonly { readonly kind: string; readonly name: string | null }[] =
      module.staticExports.flatMap(({ entries }) => entries.map((one) => one.exportName));
    // The types may have it all the same, from `export declare function run`. `export *` may export it.
    if (!exports.some(({ kind, name }) => name === 'run' || kind === 'None')) {
      const message = missingRun(types);
      return { diagnostics: [{ ...positionOfRun(source), message, severity: 'error' }] };
    }
    const imports = importedLibraries(module);
    const problems = await checkInEngine(program, imports);
    return problems.length ? { diagnostics: problems } : { program, imports, diagnostics };
  };
}

/** A problem of the transformed source, at its place in the source as it was written. */
function inSource(problem: Diagnostic, { mappings }: { readonly mappings: string }): Diagnostic {
  const map = new SourceMap({
    version: 3,
    file: 'plugin.ts',
    sources: ['plugin.ts'],
    sourcesContent: [],
    names: [],
    mappings,
    sourceRoot: '',
  });
  const entry = map.findEntry(problem.line - 1, problem.column - 1);
  return 'originalLine' in entry
    ? { ...problem, line: entry.originalLine + 1, column: entry.originalColumn + 1 }
    : problem;
}

export default typescript;
