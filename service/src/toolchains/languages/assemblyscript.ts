import { createRequire } from 'node:module';
import { missingRun, positionOfRun, positionsIn } from '../build/positions.ts';
import type { Compile, Diagnostic, Language } from '../language.ts';
import { describeOversize } from '../../sandbox/wasm/wasm-check.ts';
import { allowedImports, initialPages, maximumPages } from '../../sandbox/wasm/assemblyscript-runner.ts';
import { stringLiteral } from '../source-text.ts';
import { textTypes } from '../types/declarations.ts';

const assemblyscript: Language = {
  identifier: 'assemblyscript',
  pretty: 'AssemblyScript',
  short: 'as',
  template: ({ pluginName, namespace }) => ({
    lang: 'assemblyscript',
    contents: `const name: string = ${stringLiteral(pluginName)};
const namespaceName: string = ${stringLiteral(namespace)};

/** Runs each time the plugin is called: takes what the caller sent, returns what the caller gets back. */
export function run(input: string): string {
  const trimmed = input.trim();
  const who = trimmed.length > 0 ? trimmed : "world";
  return "Hello, " + who + "! This is " + name + " in " + namespaceName + ".";
}
`,
    tests: [
      { name: 'Greets by name', description: 'The input is the name to greet.', payload: 'Ada' },
      { name: 'Greets the world', description: 'Without a name, everyone is greeted.', payload: '' },
    ],
  }),
  typedTemplate: ({ output }) => `/**
 * Runs each time the plugin is called. What comes in and goes out is JSON, as text, and is checked by the types of the
 * namespace. AssemblyScript has no JSON, and a plugin is one file that can import no library: take what you need
 * out of the text here, or write the plugin in TypeScript or JavaScript, where it is given the value itself.
 */
export function run(input: string): string {
${output === undefined ? '  throw new Error("This plugin is not written yet.");' : `  return ${stringLiteral(JSON.stringify(JSON.parse(output)))};`}
}
`,
  packages: ['assemblyscript', 'lru-cache'],
  probe: () => {
    // Resolved from the compiler, because the service itself need not be able to find a dependency of it.
    createRequire(import.meta.resolve('assemblyscript/asc')).resolve('binaryen');
  },
  // Optimising the compiler's own WebAssembly takes 50 MB and makes no build faster.
  engineOptions: ['--liftoff-only'],
  loadCompiler,
};

// The entry module imports `run` with its required type, so that the compiler reports a plugin whose `run` does not fit.
const entry = 'entry.ts';
const plugin = 'plugin.ts';
const entrySource = `import { run as plugin } from "./plugin";
export function run(input: string): string { return plugin(input); }`;

// Not optimized, because that takes several times as long as the rest of a build. Debug names show where a trap happened. Without
// bulk memory, because one such instruction can take as long as a long loop, and cannot be interrupted.
const options =
  `--outFile plugin.wasm --runtime incremental --exportRuntime --importMemory --initialMemory ${initialPages} ` +
  `--maximumMemory ${maximumPages} --optimizeLevel 0 --debug --disable bulk-memory`;

