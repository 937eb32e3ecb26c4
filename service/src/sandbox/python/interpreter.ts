import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { mebibyte } from '../../units.ts';
import { bootSource } from './boot-source.ts';
import { ClosedCallError, libraryPath, makeImports } from './closed-imports.ts';
import type { GuestEvents, Imports } from './closed-imports.ts';

/** The functions, globals and memory that CPython exports. Pointers are numbers. */
interface Exports {
  readonly memory: WebAssembly.Memory;
  readonly [name: string]: unknown;
}

/** The modules in C that no plugin gets: they lead to processes, sockets, signals, or code that is not Python's. */
const withheldModules =
  /^(_ctypes.*|_curses.*|_interp.*|_multiprocessing|_posixshmem|_posixsubprocess|_pyodide_core|_remote_debugging|_signal_js|_socket|_sqlite3|_ssl|_test.*|_?xx.*|_lsprof|faulthandler|fcntl|grp|mmap|pwd|readline|resource|select|syslog|termios)$/;

const pageSize = 65_536;

/** By how much the memory grows at least, in bytes: each growth costs the engine as much as many allocations. */
const growthStep = 4 * mebibyte;

/** How much memory CPython may take for its start, before the limit of runs begins to count. */
const startMemory = 256 * mebibyte;

/** Where the names of CPython's stable interface say how a source is read: as a file of statements. */
const fileInput = 257;

export interface InterpreterOptions extends Omit<GuestEvents, 'grow'> {
  /** How many bytes a call may take beyond the interpreter's own memory, see {@link Interpreter.limitMemory}. */
  readonly memory: number;
  /** The memory of an interpreter that was started before, see {@link Interpreter.image}: starting from it takes a tenth of the time. */
  readonly image?: Uint8Array | undefined;
  /** Python source that runs after the start and before the first call. It may add to `_operations`. */
  readonly extraSource?: string;
  /** The modules that are loaded ahead (default: those that plugins probably import). */
  readonly modules?: readonly string[];
}

/** What is passed to a function of `boot-source.ts`. */
export interface GuestCall {
  readonly head: Readonly<Record<string, unknown>>;
  readonly code: Uint8Array;
  readonly text: Uint8Array;
}

/**
 * CPython, as Pyodide compiles it to WebAssembly, without Pyodide's JavaScript. Each {@link call} begins in the memory that the
 * interpreter has after its start, once {@link restore} has put it back.
 */
export class Interpreter {
  readonly #exports: Exports;
  readonly #imports: Imports;
  /** The memory after the start, from address 0. It begins with the two numbers of {@link readHeader}. */
  #initial: Uint8Array = new Uint8Array(0);
  #limit = startMemory;
  #stack = 0;
  #entry = 0;
  #isGrowthRefused = false;

  private constructor(module: WebAssembly.Module, library: Uint8Array, events: Omit<GuestEvents, 'grow'>) {
    let exports: Exports | undefined;
    const started = () => exports as Exports;
    this.#imports = makeImports(
      module,
      () => ({
        memory: started().memory,
        table: started()['__indirect_function_table'] as WebAssembly.Table,
      }),
      {
        ...events,
        tick: () => {
          this.#checkMemory();
          events.tick();
        },
        grow: (bytes) => this.#grow(bytes),
      },
      library,
    );
    const instance = new WebAssembly.Instance(module, this.#imports.object);
    exports = instance.exports as unknown as Exports;
    this.#exports = exports;
  }

  static async start(options: InterpreterOptions): Promise<Interpreter> {
    const read = (name: string) => readFileSync(fileURLToPath(import.meta.resolve(`pyodide/${name}`)));
    const module = await WebAssembly.compile(new Uint8Array(read('pyodide.asm.wasm')));
    const interpreter = new Interpreter(module, read('python_stdlib.zip'), options);
    if (options.image) interpreter.#resume(options.image);
    else interpreter.#boot([bootSource(options.modules), options.extraSource ?? '']);
    interpreter.limitMemory(options.memory);
    interpreter.restore();
    return interpreter;
  }

