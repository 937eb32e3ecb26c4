import { readFileSync } from 'node:fs';
import { MAX_STACK_SIZE, QuickJS } from 'quickjs-wasi';
import type { JSValueHandle, QuickJSOptions, Snapshot } from 'quickjs-wasi';
import { guestHelpers, helpersFile } from './guest-helpers.ts';
import { applyDifference, differenceBetween } from './memory-difference.ts';
import type { MemoryDifference } from './memory-difference.ts';
import { mebibyte } from '../units.ts';
import { runLimits } from './run-limits.ts';
import { EngineHost, nullText, restoreByteOrderMark } from './engine-host.ts';
import type { GuestListener, Tokens } from './engine-host.ts';
import { locateRandomState, randomStateSize } from './random-state.ts';

const wasm = new WebAssembly.Module(readFileSync(new URL(import.meta.resolve('quickjs-wasi/quickjs.wasm'))));

/**
 * How much free memory an engine starts with, in bytes. A run that needs more makes the memory grow, and a memory that has
 * grown cannot be restored. So a plugin starts with the smallest headroom, and gets the next one when that was too small:
 * restoring takes about 0.03 ms with the first, 0.07 ms with the second and 0.2 ms with the third.
 */
export const engineHeadrooms: readonly number[] = [mebibyte / 4, 2 * mebibyte, 10 * mebibyte];

const smallestHeadroom = Math.min(...engineHeadrooms);

/** A state that an engine can be restored to: that after the top level of a plugin has run. */
export type EngineState = MemoryDifference;

/** The state of a fresh engine with the guest helpers in place; all engines with the same headroom share it. */
interface Base {
  readonly snapshot: Snapshot;
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
  readonly #seed = new Uint8Array(randomStateSize);
  /** The state that the memory was restored to ahead of time; `undefined` once something has run since. */
  #restoredAhead: EngineState | undefined;

  /** Rejects when the engine does not work on this machine. */
  static async create(headroom = smallestHeadroom): Promise<ScriptEngine> {
    let base = bases.get(headroom);
    if (!base) bases.set(headroom, (base = createBase(headroom)));
    const host = new EngineHost();
    const settled = await base;
    const vm = await QuickJS.restore(settled.snapshot, optionsFor(host));
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
    this.#restoredAhead = state;
  }

  /** Restores the memory to `state`, by default that of a fresh engine, starts the clock and seeds the random numbers. */
  restore(state: EngineState | undefined, listener: GuestListener): void {
    if (!state || state !== this.#restoredAhead) this.#restoreMemory(state);
    this.#restoredAhead = undefined;
    const memory = this.#memory();
    // Random numbers must not reveal those of another run, whose code is another author's.
    crypto.getRandomValues(this.#seed);
    memory.set(this.#seed, this.#base.randomStateAt);
    this.#host.begin(listener);
  }

  #restoreMemory(state: EngineState | undefined): void {
    const memory = this.#memory();
    memory.set(this.#base.snapshot.memory);
    if (state) applyDifference(memory, state);
  }

  /** Whether code has read the time or a random number since the memory was restored. */
  get hasReadClockOrRandom(): boolean {
    return this.#host.clockReads > 0 || Buffer.compare(this.#seed, this.#randomState()) !== 0;
  }

  /** Captures the present state, to be restored later. The memory must not have grown, and no code may be running. */
  capture(): EngineState {
    const memory = this.#memory();
    clearStack(memory, this.#base.snapshot);
    return differenceBetween(this.#base.snapshot.memory, memory);
  }

  /** Whether the memory has grown since the engine was created, so that it cannot be restored any more. */
  get hasGrown(): boolean {
    return this.#memory().byteLength !== this.#base.snapshot.memory.byteLength;
  }

  /** A value that is in every state of the engine. */
  value(name: keyof Tokens): JSValueHandle {
    return this.vm.importHandle(this.#base.tokens[name]);
  }

  /** Calls one of the guest helpers. Throws a `JSException` where the helper throws. */
  call(
    helper: 'invoke' | 'invokeJson' | 'toJson' | 'describe' | 'isNullText',
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

const bases = new Map<number, Promise<Base>>();

async function createBase(headroom: number): Promise<Base> {
  const host = new EngineHost();
  const vm = await QuickJS.create(optionsFor(host));
  const randomStateAt = locateRandomState(vm, host.memory);
  const functions = host.functionNames.map((name) => vm.newFunction(name, () => vm.undefined));
  const helpers = vm.callFunction(vm.evalCode(guestHelpers, helpersFile), vm.undefined, ...functions);
  const tokens = {
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
  return { snapshot, randomStateAt, tokens };
}

/**
 * Zeroes the engine's stack, which is at the start of the memory and unused while no code runs. Old values in it would make
 * equal states differ.
 */
function clearStack(memory: Uint8Array, { stackPointer, runtimePtr }: Snapshot): void {
  if (runtimePtr < stackPointer)
    throw new Error('The stack of the engine is not at the start of its memory.');
  memory.fill(0, 0, stackPointer);
}

/** Gives the allocator free memory: it keeps a block that was allocated and freed. */
function makeHeadroom(vm: QuickJS, size: number): void {
  const threshold = vm.gcThreshold;
  // Half the size, because the library copies the bytes into the engine's memory twice.
  vm.newArrayBuffer(new Uint8Array(size / 2)).dispose();
  // After the large allocation, the engine may have decided to collect garbage less often.
  vm.gcThreshold = threshold;
}

const optionsFor = (host: EngineHost): QuickJSOptions => ({
  wasm,
  memoryLimit: runLimits.memory,
  maxStackSize: MAX_STACK_SIZE,
  timezoneOffset: 0,
  interruptHandler: () => host.shouldEnd(),
  wasi: (memory) => {
    host.memory = memory;
    return {
      clock_time_get: host.readClock,
      // The engine prints nothing by itself; standard output is the runner's.
      fd_write: () => 8,
    };
  },
});
