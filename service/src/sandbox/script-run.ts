import { EvalFlags, JSException } from 'quickjs-wasi';
import type { JSValueHandle, QuickJS } from 'quickjs-wasi';
import type { Logs } from './logs.ts';
import { checkOutput, limitError, pluginError, RunFailure } from './outcome.ts';
import { runLimits } from './run-limits.ts';
import type { RunOutcome, RunError } from './outcome.ts';
import type { ScriptProgram } from '../plugins/program.ts';
import type { GuestListener, GuestText } from './engine-host.ts';
import type { ScriptEngine, EngineState } from './script-engine.ts';
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
}

interface StartState {
  readonly state: EngineState;
  /** The token of the function `run` in that state. */
  readonly run: number;
  /** The logs of the top level, which each run has in its own. */
  readonly logs: readonly string[];
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
  readonly #onRestored: OnRestored | undefined;
  // Set once the run has to end. The engine then throws an error that the plugin cannot catch.
  #ending: RunError | undefined;
  #thrown: RunError | undefined;
  #intact = true;

  constructor(
    engine: ScriptEngine,
    cached: CachedProgram,
    logs: Logs,
    deadline: number,
    onRestored: OnRestored | undefined,
  ) {
    this.#engine = engine;
    this.#vm = engine.vm;
    this.#program = cached;
    this.#logs = logs;
    this.#deadline = deadline;
    this.#onRestored = onRestored;
  }

  /** Whether the engine can be used again. It may be in an unusable state once a limit was met or the engine failed. */
  get isEngineIntact(): boolean {
    return this.#intact && this.#ending === undefined;
  }

  async execute(input: string, isJson: boolean): Promise<RunOutcome> {
    try {
      const run = this.#program.start ? this.#resume(this.#program.start) : await this.#evaluate();
      const result = await this.#call(run, input, isJson);
      return this.#ending ? { error: this.#ending } : { result };
    } catch (error) {
      return { error: this.#ending ?? this.#errorOf(error) };
    }
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
    const { code, file } = this.#program.program;
    const before = this.#logs.entries.length;
    const exports = await this.#settle(this.#vm.evalCode(code, file, EvalFlags.TYPE_MODULE));
    const run = exports.getProp('run');
    if (!run.isFunction) throw new RunFailure(pluginError('The plugin exports no function named "run".'));
    if (!this.#ending && !engine.hasGrown && !engine.hasReadClockOrRandom) {
      this.#program.start = {
        state: engine.capture(),
        run: this.#vm.exportHandle(run),
        logs: this.#logs.entries.slice(before),
      };
    }
    return run;
  }

  async #call(run: JSValueHandle, input: string, isJson: boolean): Promise<string> {
    const text = this.#vm.newString(input);
    if (!text.isString) throw new RunFailure(limitError('memory-limit'));
    const invoked = this.#engine.call(isJson ? 'invokeJson' : 'invoke', run, text);
    if (this.#thrown) throw new RunFailure(this.#thrown);
    const settled = await this.#settle(invoked);
    const result = isJson ? this.#engine.call('toJson', settled) : settled;
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
    this.#thrown =
      limitOf(text) ?? pluginError(traceInSource(text, stack.read() ?? '', this.#program.program));
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
