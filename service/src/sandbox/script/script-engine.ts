import { readFileSync } from 'node:fs';
import { CompileFlags, EvalFlags, MAX_STACK_SIZE, QuickJS } from 'quickjs-wasi';
import type { ExtensionDescriptor, JSValueHandle, QuickJSOptions, Snapshot } from 'quickjs-wasi';
import { guestCalls } from './guest-calls.ts';
import { guestClone } from './guest-clone.ts';
import { guestCrypto } from './guest-crypto.ts';
import { guestHelpers, helpersFile } from './guest-helpers.ts';
import { guestIntl } from './guest-intl.ts';
import { guestWeb } from './guest-web.ts';
import { applyDifference, blockSize, differenceBetween, undoDifference } from './memory-difference.ts';
import type { MemoryDifference } from './memory-difference.ts';
import { mebibyte } from '../../units.ts';
import { runLimits, serviceLimits } from '../run-limits.ts';
import { EngineHost, nullText, restoreByteOrderMark } from './engine-host.ts';
import type { CallHelper, GuestListener, Tokens } from './engine-host.ts';
import { takeRandomBytes } from '../../random-pool.ts';
import { locateRandomState, randomStateSize } from './random-state.ts';

const wasm = new WebAssembly.Module(readFileSync(new URL(import.meta.resolve('quickjs-wasi/quickjs.wasm'))));

/**
 * The extensions of the engine, in C: `URL`, `TextEncoder`, `TextDecoder`, `Headers` and `crypto`. Their state is in the engine's
 * memory, so that it is restored with it. They are in this order in every engine, because a snapshot holds where in the engine's
 * table each one has its functions.
 */
const webExtensions: ExtensionDescriptor[] = ['url', 'encoding', 'headers', 'crypto'].map((name) => ({
  name,
  wasm: new WebAssembly.Module(readFileSync(new URL(import.meta.resolve(`quickjs-wasi/${name}.so`)))),
}));

/**
 * How much free memory an engine starts with, in bytes. A run that needs more makes the memory grow, and a memory that has
 * grown cannot be restored. So a plugin starts with the smallest headroom, and gets the next one when that was too small:
 * restoring takes about 0.03 ms with the first, 0.07 ms with the second and 0.2 ms with the third.
 */
export const engineHeadrooms: readonly number[] = [mebibyte / 4, 2 * mebibyte, 10 * mebibyte];

const smallestHeadroom = Math.min(...engineHeadrooms);

/** A state that an engine can be restored to: that after the top level of a plugin has run. */
export type EngineState = MemoryDifference;

/** The memory of a run that waits, and of which engine it is. */
export interface SuspendedMemory extends MemoryDifference {
  /** The checksum of the base that it differs from. */
  readonly base: number;
  readonly headroom: number;
  /** The size of the whole memory, in bytes. */
  readonly memory: number;
}

/**
 * The state of a fresh engine with the guest helpers in place; all engines with the same headroom share it. It is the same in all
 * runners of a service.
 */
interface Base {
  readonly snapshot: Snapshot;
  /** Its memory, without what is zero: filling takes half the time of copying. */
  readonly spans: readonly Span[];
  /** Which headroom it has. */
  readonly headroom: number;
  /** The checksum of its memory, once it was needed. */
  checksum?: number;
  /** Where the state of `Math.random()` is in the memory. */
  readonly randomStateAt: number;
  readonly tokens: Tokens;
}

/**
 * One instance of the QuickJS engine, whose memory is restored to a known state before each run. Nothing of a run can remain,
 * because all state of the engine is in that memory. {@link restore} also resets what is outside of it: the clock, the listener
 * and the seed of `Math.random()`.
 */
export class ScriptEngine {
  readonly vm: QuickJS;
  readonly #base: Base;
  readonly #host: EngineHost;
  #seed: Uint8Array = new Uint8Array(randomStateSize);
  /** How the memory differs from the base; `undefined` once something has run since that was known. */
  #difference: MemoryDifference | undefined;

