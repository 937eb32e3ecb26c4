import type { Logs } from './logs.ts';
import { checkOutput, limitError, mebibyte, pluginError, RunFailure, runLimits } from './outcome.ts';
import type { Program, RunEnd, RunError } from './outcome.ts';

type Wasm = Extract<Program, { kind: 'wasm' }>;

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

/** Runs a WebAssembly module in an instance and a memory of its own. What it does is ended from outside. */
export async function runWasm(program: Wasm, input: string, logs: Logs): Promise<RunEnd> {
  const memory = new WebAssembly.Memory({ initial: initialPages, maximum: runLimits.memory / pageSize });
  try {
    const module = new WebAssembly.Module(Buffer.from(program.module, 'base64'));
    for (const { module: from, name } of WebAssembly.Module.imports(module)) {
      if (!allowedImports.has(`${from}.${name}`)) throw new Error(`The module imports ${from}.${name}.`);
    }
    const { exports } = await WebAssembly.instantiate(module, { env: environment(memory, logs) });
    const { run, __new: allocate, __pin: pin } = exports as unknown as Exports;
    const pointer = pin(allocate(input.length * 2, stringId));
    const units = new Uint16Array(memory.buffer, pointer, input.length);
    for (let i = 0; i < input.length; i++) units[i] = input.charCodeAt(i);
    return { result: checkOutput(textAt(memory, run(pointer), 'output-limit')) };
  } catch (error) {
    return { error: errorOf(error) };
  }
}

function environment(memory: WebAssembly.Memory, logs: Logs) {
  const log = (pointer: number) => logs.add(textAt(memory, pointer, 'log-limit'));
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
    seed: () => Math.random() * Number.MAX_SAFE_INTEGER,
    trace: (message: number, count: number, ...values: number[]) =>
      logs.add([textAt(memory, message, 'log-limit'), ...values.slice(0, count)].join(' ')),
    'Date.now': () => Date.now(),
    'console.log': log,
    'console.info': log,
    'console.debug': log,
    'console.warn': log,
    'console.error': log,
  };
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

/** The largest memory that a module may grow to, in pages. */
export const maximumPages = (runLimits.memory / mebibyte) * (mebibyte / pageSize);
