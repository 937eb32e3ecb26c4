/*
 * What the WebAssembly module of CPython may call. The module wants 268 functions, most of them Pyodide's bridge into JavaScript.
 * Only those that are named in this file exist: clocks, randomness, output, a read-only file with the standard library, and memory.
 * The JavaScript half of Pyodide is never loaded, so that there is nothing behind the others.
 */

/** The memory and functions of the interpreter that imports need. */
export interface Guest {
  readonly memory: WebAssembly.Memory;
  readonly table: WebAssembly.Table;
}

/** What the imports ask of the process around them. */
export interface GuestEvents {
  /** A guest wrote to its standard output (1) or errors (2). */
  readonly write: (descriptor: number, bytes: Uint8Array) => void;
  /** Called every few instructions of Python. What it throws ends the run: Python cannot catch it. */
  readonly tick: () => void;
  /** Whether the memory may grow to `bytes` bytes. */
  readonly grow: (bytes: number) => boolean;
}

/** The guest called a function that is closed. Nothing that it does afterwards counts. */
export class ClosedCallError extends Error {
  override readonly name = 'ClosedCallError';

  constructor(name: string) {
    super(`The plugin called "${name}", which leads out of the sandbox and is closed.`);
  }
}

/** Where Python looks for the standard library. */
export const libraryPath = '/lib/python.zip';

/** Errors of the system, by the numbers of WASI. */
const errno = { badf: 8, inval: 28, noent: 44, nosys: 52, notdir: 54, notty: 59, rofs: 69, spipe: 70 };

const writeFlags = 0o1 | 0o2 | 0o100 | 0o1000;

/** System calls that fail with an error which Python can catch, such as `OSError: Read-only file system`. */
const refusedCalls: Readonly<Record<string, number>> = {
  __syscall_chdir: errno.noent,
  __syscall_chmod: errno.rofs,
  __syscall_dup: errno.badf,
  __syscall_dup3: errno.badf,
  __syscall_fchdir: errno.badf,
  __syscall_fchmod: errno.rofs,
  __syscall_fchmodat2: errno.rofs,
  __syscall_fchown32: errno.rofs,
  __syscall_fchownat: errno.rofs,
  __syscall_ftruncate64: errno.rofs,
  __syscall_truncate64: errno.rofs,
  __syscall_getdents64: errno.notdir,
  __syscall_ioctl: errno.notty,
  __syscall_mkdirat: errno.rofs,
  __syscall_mknodat: errno.rofs,
  __syscall_readlinkat: errno.inval,
  __syscall_renameat: errno.rofs,
  __syscall_rmdir: errno.rofs,
  __syscall_symlinkat: errno.rofs,
  __syscall_unlinkat: errno.rofs,
  __syscall_utimensat: errno.rofs,
};

/** The imports that do something, by name. The others, but for {@link refusedCalls}, are closed. */
export const openImports: readonly string[] = [
  '__hiwire_deduplicate_new',
  '_emscripten_get_progname',
  '_try_fcntl64',
  '_PyEM_TrampolineCall_JS',
  '_Py_CheckEmscriptenSignals_Helper',
  '__syscall_faccessat',
  '__syscall_fcntl64',
  '__syscall_fstat64',
  '__syscall_getcwd',
  '__syscall_getuid32_js',
  '__syscall_lstat64',
  '__syscall_newfstatat',
  '__syscall_openat',
  '__syscall_stat64',
  '__syscall_umask_js',
  '_gmtime_js',
  '_localtime_js',
  '_mktime_js',
  '_timegm_js',
  '_tzset_js',
  '_Py_emscripten_runtime',
  'clock_res_get',
  'clock_time_get',
  'emscripten_date_now',
  'emscripten_get_heap_max',
  'emscripten_get_now',
  'emscripten_resize_heap',
  'environ_get',
  'environ_sizes_get',
  'fd_close',
  'fd_fdstat_get',
  'fd_read',
  'fd_seek',
  'fd_write',
  'random_get',
];

/** The open file of the library, by descriptor: where it is read next. */
type Descriptors = Map<number, { position: number }>;

/** The imports of one interpreter, and the part of its state that is outside of its memory. */
export interface Imports {
  readonly object: WebAssembly.Imports;
  /** Forgets which files are open. */
  readonly restore: () => void;
  /** The closed function that the guest called, if any. */
  readonly closedCall: () => ClosedCallError | undefined;
}

/**
 * @param guest reads the interpreter's memory and table, which are there once it is instantiated
 * @param library the archive of the standard library
 */
