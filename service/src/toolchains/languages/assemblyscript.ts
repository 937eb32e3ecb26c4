import { createRequire } from 'node:module';
import { missingRun, positionOfRun, positionsIn } from '../build/positions.ts';
import type { Compile, Diagnostic, Language } from '../language.ts';
import { describeOversize } from '../../sandbox/wasm-check.ts';
import { allowedImports, initialPages, maximumPages } from '../../sandbox/wasm-runner.ts';
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
 * namespace. AssemblyScript has no JSON of its own, and a plugin is one file that can import no library: take what you need
 * out of the text here, or write the plugin in TypeScript or JavaScript, where it is given the value itself.
 */
export function run(input: string): string {
${output === undefined ? '  throw new Error("This plugin is not written yet.");' : `  return ${stringLiteral(JSON.stringify(JSON.parse(output)))};`}
}
`,
  probe: () => {
    // The second is a dependency of the first, and need not be where the service finds its own.
    createRequire(import.meta.resolve('assemblyscript/asc')).resolve('binaryen');
  },
  // Optimising the compiler's own WebAssembly takes 50 MB and makes no build faster.
  engineOptions: ['--liftoff-only'],
  loadCompiler,
};

// The entry keeps the plugin to one export of one type: what does not fit is an error in it.
const entry = 'entry.ts';
const plugin = 'plugin.ts';
const entrySource = `import { run as plugin } from "./plugin";
export function run(input: string): string { return plugin(input); }`;

// Optimising costs several times what the rest of a build does. Names tell what a trap happened in. One instruction of bulk
// memory works for as long as many loops do, and the engine looks at the clock after it at the earliest.
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
    const { error } = await asc.main([entry, ...options.split(' ')], {
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
          ...(inPlugin ? positionAt(range.start) : inEntry ? positionOfRun(source) : { line: 1, column: 1 }),
          message: inEntry ? `${missingRun(textTypes)}. ${message}` : message,
          severity: severities[category] ?? 'information',
        });
      },
    });
    const problem = output && (describeOversize(output) ?? findForeignImport(output));
    if (problem) diagnostics.push({ line: 1, column: 1, message: problem, severity: 'error' });
    else if (error && !diagnostics.length) {
      diagnostics.push({ line: 1, column: 1, message: error.message, severity: 'error' });
    }
    if (error || problem || !output) return { diagnostics };
    return { program: { kind: 'wasm', module: Buffer.from(output).toString('base64') }, diagnostics };
  };
}

/**
 * The compiler fetches a small module of its own from a `data:` URL. That needs no network, and its process has none: what it
 * would fetch with is made for these URLs alone, and while it loads.
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

// The compiler prints what it reports, at any length.
const discard = { write: () => true };

/** What is wrong with a module that wants something from outside that no plugin is given. */
function findForeignImport(module: Uint8Array): string | undefined {
  const imports = WebAssembly.Module.imports(new WebAssembly.Module(new Uint8Array(module)));
  const foreign = imports
    .map(({ module: from, name }) => `${from}.${name}`)
    .find((name) => !allowedImports.has(name));
  return foreign && `The plugin needs "${foreign}", which plugins do not have.`;
}

// By the compiler's own numbers.
const severities: Readonly<Record<number, Diagnostic['severity']>> = { 2: 'warning', 3: 'error' };

export default assemblyscript;
