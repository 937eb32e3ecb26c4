import { LRUCache } from 'lru-cache';
import type { Logs } from '../logs.ts';
import { checkOutput, limitError, pluginError, RunFailure } from '../outcome.ts';
import { mebibyte } from '../../units.ts';
import { runLimits } from '../run-limits.ts';
import type { RunOutcome, RunError } from '../outcome.ts';
import type { AssemblyScriptProgram } from '../../plugins/program.ts';
import { describeOversize } from './wasm-check.ts';

/** The size of a page of WebAssembly memory, in bytes. */
export const pageSize = 65_536;

/** How many pages a module has at its start. */
export const initialPages = 16;

/** The exports of AssemblyScript's runtime: https://www.assemblyscript.org/runtime.html */
interface Exports {
  run: (input: number) => number;
  __new: (size: number, id: number) => number;
  __pin: (pointer: number) => number;
}

// The runtime's identifier of strings, and the size of the header before each object, in bytes.
const stringId = 2;
const headerSize = 20;

/** Everything that a module may import. The names are AssemblyScript's. */
export const allowedImports: ReadonlySet<string> = new Set([
  'env.memory',
  'env.abort',
  'env.seed',
  'env.trace',
  'env.Date.now',
  ...['log', 'info', 'debug', 'warn', 'error'].map((name) => `env.console.${name}`),
]);

/** How many bytes of compiled modules a runner caches; the least recently used are evicted. */
const cacheSize = 4 * mebibyte;

/**
 * Runs AssemblyScript modules, one at a time. A module is compiled once, and each run has its own instance and memory. There is
 * no limit of time in here: the sandbox kills the process of a run that does not end.
 */
export class AssemblyScriptRunner {
  readonly #modules = new LRUCache<string, { module: WebAssembly.Module; size: number }>({
    maxSize: cacheSize,
    sizeCalculation: ({ size }) => size + 1000,
  });

  /** Whether a program is in the cache, so that it need not be passed to {@link run}. */
  has(hash: string): boolean {
    return this.#modules.has(hash);
  }

  /** Runs a program. `program`: needed unless it is in the cache. */
  run(hash: string, program: AssemblyScriptProgram | undefined, input: string, logs: Logs): RunOutcome {
    try {
      return { result: runModule(this.#moduleOf(hash, program), input, logs) };
    } catch (error) {
      return { error: errorOf(error) };
    }
  }

  #moduleOf(hash: string, program: AssemblyScriptProgram | undefined): WebAssembly.Module {
    const known = this.#modules.get(hash);
    if (known) return known.module;
    if (!program) throw new Error('The program is not known here.');
    const bytes = Buffer.from(program.module, 'base64');
    // Older releases built modules without this check.
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

/** Instantiates a module with a new memory, which may grow up to the limit. */
function instantiate(module: WebAssembly.Module, logs: Logs) {
  const create = (maximum: number) => {
    const memory = new WebAssembly.Memory({ initial: initialPages, maximum });
    return { memory, instance: new WebAssembly.Instance(module, { env: environment(memory, logs) }) };
  };
  const pages = runLimits.memory / pageSize;
  try {
    return create(pages);
  } catch (error) {
    // Modules of releases in which the limit could not be set declare the former limit as the maximum of their memory.
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
      // Where the module's own check of its stack aborts, the message is not a string that can be read.
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

/** A number of 52 random bits, as the seed of the module's random numbers. */
function randomSeed(): number {
  const [bits = 0n] = crypto.getRandomValues(new BigUint64Array(1));
  return Number(bits >> 12n);
}

/** Reads the string at a pointer of the module, which can be any number. `over`: the error for a string that is too long. */
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
    // When the allocator gets no more memory, it traps instead of reporting that.
    if (/growMemory/.test(error.stack ?? '')) return limitError('memory-limit');
    return pluginError(`RuntimeError: ${error.message}`);
  }
  return pluginError(error instanceof Error ? `${error.name}: ${error.message}` : String(error));
}

/**
 * The maximum memory that modules are built with, in pages: the highest value that the limit can be set to. What a run may
 * really use is the limit at that time.
 */
export const maximumPages = (256 * mebibyte) / pageSize;

const formerMaximumPages = (32 * mebibyte) / pageSize;