export function makeImports(
  module: WebAssembly.Module,
  guest: () => Guest,
  events: GuestEvents,
  library: Uint8Array,
): Imports {
  const descriptors: Descriptors = new Map();
  let closedCall: ClosedCallError | undefined;
  const open = openFunctions(guest, events, library, descriptors);
  const object: Record<string, Record<string, WebAssembly.ImportValue>> = {};
  for (const { module: from, name, kind } of WebAssembly.Module.imports(module)) {
    const group = (object[from] ??= {});
    if (kind === 'global') {
      // Functions for graphics, which do not exist.
      group[name] = new WebAssembly.Global({ value: 'i32', mutable: true }, 0);
      continue;
    }
    if (kind !== 'function') throw new Error(`The interpreter wants "${name}", a ${kind}.`);
    const refusal = Object.hasOwn(refusedCalls, name) ? refusedCalls[name] : undefined;
    const known = Object.hasOwn(open, name) ? open[name] : undefined;
    group[name] =
      known ??
      (refusal === undefined
        ? () => {
            throw (closedCall ??= new ClosedCallError(name));
          }
        : () => -refusal);
  }
  return {
    object,
    restore: () => {
      descriptors.clear();
      closedCall = undefined;
    },
    closedCall: () => closedCall,
  };
}