  /**
   * Rejects when the engine does not work on this machine.
   * @param size how large its memory is, for a run that is put back (default: as its base has it)
   */
  static async create(headroom = smallestHeadroom, size = 0): Promise<ScriptEngine> {
    let base = bases.get(headroom);
    if (!base) bases.set(headroom, (base = createBase(headroom)));
    const host = new EngineHost();
    const settled = await base;
    const vm = await QuickJS.restore(settled.snapshot, optionsFor(host));
    // oxlint-disable-next-line no-underscore-dangle -- the library has no other way to it
    const memory = vm._getMemory();
    const more = size - memory.buffer.byteLength;
    if (more > 0) memory.grow(Math.ceil(more / pageSize));
    return new ScriptEngine(vm, host, settled);
  }

  private constructor(vm: QuickJS, host: EngineHost, base: Base) {
    this.vm = vm;
    this.#host = host;
    this.#base = base;
    host.register(vm, base.tokens);
  }

  /** Restores the memory ahead of time, for a call of {@link restore} that is expected to be for the same state. */
  restoreAhead(state: EngineState): void {
    this.#restoreMemory(state);
  }

  /** Restores the memory to `state`, by default that of a fresh engine, starts the clock and seeds the random numbers. */
  restore(state: EngineState | undefined, listener: GuestListener): void {
    this.#restoreMemory(state);
    this.#difference = undefined;
    const memory = this.#memory();
    // Random numbers must not reveal those of another run, whose code is another author's.
    this.#seed = takeRandomBytes(randomStateSize);
    memory.set(this.#seed, this.#base.randomStateAt);
    // A state may be one of a run with another limit.
    // oxlint-disable-next-line no-underscore-dangle -- the library has no other way to it
    this.vm._getExports().qjs_set_memory_limit(runLimits.memory);
    this.#host.begin(listener);
  }

  /**
   * Puts back the memory of a run that was taken out with {@link suspend}, with its random state.
   * @param elapsed how many ms ago the run began
   */
  resume({ base, memory: size, ...state }: SuspendedMemory, listener: GuestListener, elapsed: number): void {
    const memory = this.#memory();
    if (base !== this.#checksum() || size !== memory.byteLength) {
      throw new Error('The state of the run is one of another engine.');
    }
    this.#restoreMemory(state);
    this.#difference = undefined;
    this.#host.begin(listener, elapsed);
  }

  /** Takes the present state out, to be put back into an engine of any runner. The memory may have grown. No code may be running. */
  suspend(): SuspendedMemory {
    clearStack(this.#memory(), this.#base.snapshot);
    this.#difference = this.capture();
    return {
      ...this.#difference,
      base: this.#checksum(),
      headroom: this.#base.headroom,
      memory: this.size,
    };
  }

  #checksum(): number {
    return (this.#base.checksum ??= checksumOf(this.#base.snapshot.memory));
  }

  #restoreMemory(state: EngineState = noDifference): void {
    const known = this.#difference;
    if (known === state) return;
    this.#difference = undefined;
    const memory = this.#memory();
    const { snapshot, spans } = this.#base;
    if (known) {
      undoDifference(memory, known, snapshot.memory);
    } else {
      for (const { start, end, bytes } of spans) {
        if (bytes) memory.set(bytes, start);
        else memory.fill(0, start, end);
      }
    }
    applyDifference(memory, state);
    this.#difference = state;
  }

  /** The sources of what a module may import, by names. Until the next {@link restore}. */
  set libraries(libraries: Readonly<Record<string, string>> | undefined) {
    this.#host.libraries = libraries;
  }

  /** Whether code has read the time or a random number since the memory was restored. */
  get hasReadClockOrRandom(): boolean {
    return this.#host.hasReadClockOrRandom || Buffer.compare(this.#seed, this.#randomState()) !== 0;
  }

  /** Captures the present state, to be restored later. No code may be running. */
  capture(): EngineState {
    const { snapshot } = this.#base;
    const memory = this.#memory();
    // Restoring zeroes the stack, so that only the block that it shares with other data has to be looked at.
    const first = snapshot.stackPointer - (snapshot.stackPointer % blockSize);
    clearStack(memory, snapshot, first);
    return differenceBetween(snapshot.memory, memory, first);
  }

  /** Whether the memory has grown since the engine was created, so that it cannot be restored any more. */
  get hasGrown(): boolean {
    return this.#memory().byteLength !== this.#base.snapshot.memory.byteLength;
  }

  /** How large the memory is, in bytes. */
  get size(): number {
    return this.#memory().byteLength;
  }

  /** Whether the run has used nearly all memory that it may. */
  get isNearlyFull(): boolean {
    return this.vm.getMemoryUsage().mallocSize > runLimits.memory - mebibyte / 4;
  }

  /** A value that is in every state of the engine. */
  value(name: keyof Tokens): JSValueHandle {
    return this.vm.importHandle(this.#base.tokens[name]);
  }

  /** Calls one of the guest helpers. Throws a `JSException` where the helper throws. */
  call(
    helper: 'invoke' | 'invokeJson' | 'toJson' | 'describe' | 'isNullText' | CallHelper,
    ...values: JSValueHandle[]
  ): JSValueHandle {
    return this.vm.callFunction(this.value(helper), this.value('undefined'), ...values);
  }

  /**
   * Reads a text of the guest, of `length` UTF-16 code units: `undefined` when the engine had no memory left to hand it
   * over.
   */
  textOf(value: JSValueHandle, length: number): string | undefined {
    const text = value.toString();
    // The library returns "<null>" when it cannot allocate memory. The text may also really be this.
    if (text !== nullText) return restoreByteOrderMark(text, length);
    return this.call('isNullText', value).toBoolean() ? text : undefined;
  }

  /** A copy of the memory, with the random state zeroed: it is equal before any two runs of a program. */
  memoryToCompare(): Uint8Array {
    const { randomStateAt } = this.#base;
    return this.#memory()
      .slice()
      .fill(0, randomStateAt, randomStateAt + randomStateSize);
  }

  #randomState(): Uint8Array {
    const { randomStateAt } = this.#base;
    return this.#memory().subarray(randomStateAt, randomStateAt + randomStateSize);
  }

  #memory(): Uint8Array {
    return new Uint8Array(this.#host.memory.buffer);
  }
}

const noDifference: MemoryDifference = { ranges: [], size: 0 };

/** A part of a memory. Without bytes it is zero. */
interface Span {
  readonly start: number;
  readonly end: number;
  readonly bytes?: Uint8Array;
}

/** The parts of a memory, of whole pages. */
function spansOf(memory: Uint8Array): Span[] {
  const spans: { start: number; end: number; isZero: boolean }[] = [];
  for (let start = 0; start < memory.byteLength; start += pageSize) {
    const end = start + pageSize;
    const isZero = memory.subarray(start, end).every((byte) => byte === 0);
    const last = spans.at(-1);
    if (last?.isZero === isZero) last.end = end;
    else spans.push({ start, end, isZero });
  }
  return spans.map(({ start, end, isZero }) => ({
    start,
    end,
    ...(!isZero && { bytes: memory.subarray(start, end) }),
  }));
}

/** The size of WebAssembly's pages, in bytes. */
const pageSize = 65_536;

const bases = new Map<number, Promise<Base>>();

async function createBase(headroom: number): Promise<Base> {
  const host = new EngineHost();
  const vm = await QuickJS.create(optionsFor(host));
  const randomStateAt = locateRandomState(vm, host.memory);
  const install = (source: string, ...functions: JSValueHandle[]) => {
    // With its source, each function would take five times the memory.
    const compiled = vm.compile(source, helpersFile, EvalFlags.TYPE_GLOBAL, CompileFlags.STRIP_SOURCE);
    return vm.callFunction(vm.evalBytecode(compiled), vm.undefined, ...functions);
  };
  const [log, reportError, intl] = host.functionNames.map((name) =>
    vm.newFunction(name, () => vm.undefined),
  ) as [JSValueHandle, JSValueHandle, JSValueHandle];
  install(guestWeb);
  install(guestClone);
  install(guestCrypto);
  install(guestIntl, intl);
  const helpers = install(guestHelpers, log, reportError);
  const calls = install(
    guestCalls,
    ...host.callNames.map((name) => vm.newFunction(name, () => vm.undefined)),
  );
  const tokens = {
    connect: vm.exportHandle(calls.getProp('connect')),
    open: vm.exportHandle(calls.getProp('open')),
    hasPending: vm.exportHandle(calls.getProp('hasPending')),
    respond: vm.exportHandle(calls.getProp('respond')),
    reject: vm.exportHandle(calls.getProp('reject')),
    fire: vm.exportHandle(calls.getProp('fire')),
    invoke: vm.exportHandle(helpers.getProp('invoke')),
    invokeJson: vm.exportHandle(helpers.getProp('invokeJson')),
    toJson: vm.exportHandle(helpers.getProp('toJson')),
    describe: vm.exportHandle(helpers.getProp('describe')),
    isNullText: vm.exportHandle(helpers.getProp('isNullText')),
    undefined: vm.exportHandle(vm.undefined),
    true: vm.exportHandle(vm.true),
    false: vm.exportHandle(vm.false),
  };
  makeHeadroom(vm, headroom);
  const snapshot = vm.snapshot();
  clearStack(snapshot.memory, snapshot);
  return { snapshot, spans: spansOf(snapshot.memory), headroom, randomStateAt, tokens };
}

/** FNV-1a over words: it has to find a mistake, and no attack. `memory` is whole pages. */
function checksumOf(memory: Uint8Array): number {
  const words = new Uint32Array(memory.buffer, memory.byteOffset, memory.byteLength / 4);
  let sum = 0x811c9dc5;
  for (const word of words) sum = Math.imul(sum ^ word, 0x01000193);
  return sum >>> 0;
}

/**
 * Zeroes the engine's stack, which is at the start of the memory and unused while no code runs. Old values in it would make
 * equal states differ.
 */
function clearStack(memory: Uint8Array, { stackPointer, runtimePtr }: Snapshot, start = 0): void {
  if (runtimePtr < stackPointer)
    throw new Error('The stack of the engine is not at the start of its memory.');
  memory.fill(0, start, stackPointer);
}

/**
 * How much a run allocates before the engine first collects garbage, in bytes: less than the smallest headroom. By itself the engine
 * would count its own objects, and collect sooner the more of them there are.
 */
const garbageLimit = 160 * 1024;

/** Gives the allocator free memory: it keeps a block that was allocated and freed. */
function makeHeadroom(vm: QuickJS, size: number): void {
  // Half the size, because the library copies the bytes into the engine's memory twice.
  vm.newArrayBuffer(new Uint8Array(size / 2)).dispose();
  vm.gcThreshold = vm.getMemoryUsage().mallocSize + garbageLimit;
}

const optionsFor = (host: EngineHost): QuickJSOptions => ({
  wasm,
  memoryLimit: serviceLimits.memory,
  maxStackSize: MAX_STACK_SIZE,
  timezoneOffset: 0,
  extensions: webExtensions,
  interruptHandler: () => host.shouldEnd(),
  moduleLoader: {
    // In quotation marks, so that no library has the name of a plugin's file: in stack traces, and among the modules.
    normalize: (_importer, name) => JSON.stringify(name),
    load: (quoted) => host.readLibrary(JSON.parse(quoted) as string),
  },
  wasi: (memory) => {
    host.memory = memory;
    return {
      clock_time_get: host.readClock,
      random_get: host.readRandom,
      // The engine prints nothing by itself; standard output is the runner's.
      fd_write: () => 8,
    };
  },
});
