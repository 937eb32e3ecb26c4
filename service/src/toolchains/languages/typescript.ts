import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkInEngine } from '../build/engine-check.ts';
import { expectArguments } from '../../processes/connected-process.ts';
import { missingRun, positionOfRun, positionsIn } from '../build/positions.ts';
import type { Compile, Diagnostic, Language } from '../language.ts';
import { moduleUrl } from '../../processes/module-url.ts';
import { replaceModule } from '../../processes/replaced-modules.ts';
import type { Program } from '../../plugins/program.ts';
import { stringLiteral } from '../source-text.ts';

const typescript: Language = {
  identifier: 'typescript',
  pretty: 'TypeScript',
  short: 'ts',
  template: ({ pluginName, namespace }) => ({
    lang: 'typescript',
    contents: `const plugin = {
  name: ${stringLiteral(pluginName)},
  namespace: ${stringLiteral(namespace)},
};

/** Runs each time the plugin is called: takes what the caller sent, returns what the caller gets back. */
export function run(input: string): string {
  const name: string = input.trim() || "world";
  return \`Hello, \${name}! This is \${plugin.name} in \${plugin.namespace}.\`;
}
`,
    tests: [
      { name: 'Greets by name', description: 'The input is the name to greet.', payload: 'Ada' },
      { name: 'Greets the world', description: 'Without a name, everyone is greeted.', payload: '' },
    ],
  }),
  probe: () => {
    for (const name of ['typescript/unstable/sync', 'oxc-transform'])
      fileURLToPath(import.meta.resolve(name));
    compilerDirectory();
  },
  needs: ['addons'],
  helper: () => ({ command: join(compilerDirectory(), 'tsc'), args: helperArguments }),
  loadCompiler,
};

/** Where the native compiler is, and the declarations of the language's own library beside it. */
const compilerDirectory = () => {
  const platform = `@typescript/typescript-${process.platform}-${process.arch}/package.json`;
  // It is a dependency of TypeScript's, and need not be where the service finds its own.
  const { resolve } = createRequire(import.meta.resolve('typescript/package.json'));
  return join(dirname(resolve(platform)), 'lib');
};

const root = '/plugin';
const project = `${root}/tsconfig.json`;
const plugin = `${root}/plugin.ts`;
const signature = `${root}/signature.ts`;

const files = new Map([
  [
    project,
    JSON.stringify({
      compilerOptions: {
        strict: true,
        target: 'es2024',
        lib: ['es2024'],
        types: [],
        module: 'esnext',
        moduleResolution: 'bundler',
        moduleDetection: 'force',
        isolatedModules: true,
        noEmit: true,
      },
      files: [signature, `${root}/sandbox.d.ts`],
    }),
  ],
  [
    `${root}/sandbox.d.ts`,
    `interface Console { ${['log', 'info', 'debug', 'warn', 'error'].map((name) => `${name}(...values: unknown[]): void;`).join(' ')} }
declare const console: Console;
declare function queueMicrotask(task: () => void): void;`,
  ],
  [
    signature,
    `import * as plugin from './plugin';
export const run: (input: string) => string | Promise<string> = plugin.run;`,
  ],
]);

// What the compiler's client starts its program with; `connectedProcess` compares them.
const helperArguments = [
  '--api',
  '--cwd',
  root,
  '--callbacks=readFile,fileExists,directoryExists,getAccessibleEntries,realpath',
];

async function loadCompiler(): Promise<Compile> {
  // The client would start the program by itself, which a compiler may not.
  replaceModule('child_process', moduleUrl('../../processes/connected-process', import.meta.url));
  expectArguments(helperArguments);
  const [{ API, DiagnosticCategory }, { transformSync }] = await Promise.all([
    import('typescript/unstable/sync'),
    import('oxc-transform'),
  ]);
  const libraries = `${compilerDirectory().replaceAll('\\', '/')}/`;
  const api = new API({
    cwd: root,
    // Instead of the disk: there is the plugin, and the declarations that come with the compiler.
    fs: {
      readFile: (path) =>
        files.get(path) ?? (path.startsWith(libraries) && !path.includes('/..') ? undefined : null),
      fileExists: (path) => files.has(path),
      directoryExists: (path) => path === root || path === '/',
      getAccessibleEntries: () => ({ files: [], directories: [] }),
      realpath: (path) => path,
    },
  });
  files.set(plugin, '');
  api.updateSnapshot({ openProjects: [project] });

  const check = (source: string): Diagnostic[] => {
    files.set(plugin, source);
    const positionAt = positionsIn(source);
    const snapshot = api.updateSnapshot({ fileChanges: { changed: [plugin] } });
    try {
      const program = snapshot.getProject(project)?.program;
      if (!program) throw new Error('The compiler has lost its project.');
      const parse = program.getSyntacticDiagnostics(plugin);
      const own = parse.length
        ? parse
        : [...program.getProgramDiagnostics(), ...program.getSemanticDiagnostics(plugin)];
      const found = own.map((one) => ({
        ...positionAt(one.fileName === plugin ? one.pos : 0),
        message: textOf(one),
        severity: one.category === DiagnosticCategory.Error ? ('error' as const) : ('warning' as const),
      }));
      if (parse.length) return found;
      for (const one of program.getSemanticDiagnostics(signature)) {
        const message = notThere.has(one.code)
          ? missingRun
          : `"run" must be a function from text to text, or to a promise of text. ${textOf(one)}`;
        found.push({ ...positionOfRun(source), message, severity: 'error' });
      }
      return found;
    } finally {
      snapshot.dispose();
    }
  };

  return async (source) => {
    const diagnostics = check(source);
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
    const program: Program = { kind: 'script', code, file: 'plugin.ts', mappings: map.mappings };
    const problems = await checkInEngine(program);
    return problems.length ? { diagnostics: problems } : { program, diagnostics };
  };
}

// The compiler's codes for: no such export; not a module.
const notThere = new Set([2339, 2306, 2305]);

interface Message {
  readonly text: string;
  readonly messageChain?: readonly Message[] | undefined;
}

const textOf = ({ text, messageChain = [] }: Message): string =>
  [text, ...messageChain.map(textOf)].join('\n');

export default typescript;
