import { EvalFlags, JSException } from 'quickjs-wasi';
import type { JSValueHandle, QuickJS } from 'quickjs-wasi';
import type { Logs } from '../logs.ts';
import { checkOutput, limitError, pluginError, RunFailure } from '../outcome.ts';
import { runLimits } from '../run-limits.ts';
import type { RunOutcome, RunError } from '../outcome.ts';
import type { ScriptProgram } from '../../plugins/program.ts';
import type { CallHelper, GuestListener, GuestText } from './engine-host.ts';
import type { ScriptEngine, EngineState, SuspendedMemory } from './script-engine.ts';
import { traceInSource } from './stack-trace.ts';

/** A program as a runner has it in its cache. */
export interface CachedProgram {
  readonly program: ScriptProgram;
  /**
   * The index in `engineHeadrooms` of the engine to use. Past its end no headroom is large enough, and every run gets a new
   * engine.
   */
  headroomIndex: number;
  /** The state after its top level, in which its runs start. Without it, the top level is evaluated for each run. */
  start?: StartState;
  /** The same of runs that can make calls. */
  connectedStart?: StartState;
}

interface StartState {
  readonly state: EngineState;
  /** The token of the function `run` in that state. */
  readonly run: number;
  /** The logs of the top level, which each run has in its own. */
  readonly logs: readonly string[];
}

/** What a run calls and sets while it runs, for the host. */
export interface CallHost {
  /** Returns whether the run may make the call. `head` is the JSON of address, method and headers. */
  call(id: number, head: string, body: Uint8Array | undefined): boolean;
  startTimer(id: number, delay: number): boolean;
  stopTimer(id: number): void;
}

/** What a waiting run has got: the response or error of a call, or the end of a timer. */
export type Arrival =
  | { readonly id: number; readonly head: readonly unknown[]; readonly body: Uint8Array }
  | { readonly id: number; readonly error: { readonly code: string; readonly message: string } }
  | { readonly id: number };

/** A run that waits, taken out of its engine. */
export interface SuspendedScript {
  readonly memory: SuspendedMemory;
  /** The token of the promise of `run`. */
  readonly promise: number;
}

export type ScriptOutcome = RunOutcome | { readonly suspended: SuspendedScript };

/** What a run begins with, or what it goes on with. */
export type ScriptInput =
  | { readonly text: string }
  | {
      readonly suspended: SuspendedScript;
      /** In the order in which they came. */
      readonly arrivals: readonly Arrival[];
      /** How many ms ago the run began. */
      readonly elapsed: number;
    };

/** What a run has besides its input. */
export interface ScriptRunOptions {
  /** By `performance.now()`. */
  readonly deadline: number;
  readonly logs: Logs;
  /** Whether the input is JSON, whose value the program gets, and the output is made JSON (default false). */
  readonly isJson?: boolean;
  /** Takes the calls of the run (default: it can make none). */
  readonly calls?: CallHost | undefined;
}

/** Called before each run of a program from a captured state; for tests. */
export type OnRestored = (engine: ScriptEngine) => void;

/** One run of a program in an engine. */
export class ScriptRun implements GuestListener {
  readonly #engine: ScriptEngine;
  readonly #vm: QuickJS;
  readonly #program: CachedProgram;
  readonly #logs: Logs;
  readonly #deadline: number;
  readonly #isJson: boolean;
  readonly #calls: CallHost | undefined;
  readonly #onRestored: OnRestored | undefined;
  // Set once the run has to end. The engine then throws an error that the plugin cannot catch.
  #ending: RunError | undefined;
  #thrown: RunError | undefined;
  #intact = true;

  constructor(
    engine: ScriptEngine,
    cached: CachedProgram,
    { deadline, logs, isJson = false, calls }: ScriptRunOptions,
    onRestored: OnRestored | undefined,
  ) {
    this.#engine = engine;
    this.#vm = engine.vm;
    this.#program = cached;
    this.#logs = logs;
    this.#deadline = deadline;
    this.#isJson = isJson;
    this.#calls = calls;
    this.#onRestored = onRestored;
  }

  /** Whether the engine can be used again. It may be in an unusable state once a limit was met or the engine failed. */
  get isEngineIntact(): boolean {
    return this.#intact && this.#ending === undefined;
  }

