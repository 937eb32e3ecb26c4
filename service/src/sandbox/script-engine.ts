import { readFileSync } from 'node:fs';
import { MAX_STACK_SIZE, QuickJS } from 'quickjs-wasi';
import type { JSValueHandle, QuickJSOptions, Snapshot } from 'quickjs-wasi';
import { guestHelpers, helpersFile } from './guest-helpers.ts';
import { applyDifference, differenceBetween } from './memory-difference.ts';
import type { MemoryDifference } from './memory-difference.ts';
import { mebibyte, runLimits } from './outcome.ts';
import { EngineHost, nullText, withMark } from './engine-host.ts';
import type { GuestListener, Tokens } from './engine-host.ts';
import { findRandomState, randomStateSize } from './random-state.ts';

const wasm = new WebAssembly.Module(readFileSync(new URL(import.meta.resolve('quickjs-wasi/quickjs.wasm'))));

/**
 * How much free memory an engine starts with, in bytes. A run that needs more makes the memory grow, and a memory that
 * has grown cannot be put back. So a plugin starts with the smallest headroom and gets the next one when that was too
 * small: putting back a memory with the first takes about 0.03 ms, with the second 0.07 ms, with the third 0.2 ms.
 */
export const engineHeadrooms: readonly number[] = [mebibyte / 4, 2 * mebibyte, 10 * mebibyte];

const smallestHeadroom = Math.min(...engineHeadrooms);

/** A state that an engine can be put back into: that after a plugin's top level has run. */
export type EngineState = MemoryDifference;

/** The state of a fresh engine with the guest helpers in place; all engines with the same headroom share it. */
interface Base {
  readonly snapshot: Snapshot;
  /** Where the state of `Math.random()` is in the memory. */
  readonly randomStateAt: number;
  readonly tokens: Tokens;
}

/**
 * One instance of the QuickJS engine, whose memory is put back to a known state before each run. Nothing of a run can
 * stay: all that the engine knows is in that memory. What is outside of it is set anew by {@link restore}: the clock,
 * the listener, and the seed of `Math.random()`.
 */
export class ScriptEngine {
  readonly vm: QuickJS;
  readonly headroom: number;
  readonly #base: Base;
  readonly #host: EngineHost;
  readonly #seed = new Uint8Array(randomStateSize);
  /** What the memory is, where it was put back ahead and nothing has run since. */
  #ahead: EngineState | undefined;

  /** Rejects when the engine does not work on this machine. */
  static async create(headroom = smallestHeadroom): Promise<ScriptEngine> {
    let base = bases.get(headroom);
    if (!base) bases.set(headroom, (base = createBase(headroom)));
    const host = new EngineHost();
    const settled = await base;
    const vm = await QuickJS.restore(settled.snapshot, optionsFor(host));
    return new ScriptEngine(vm, host, settled, headroom);
  }

  private constructor(vm: QuickJS, host: EngineHost, base: Base, headroom: number) {
    this.vm = vm;
    this.headroom = headroom;
    this.#host = host;
    this.#base = base;
    host.register(vm, base.tokens);
  }

  /** Puts the memory back to `state` ahead of the {@link restore} that will most likely ask for it. */
  restoreAhead(state: EngineState): void {
    this.#putBack(state);
    this.#ahead = state;
  }

  /** Puts the memory back to `state`, by default that of a fresh engine, and starts the clock and the random numbers. */
  restore(state: EngineState | undefined, listener: GuestListener): void {
    if (!state || state !== this.#ahead) this.#putBack(state);
    this.#ahead = undefined;
    const memory = this.#memory();
    // In a run of code that a stranger wrote, numbers must not tell anything about those of another run.
    crypto.getRandomValues(this.#seed);
    memory.set(this.#seed, this.#base.randomStateAt);
    this.#host.begin(listener);
  }

  #putBack(state: EngineState | undefined): void {
    const memory = this.#memory();
    memory.set(this.#base.snapshot.memory);
    if (state) applyDifference(memory, state);
  }

  /** Whether code has asked for the time or a random number since the memory was put back. */
  get hasReadChanges(): boolean {
    return this.#host.clockReads > 0 || Buffer.compare(this.#seed, this.#randomState()) !== 0;
  }

  /** The present state, to be restored later. The memory must not have grown, and no code be running. */
  capture(): EngineState {
    const memory = this.#memory();
    clearStack(memory, this.#base.snapshot);
    return differenceBetween(this.#base.snapshot.memory, memory);
  }

  /** Whether the memory has grown since the engine was made, so that no state can be put back into it. */
  get hasGrown(): boolean {
    return this.#memory().byteLength !== this.#base.snapshot.memory.byteLength;
  }

  /** A value that every state of the engine has. */
  value(name: keyof Tokens): JSValueHandle {
    return this.vm.importHandle(this.#base.tokens[name]);
  }

  /** Calls one of the guest helpers. Throws a `JSException` for what it throws. */
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
    // The library answers "<null>" when it cannot allocate. It may also be what the text says.
    if (text !== nullText) return withMark(text, length);
    return this.call('isNullText', value).toBoolean() ? text : undefined;
  }

  /** The whole memory with the bytes of the random state blanked: equal before any two runs of a program. */
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
  const randomStateAt = findRandomState(vm, host.memory);
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
 * The engine's stack is at the start of the memory and empty while no code runs: what is left in it would make states
 * differ that are the same.
 */
function clearStack(memory: Uint8Array, { stackPointer, runtimePtr }: Snapshot): void {
  if (runtimePtr < stackPointer)
    throw new Error('The stack of the engine is not at the start of its memory.');
  memory.fill(0, 0, stackPointer);
}

/** Has the allocator own free memory: a block that was given back stays with it. */
function makeHeadroom(vm: QuickJS, size: number): void {
  const threshold = vm.gcThreshold;
  // The library makes a copy of the bytes in the engine's memory, and then another.
  vm.newArrayBuffer(new Uint8Array(size / 2)).dispose();
  // The engine may have taken the block for a reason to collect garbage more seldom.
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
