import { LRUCache } from 'lru-cache';
import type { Logs } from './logs.ts';
import { checkOutput, limitError, mebibyte, pluginError, RunFailure, runLimits } from './outcome.ts';
import type { RunOutcome, RunError } from './outcome.ts';
import type { WasmProgram } from '../plugins/program.ts';
import { describeOversize } from './wasm-check.ts';

/** Memory is given to a module in pages of this size. */
export const pageSize = 65_536;

/** How large a module may say its memory is at its start. */
export const initialPages = 16;

/** What the exports of a module's runtime do is AssemblyScript's to say: https://www.assemblyscript.org/runtime.html */
interface Exports {
  run: (input: number) => number;
  __new: (size: number, id: number) => number;
  __pin: (pointer: number) => number;
}

// The runtime's identifier of strings.
const stringId = 2;
const headerSize = 20;

/** All that a module may import; the names are AssemblyScript's. */
export const allowedImports: ReadonlySet<string> = new Set([
  'env.memory',
  'env.abort',
  'env.seed',
  'env.trace',
  'env.Date.now',
  ...['log', 'info', 'debug', 'warn', 'error'].map((name) => `env.console.${name}`),
]);

/** How many bytes of modules a runner keeps compiled; what was not run for the longest time goes first. */
const cacheSize = 4 * mebibyte;

/**
 * Runs AssemblyScript modules, one at a time. Each run has an instance and a memory of its own, of a module that is
 * compiled once. Nothing in here looks at the time: whoever called ends the process of a run that does not end.
 */
export class WasmRunner {
  readonly #modules = new LRUCache<string, { module: WebAssembly.Module; size: number }>({
    maxSize: cacheSize,
    sizeCalculation: ({ size }) => size + 1000,
  });

  /** Whether the program need not be given to {@link run}. */
  has(hash: string): boolean {
    return this.#modules.has(hash);
  }

  /** `program`: needed if it is not known. */
  run(hash: string, program: WasmProgram | undefined, input: string, logs: Logs): RunOutcome {
    try {
      return { result: runModule(this.#moduleOf(hash, program), input, logs) };
    } catch (error) {
      return { error: errorOf(error) };
    }
  }

  #moduleOf(hash: string, program: WasmProgram | undefined): WebAssembly.Module {
    const known = this.#modules.get(hash);
    if (known) return known.module;
    if (!program) throw new Error('The program is not known here.');
    const bytes = Buffer.from(program.module, 'base64');
    // Builds of earlier versions were not checked when they were made.
    const oversize = describeOversize(bytes);
    if (oversize) throw new RunFailure({ code: 'module-limit', message: oversize });
    const module = new WebAssembly.Module(bytes);
    for (const { module: from, name } of WebAssembly.Module.imports(module)) {
      if (!allowedImports.has(`${from}.${name}`)) throw new Error(`The module imports ${from}.${name}.`);
    }
    this.#modules.set(hash, { module, size: bytes.byteLength });
    return module;
  }
}

/** A module with a memory of its own, as large as it may grow. */
function instantiate(module: WebAssembly.Module, logs: Logs) {
  const create = (maximum: number) => {
    const memory = new WebAssembly.Memory({ initial: initialPages, maximum });
    return { memory, instance: new WebAssembly.Instance(module, { env: environment(memory, logs) }) };
  };
  const pages = runLimits.memory / pageSize;
  try {
    return create(pages);
  } catch (error) {
    // Modules that were built before the limit could be set take no more than what it was.
    if (!(error instanceof WebAssembly.LinkError) || pages <= formerMaximumPages) throw error;
    return create(formerMaximumPages);
  }
}

function runModule(module: WebAssembly.Module, input: string, logs: Logs): string {
  const { memory, instance } = instantiate(module, logs);
  const { exports } = instance;
  const { run, __new: allocate, __pin: pin } = exports as unknown as Exports;
  const pointer = pin(allocate(input.length * 2, stringId));
  const units = new Uint16Array(memory.buffer, pointer, input.length);
  for (let i = 0; i < input.length; i++) units[i] = input.charCodeAt(i);
  return checkOutput(textAt(memory, run(pointer), 'output-limit'));
}

function environment(memory: WebAssembly.Memory, logs: Logs) {
  const log =
    (level = '') =>
    (pointer: number) =>
      logs.add(level + textAt(memory, pointer, 'log-limit'));
  return {
    memory,
    abort: (message: number, file: number, line: number, column: number) => {
      // The check of the module's own stack gives no string that could be read.
      if (/~stack_check/.test(new Error('stack').stack ?? ''))
        throw new RunFailure(limitError('stack-limit'));
      const text = message ? textAt(memory, message, 'output-limit') : 'The plugin ended itself.';
      const place = file ? `\n    at ${textAt(memory, file, 'output-limit')}:${line}:${column}` : '';
      throw new RunFailure(pluginError(`Error: ${text}${place}`));
    },
    seed: randomSeed,
    trace: (message: number, count: number, ...values: number[]) =>
      logs.add([textAt(memory, message, 'log-limit'), ...values.slice(0, count)].join(' ')),
    'Date.now': () => Date.now(),
    'console.log': log(),
    'console.info': log('[info] '),
    'console.debug': log('[debug] '),
    'console.warn': log('[warn] '),
    'console.error': log('[error] '),
  };
}

/** A number of 52 random bits: the module's generator takes it for its state. */
function randomSeed(): number {
  const [bits = 0n] = crypto.getRandomValues(new BigUint64Array(1));
  return Number(bits >> 12n);
}

/** The string that a pointer of the module stands for; a module can give any number as one. */
function textAt(memory: WebAssembly.Memory, pointer: number, over: 'output-limit' | 'log-limit'): string {
  const view = new DataView(memory.buffer);
  const start = pointer >>> 0;
  if (
    start < headerSize ||
    start % 2 ||
    start > view.byteLength ||
    view.getUint32(start - 8, true) !== stringId
  ) {
    throw new RunFailure(
      pluginError('The plugin gave something that is not a string where a string has to be.'),
    );
  }
  const length = view.getUint32(start - 4, true) >>> 1;
  if (start + length * 2 > view.byteLength) {
    throw new RunFailure(pluginError('The plugin gave a string that is not whole.'));
  }
  if (length > runLimits[over === 'log-limit' ? 'logs' : 'output']) throw new RunFailure(limitError(over));
  let text = '';
  const step = 8192;
  for (let from = 0; from < length; from += step) {
    const units = new Uint16Array(memory.buffer, start + from * 2, Math.min(step, length - from));
    text += String.fromCharCode(...units);
  }
  return text;
}

function errorOf(error: unknown): RunError {
  if (error instanceof RunFailure) return error.error;
  if (error instanceof RangeError && /call stack/.test(error.message)) return limitError('stack-limit');
  if (error instanceof WebAssembly.RuntimeError) {
    // The allocator does not report that it gets no more memory, it ends the run.
    if (/growMemory/.test(error.stack ?? '')) return limitError('memory-limit');
    return pluginError(`RuntimeError: ${error.message}`);
  }
  return pluginError(error instanceof Error ? `${error.name}: ${error.message}` : String(error));
}

/**
 * The largest memory that a module says it can use, in pages: the largest that the limit can be set to. What it gets is
 * what the limit is when it runs.
 */
export const maximumPages = (256 * mebibyte) / pageSize;

const formerMaximumPages = (32 * mebibyte) / pageSize;