async function loadCompiler(): Promise<Compile> {
  const { default: asc } = await withDataUrls(() => import('assemblyscript/asc'));
  return async (source) => {
    const files: Readonly<Record<string, string>> = { [entry]: entrySource, [plugin]: source };
    const diagnostics: Diagnostic[] = [];
    const positionAt = positionsIn(source);
    let output: Uint8Array | undefined;
    const compiling = () =>
      asc.main([entry, ...options.split(' ')], {
        stdout: discard,
        stderr: discard,
        readFile: (name) => (Object.hasOwn(files, name) ? (files[name] ?? null) : null),
        listFiles: () => [],
        writeFile: (name, contents) => {
          if (name === 'plugin.wasm' && typeof contents !== 'string') output = contents;
        },
        reportDiagnostic: ({ message, category, range }) => {
          const inPlugin = range?.source.normalizedPath === plugin;
          const inEntry = range?.source.normalizedPath === entry;
          diagnostics.push({
            ...(inPlugin
              ? positionAt(range.start)
              : inEntry
                ? positionOfRun(source)
                : { line: 1, column: 1 }),
            message: inEntry ? `${missingRun(textTypes)}. ${message}` : withAdvice(message),
            severity: severities[category] ?? 'information',
          });
        },
      });
    const { error } = await withoutExit(compiling);
    const problem = output && (describeOversize(output) ?? findForeignImport(output));
    if (problem) diagnostics.push({ line: 1, column: 1, message: problem, severity: 'error' });
    else if (error && !diagnostics.some(({ severity }) => severity === 'error')) {
      diagnostics.push({ line: 1, column: 1, message: error.message, severity: 'error' });
    }
    if (error || problem || !output) return { diagnostics };
    return { program: { kind: 'wasm', module: Buffer.from(output).toString('base64') }, diagnostics };
  };
}

/** Compiles. Where the compiler fails on a source, it would end its process. */
async function withoutExit(
  compiling: () => Promise<{ readonly error: Error | null }>,
): Promise<{ readonly error: Error | null }> {
  const exit = process.exit.bind(process);
  let hasFailed = false;
  process.exit = () => {
    hasFailed = true;
    throw new Error(
      'The compiler of AssemblyScript fails on this source, and does not say where: undo what you changed last.',
    );
  };
  try {
    return await compiling();
  } catch (error) {
    if (!hasFailed || !(error instanceof Error)) throw error;
    return { error };
  } finally {
    process.exit = exit;
  }
}

/**
 * Provides a `fetch` for `data:` URLs while the compiler is loaded: it fetches one of its modules from such a URL, and its
 * process has no `fetch`, because it has no network.
 */
async function withDataUrls<T>(load: () => Promise<T>): Promise<T> {
  const bytesOf = (url: string) =>
    Buffer.from(/^data:application\/wasm;base64,(.*)$/.exec(url)?.[1] ?? '', 'base64');
  const needed = [
    [globalThis, 'fetch', bytesOf],
    [WebAssembly, 'instantiateStreaming', WebAssembly.instantiate],
  ] as const;
  const added = needed.filter(([owner, name]) => !(name in owner));
  for (const [owner, name, value] of added) Object.defineProperty(owner, name, { value, configurable: true });
  try {
    return await load();
  } finally {
    for (const [owner, name] of added) Reflect.deleteProperty(owner, name);
  }
}

/** What AssemblyScript has not, and authors who know JavaScript look for. */
const adviceByName: Readonly<Record<string, string>> = {
  JSON: 'AssemblyScript has no JSON: take what you need out of the text, or write the plugin in TypeScript or JavaScript.',
  Promise: 'AssemblyScript has no promises: "run" returns its result.',
  fetch: 'Plugins have no network: take what is needed from the input.',
  setTimeout: 'Plugins have no timers: a run ends with the result of "run".',
};

/** Adds to the message for a missing name what to do without it. */
function withAdvice(message: string): string {
  const name = /^Cannot find name '([^']+)'/.exec(message)?.[1];
  return name !== undefined && Object.hasOwn(adviceByName, name)
    ? `${message} ${adviceByName[name]}`
    : message;
}

// The compiler also prints its diagnostics, at any length; they are taken from `reportDiagnostic`.
const discard = { write: () => true };

/** The message for a module that imports something that plugins do not have; `undefined` for any other. */
function findForeignImport(module: Uint8Array): string | undefined {
  const imports = WebAssembly.Module.imports(new WebAssembly.Module(new Uint8Array(module)));
  const foreign = imports
    .map(({ module: from, name }) => `${from}.${name}`)
    .find((name) => !allowedImports.has(name));
  return foreign && `The plugin needs "${foreign}", which plugins do not have.`;
}

// By the compiler's numbers of its categories.
const severities: Readonly<Record<number, Diagnostic['severity']>> = { 2: 'warning', 3: 'error' };

export default assemblyscript;