  async execute(input: ScriptInput): Promise<ScriptOutcome> {
    try {
      const promise = 'text' in input ? await this.#begin(input.text) : this.#goOn(input);
      const outcome = this.#suspend(promise) ?? { result: await this.#finish(promise) };
      return this.#ending ? { error: this.#ending } : outcome;
    } catch (error) {
      return { error: this.#ending ?? this.#errorOf(error) };
    }
  }

  async #begin(input: string): Promise<JSValueHandle> {
    const start = this.#calls ? this.#program.connectedStart : this.#program.start;
    const run = start ? this.#resume(start) : await this.#evaluate();
    return this.#call(run, input);
  }

  /** Puts a run back, and gives it what has arrived, until it has ended. */
  #goOn({ suspended, arrivals, elapsed }: Extract<ScriptInput, { suspended: object }>): JSValueHandle {
    this.#engine.resume(suspended.memory, this, elapsed);
    const promise = this.#vm.importHandle(suspended.promise);
    for (const arrival of arrivals) {
      this.#deliver(arrival);
      this.#vm.executePendingJobs();
      if (this.#ending || promise.promiseState !== pending) break;
    }
    return promise;
  }

  #deliver(arrival: Arrival): void {
    const { helper, values } = this.#callFor(arrival);
    const thrown = this.#engine.call(helper, ...values);
    if (!thrown.isUndefined) throw new RunFailure(this.#describe(thrown.getProp('0')));
    // Otherwise each response would stay in the memory of the run until it ends.
    for (const value of values) value.dispose();
  }