function openFunctions(
  guest: () => Guest,
  events: GuestEvents,
  library: Uint8Array,
  descriptors: Descriptors,
): Readonly<Record<string, (...args: never[]) => unknown>> {
  const bytes = () => new Uint8Array(guest().memory.buffer);
  const view = () => new DataView(guest().memory.buffer);
  const textAt = (pointer: number) => {
    const memory = bytes();
    const end = memory.indexOf(0, pointer);
    return Buffer.from(
      memory.subarray(pointer, Math.min(end < 0 ? pointer : end, pointer + 4096)),
    ).toString();
  };
  const kindOf = (path: string) =>
    path === libraryPath ? 'file' : path === '/' || path === '/lib' ? 'folder' : undefined;

  function writeStatus(buffer: number, kind: 'file' | 'folder' | 'pipe'): number {
    const out = view();
    bytes().fill(0, buffer, buffer + 96);
    out.setUint32(buffer + 4, kind === 'file' ? 0o100444 : kind === 'folder' ? 0o040555 : 0o010600, true);
    out.setUint32(buffer + 8, 1, true);
    out.setBigInt64(buffer + 24, BigInt(kind === 'file' ? library.length : 0), true);
    out.setInt32(buffer + 32, 4096, true);
    out.setBigInt64(buffer + 88, kind === 'file' ? 2n : 1n, true);
    return 0;
  }
  function statusOf(path: string, buffer: number): number {
    const kind = kindOf(path);
    return kind ? writeStatus(buffer, kind) : -errno.noent;
  }
  const vectors = (list: number, count: number) =>
    Array.from({ length: Math.min(Math.max(count, 0), 1024) }, (_, i) => {
      const pointer = view().getUint32(list + 8 * i, true);
      return bytes().subarray(pointer, pointer + view().getUint32(list + 8 * i + 4, true));
    });

  function writeTime(seconds: bigint, pointer: number): number {
    const date = new Date(Number(seconds) * 1000);
    // Past what JavaScript's dates can hold.
    if (Number.isNaN(date.getTime())) return -errno.inval;
    const startOfYear = Date.UTC(date.getUTCFullYear(), 0, 1);
    const parts = [
      date.getUTCSeconds(),
      date.getUTCMinutes(),
      date.getUTCHours(),
      date.getUTCDate(),
      date.getUTCMonth(),
      date.getUTCFullYear() - 1900,
      date.getUTCDay(),
      Math.floor((date.getTime() - startOfYear) / 86_400_000),
      0,
      0,
    ];
    const out = view();
    for (const [i, part] of parts.entries()) out.setInt32(pointer + 4 * i, part, true);
    return 0;
  }
  function readTime(pointer: number): bigint {
    const at = (i: number) => view().getInt32(pointer + 4 * i, true);
    const date = new Date(0);
    date.setUTCFullYear(at(5) + 1900, at(4), at(3));
    date.setUTCHours(at(2), at(1), at(0));
    const seconds = date.getTime() / 1000;
    if (Number.isNaN(seconds)) return -1n;
    writeTime(BigInt(seconds), pointer);
    return BigInt(seconds);
  }

  return {
    // Calls a function of the interpreter with fewer arguments than it is given. A call of WebAssembly would trap.
    _PyEM_TrampolineCall_JS: (index: number, a: number, b: number, c: number) =>
      (guest().table.get(index) as (...args: number[]) => number)(a, b, c),
    _Py_CheckEmscriptenSignals_Helper: () => {
      events.tick();
      return 0;
    },
    _Py_emscripten_runtime: () => 0,
    _try_fcntl64: () => 0,
    _emscripten_get_progname: (buffer: number) => void bytes().fill(0, buffer, buffer + 1),
    __hiwire_deduplicate_new: () => undefined,
    __syscall_getuid32_js: () => 1000,
    __syscall_umask_js: () => 0o22,
    __syscall_fcntl64: (descriptor: number) =>
      descriptor <= 2 || descriptors.has(descriptor) ? 0 : -errno.badf,
    __syscall_getcwd: (buffer: number, size: number) => {
      if (size < 2) return -errno.inval;
      view().setUint16(buffer, 0x2f, true);
      return 2;
    },
    __syscall_faccessat: (_folder: number, path: number) => (kindOf(textAt(path)) ? 0 : -errno.noent),
    __syscall_stat64: (path: number, buffer: number) => statusOf(textAt(path), buffer),
    __syscall_lstat64: (path: number, buffer: number) => statusOf(textAt(path), buffer),
    __syscall_newfstatat: (_folder: number, path: number, buffer: number) => statusOf(textAt(path), buffer),
    __syscall_fstat64: (descriptor: number, buffer: number) => {
      if (descriptor >= 0 && descriptor <= 2) return writeStatus(buffer, 'pipe');
      return descriptors.has(descriptor) ? writeStatus(buffer, 'file') : -errno.badf;
    },
    __syscall_openat: (_folder: number, path: number, flags: number) => {
      if (kindOf(textAt(path)) !== 'file') return flags & 0o100 ? -errno.rofs : -errno.noent;
      if (flags & writeFlags) return -errno.rofs;
      if (descriptors.size >= 64) return -errno.badf;
      let descriptor = 3;
      while (descriptors.has(descriptor)) descriptor += 1;
      descriptors.set(descriptor, { position: 0 });
      return descriptor;
    },
    fd_close: (descriptor: number) => (descriptors.delete(descriptor) || descriptor <= 2 ? 0 : errno.badf),
    fd_fdstat_get: (descriptor: number, buffer: number) => {
      if (descriptor > 2 && !descriptors.has(descriptor)) return errno.badf;
      bytes().fill(0, buffer, buffer + 24);
      view().setUint8(buffer, descriptor > 2 ? 4 : 2);
      return 0;
    },
    fd_read: (descriptor: number, list: number, count: number, result: number) => {
      if (descriptor === 0) {
        view().setUint32(result, 0, true);
        return 0;
      }
      const file = descriptors.get(descriptor);
      if (!file) return errno.badf;
      let total = 0;
      for (const target of vectors(list, count)) {
        const part = library.subarray(file.position, file.position + target.length);
        target.set(part);
        file.position += part.length;
        total += part.length;
      }
      view().setUint32(result, total, true);
      return 0;
    },
    fd_seek: (descriptor: number, offset: bigint, from: number, result: number) => {
      const file = descriptors.get(descriptor);
      if (!file) return descriptor <= 2 ? errno.spipe : errno.badf;
      const start = from === 0 ? 0 : from === 1 ? file.position : library.length;
      const position = start + Number(offset);
      if (!(position >= 0 && position <= Number.MAX_SAFE_INTEGER)) return errno.inval;
      file.position = position;
      view().setBigInt64(result, BigInt(position), true);
      return 0;
    },
    fd_write: (descriptor: number, list: number, count: number, result: number) => {
      if (descriptor !== 1 && descriptor !== 2) return descriptors.has(descriptor) ? errno.rofs : errno.badf;
      let total = 0;
      for (const part of vectors(list, count)) {
        events.write(descriptor, part);
        total += part.length;
      }
      view().setUint32(result, total, true);
      return 0;
    },
    environ_sizes_get: (count: number, size: number) => {
      view().setUint32(count, 0, true);
      view().setUint32(size, 0, true);
      return 0;
    },
    environ_get: () => 0,
    clock_res_get: (_clock: number, result: number) => {
      view().setBigInt64(result, 1_000_000n, true);
      return 0;
    },
    clock_time_get: (clock: number, _precision: bigint, result: number) => {
      const now = clock === 0 ? Date.now() : performance.now();
      view().setBigInt64(result, BigInt(Math.round(now * 1e6)), true);
      return 0;
    },
    emscripten_date_now: () => Date.now(),
    emscripten_get_now: () => performance.now(),
    emscripten_get_heap_max: () => 2 ** 31,
    emscripten_resize_heap: (size: number) => (events.grow(size >>> 0) ? 1 : 0),
    random_get: (buffer: number, size: number) => {
      const target = bytes().subarray(buffer, buffer + (size >>> 0));
      for (let i = 0; i < target.length; i += 65_536) crypto.getRandomValues(target.subarray(i, i + 65_536));
      return 0;
    },
    // The time zone is UTC.
    _gmtime_js: writeTime,
    _localtime_js: writeTime,
    _mktime_js: readTime,
    _timegm_js: readTime,
    _tzset_js: (timezone: number, daylight: number, standardName: number, daylightName: number) => {
      view().setUint32(timezone, 0, true);
      view().setInt32(daylight, 0, true);
      for (const name of [standardName, daylightName]) bytes().set([0x55, 0x54, 0x43, 0], name);
    },
  };
}