  /** The memory after the start, for other interpreters of the same package to start from. */
  get image(): Uint8Array {
    const header = new Uint8Array(8);
    new Uint32Array(header.buffer).set([this.#stack, this.#entry]);
    return Buffer.concat([header, this.#initial]);
  }

  /** Sets how many bytes each of the next calls may take beyond the interpreter's own memory. */
  limitMemory(bytes: number): void {
    this.#limit = this.#initial.length + bytes;
  }

  /** Whether the latest call wanted more memory than it may have. */
  get isGrowthRefused(): boolean {
    return this.#isGrowthRefused;
  }

  /**
   * Calls an operation of `boot-source.ts`. Throws what the events throw, a {@link ClosedCallError} where the guest called what is
   * closed, and a `RangeError` or `WebAssembly.RuntimeError` where it ran out of stack or memory, or trapped. {@link restore} comes
   * next, always.
   */
  call({ head, code, text }: GuestCall): Buffer {
    let result: Buffer;
    try {
      result = this.#call(head, code, text);
      this.#checkMemory();
    } catch (error) {
      throw this.#imports.closedCall() ?? error;
    }
    const closed = this.#imports.closedCall();
    if (closed) throw closed;
    return result;
  }

  /** Puts everything back that a call may have changed. */
  restore(): void {
    const memory = this.#memory();
    memory.set(this.#initial);
    memory.fill(0, this.#initial.length);
    this.#c('_emscripten_stack_restore', this.#stack);
    this.#imports.restore();
    this.#isGrowthRefused = false;
  }

  #call(head: object, code: Uint8Array, text: Uint8Array): Buffer {
    const headBytes = Buffer.from(JSON.stringify(head));
    const sizes = new Uint8Array(8);
    new Uint32Array(sizes.buffer).set([headBytes.length, code.length]);
    const total = 8 + headBytes.length + code.length + text.length;
    const bytes = this.#c('PyBytes_FromStringAndSize', 0, total);
    if (!bytes) throw new RangeError('The input does not fit into the memory.');
    let at = this.#c('PyBytes_AsString', bytes);
    for (const part of [sizes, headBytes, code, text]) {
      this.#memory().set(part, at);
      at += part.length;
    }
    const result = this.#c('PyObject_CallOneArg', this.#entry, bytes);
    if (!result) throw new WebAssembly.RuntimeError('Python has no result.');
    const start = this.#c('PyBytes_AsString', result) >>> 0;
    const size = this.#c('PyBytes_Size', result) >>> 0;
    const memory = this.#memory();
    // The guest may have written anything to the memory.
    if (!start || start + size > memory.length) throw new WebAssembly.RuntimeError('Python has no result.');
    return Buffer.from(memory.slice(start, start + size));
  }

  #grow(bytes: number): boolean {
    if (bytes > this.#limit) {
      this.#isGrowthRefused = true;
      return false;
    }
    const { memory } = this.#exports;
    const size = memory.buffer.byteLength;
    try {
      memory.grow(Math.ceil((Math.max(bytes, Math.min(size + growthStep, this.#limit)) - size) / pageSize));
    } catch {
      // The system refuses it.
      this.#isGrowthRefused = true;
      return false;
    }
    return true;
  }

  /** An earlier call that was allowed more may have left a memory that is larger than this call may fill. */
  #checkMemory(): void {
    if (this.#c('sbrk', 0) >>> 0 <= this.#limit) return;
    this.#isGrowthRefused = true;
    throw new RangeError('The call took more memory than it may have.');
  }

  /** Starts CPython itself: its constructors, its configuration, the first modules. */
  #boot(sources: readonly string[]): void {
    this.#c('__wasm_call_ctors');
    this.#withholdModules();
    const config = this.#c('PyInitConfig_Create');
    const integers = {
      install_signal_handlers: 0,
      site_import: 0,
      use_environment: 0,
      utf8_mode: 1,
      write_bytecode: 0,
    };
    for (const [name, value] of Object.entries(integers)) {
      this.#c('PyInitConfig_SetInt', config, this.#text(name), BigInt(value));
    }
    for (const [name, value] of [
      ['executable', '/python'],
      ['home', '/'],
    ] as const) {
      this.#c('PyInitConfig_SetStr', config, this.#text(name), this.#text(value));
    }
    const paths = this.#c('malloc', 4);
    this.#view().setUint32(paths, this.#text(libraryPath), true);
    this.#c('PyInitConfig_SetStrList', config, this.#text('module_search_paths'), 1, paths);
    if (this.#c('Py_InitializeFromInitConfig', config) !== 0) {
      this.#c('PyInitConfig_GetError', config, paths);
      throw new Error(`Python does not start: ${this.#textAt(this.#view().getUint32(paths, true))}`);
    }
    this.#c('PyInitConfig_Free', config);
    // Makes the interpreter call the host now and then, so that a run can be ended at its limit of time.
    this.#view().setInt32(this.#address('Py_EMSCRIPTEN_SIGNAL_HANDLING'), 1, true);
    const main = this.#c('PyImport_AddModule', this.#text('__main__'));
    const globals = this.#c('PyModule_GetDict', main);
    for (const source of sources) {
      if (this.#c('PyRun_StringFlags', this.#text(source), fileInput, globals, globals, 0)) continue;
      this.#c('PyErr_Print');
      throw new Error('Python does not start: its first module failed.');
    }
    this.#entry = this.#c('PyDict_GetItemString', globals, this.#text('_call'));
    this.#stack = this.#c('emscripten_stack_get_current');
    this.#initial = this.#memory().slice(0, this.#c('sbrk', 0) >>> 0);
  }

  #resume(image: Uint8Array): void {
    const header = new Uint32Array(image.slice(0, 8).buffer);
    this.#stack = header[0] ?? 0;
    this.#entry = header[1] ?? 0;
    this.#initial = image.subarray(8);
    const missing = this.#initial.length - this.#memory().length;
    if (missing > 0) this.#exports.memory.grow(Math.ceil(missing / pageSize));
    // As in a start: sets where the stack ends, which is no part of the memory.
    this.#c('emscripten_stack_init');
  }

  /** Removes modules from the table of those that CPython has compiled in. */
  #withholdModules(): void {
    const view = this.#view();
    let from = view.getUint32(this.#address('PyImport_Inittab'), true);
    let to = from;
    for (; view.getUint32(from, true); from += 8) {
      if (withheldModules.test(this.#textAt(view.getUint32(from, true)))) continue;
      view.setBigUint64(to, view.getBigUint64(from, true), true);
      to += 8;
    }
    this.#memory().fill(0, to, from);
  }

  /** Calls a function of CPython. */
  #c(name: string, ...args: (number | bigint)[]): number {
    return (this.#exports[name] as (...args: (number | bigint)[]) => number)(...args);
  }

  #address(name: string): number {
    return (this.#exports[name] as WebAssembly.Global<'i32'>).value;
  }

  #memory(): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.#exports.memory.buffer);
  }

  #view(): DataView {
    return new DataView(this.#exports.memory.buffer);
  }

  #text(text: string): number {
    const bytes = Buffer.from(`${text}\0`);
    const pointer = this.#c('malloc', bytes.length);
    this.#memory().set(bytes, pointer);
    return pointer;
  }

  #textAt(pointer: number): string {
    const memory = this.#memory();
    return Buffer.from(memory.subarray(pointer, memory.indexOf(0, pointer))).toString();
  }
}

export { ClosedCallError };