  #callFor(arrival: Arrival): { readonly helper: CallHelper; readonly values: readonly JSValueHandle[] } {
    const id = this.#vm.newNumber(arrival.id);
    if ('head' in arrival) {
      const head = this.#newText(JSON.stringify(arrival.head));
      return { helper: 'respond', values: [id, head, this.#vm.newArrayBuffer(arrival.body)] };
    }
    if (!('error' in arrival)) return { helper: 'fire', values: [id] };
    const { code, message } = arrival.error;
    return { helper: 'reject', values: [id, this.#newText(JSON.stringify([code, message]))] };
  }

  /** Takes the run out of the engine where it waits for a call or a timer. */
  #suspend(promise: JSValueHandle): ScriptOutcome | undefined {
    if (!this.#calls || this.#ending || !promise.isPromise || promise.promiseState !== pending)
      return undefined;
    if (!this.#engine.call('hasPending').toBoolean()) return undefined;
    const token = this.#vm.exportHandle(promise);
    return { suspended: { memory: this.#engine.suspend(), promise: token } };
  }

  #newText(text: string): JSValueHandle {
    const handle = this.#vm.newString(text);
    if (!handle.isString) throw new RunFailure(limitError('memory-limit'));
    return handle;
  }

  #resume({ state, run, logs }: StartState): JSValueHandle {
    this.#engine.restore(state, this);
    this.#onRestored?.(this.#engine);
    for (const entry of logs) this.#logs.add(entry);
    return this.#vm.importHandle(run);
  }

  /** Evaluates the top level, and caches the state after it unless that may differ the next time. */
  async #evaluate(): Promise<JSValueHandle> {
    const engine = this.#engine;
    engine.restore(undefined, this);
    if (this.#calls) engine.call('connect');
    const { code, file, libraries } = this.#program.program;
    engine.libraries = libraries;
    const before = this.#logs.entries.length;
    const exports = await this.#settle(this.#vm.evalCode(code, file, EvalFlags.TYPE_MODULE));
    engine.libraries = undefined;
    const run = exports.getProp('run');
    if (!run.isFunction) throw new RunFailure(pluginError('The plugin exports no function named "run".'));
    if (!this.#ending && !engine.hasGrown && !engine.hasReadClockOrRandom) {
      this.#program[this.#calls ? 'connectedStart' : 'start'] = {
        state: engine.capture(),
        run: this.#vm.exportHandle(run),
        logs: this.#logs.entries.slice(before),
      };
    }
    return run;
  }

  /** Calls `run`, and does all jobs that can be done. */
  #call(run: JSValueHandle, input: string): JSValueHandle {
    const text = this.#newText(input);
    if (this.#calls) this.#engine.call('open');
    const invoked = this.#engine.call(this.#isJson ? 'invokeJson' : 'invoke', run, text);
    // Otherwise the input would stay in the memory of a run that waits.
    text.dispose();
    if (this.#thrown) throw new RunFailure(this.#thrown);
    if (this.#calls && invoked.isPromise) {
      this.#vm.markPromiseHandled(invoked);
      this.#vm.executePendingJobs();
    }
    return invoked;
  }

  async #finish(invoked: JSValueHandle): Promise<string> {
    const settled = await this.#settle(invoked);
    const result = this.#isJson ? this.#engine.call('toJson', settled) : settled;
    if (this.#thrown) throw new RunFailure(this.#thrown);
    if (!result.isString) {
      throw new RunFailure(
        pluginError(`"run" must return text, or a promise of it; it returned ${kindOf(result)}.`),
      );
    }
    const { length } = result;
    if (length > runLimits.output) throw new RunFailure(limitError('output-limit'));
    const output = this.#engine.textOf(result, length);
    if (output === undefined) throw new RunFailure(limitError('memory-limit'));
    return checkOutput(output);
  }

  /** Awaits a promise by running all pending jobs of the plugin; any other value is returned as it is. */
  async #settle(value: JSValueHandle): Promise<JSValueHandle> {
    if (!value.isPromise) return value;
    this.#vm.markPromiseHandled(value);
    this.#vm.executePendingJobs();
    if (value.promiseState === pending) {
      throw new RunFailure(pluginError('The plugin waits for a promise that nothing is left to settle.'));
    }
    const settled = await this.#vm.resolvePromise(value);
    if ('error' in settled) throw new RunFailure(this.#describe(settled.error));
    return settled.value;
  }

  /** Describes a thrown value. That runs code of the plugin, such as getters, so that it may throw and meet limits again. */
  #describe(thrown: JSValueHandle): RunError {
    this.#thrown = undefined;
    this.#engine.call('describe', thrown);
    return this.#thrown ?? pluginError(unknownError);
  }

  #errorOf(error: unknown): RunError {
    if (error instanceof RunFailure) return error.error;
    this.#intact = false;
    if (!(error instanceof JSException)) return engineError(error);
    try {
      return this.#describe(error.handle);
    } catch {
      return this.#ending ?? engineError(error);
    }
  }

  log(text: GuestText): boolean {
    try {
      if (text.length > runLimits.logs) throw new RunFailure(limitError('log-limit'));
      const entry = text.read();
      if (entry === undefined) throw new RunFailure(limitError('memory-limit'));
      this.#logs.add(entry);
    } catch (error) {
      if (!(error instanceof RunFailure)) throw error;
      this.#ending = error.error;
    }
    return this.#ending !== undefined;
  }

  error(error: GuestText, stack: GuestText): void {
    const text = error.read() ?? unknownError;
    // The engine throws null where it has no memory for an error. Some is free again by now.
    const limit = text === 'null' && this.#engine.isNearlyFull ? limitError('memory-limit') : limitOf(text);
    this.#thrown = limit ?? pluginError(traceInSource(text, stack.read() ?? '', this.#program.program));
  }

  call(id: number, head: GuestText, body: Uint8Array | undefined): boolean {
    const text = head.read();
    if (text !== undefined) return this.#calls?.call(id, text, body) ?? false;
    this.#ending = limitError('memory-limit');
    return false;
  }

  startTimer(id: number, delay: number): boolean {
    return this.#calls?.startTimer(id, delay) ?? false;
  }

  stopTimer(id: number): void {
    this.#calls?.stopTimer(id);
  }

  shouldEnd(): boolean {
    if (performance.now() > this.#deadline) this.#ending ??= limitError('time-limit');
    return this.#ending !== undefined;
  }
}

/** The engine's number for the state of a pending promise. */
const pending = 0;

const unknownError = '(a value that cannot be shown)';

/** The error of a run in which the engine itself failed. */
function engineError(error: unknown): RunError {
  const text = String(error);
  if (error instanceof RangeError) return limitError('stack-limit');
  return (
    limitOf(text) ??
    (error instanceof WebAssembly.RuntimeError ? limitError('memory-limit') : pluginError(text))
  );
}

function limitOf(error: string): RunError | undefined {
  if (/\bInternalError: (?:out of memory|string too long)/.test(error)) return limitError('memory-limit');
  if (/^(?:RangeError|InternalError): (?:Maximum call stack size exceeded|stack overflow)/.test(error)) {
    return limitError('stack-limit');
  }
  return undefined;
}

const kindOf = (value: JSValueHandle) =>
  value.isUndefined
    ? 'nothing'
    : value.isNull
      ? 'null'
      : value.isArray
        ? 'an array'
        : `a value of type ${value.typeof}`;
