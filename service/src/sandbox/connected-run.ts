import type { QueueOwner } from '../processes/fair-queue.ts';
import type { StoredProgram } from '../plugins/program.ts';
import { Logs } from './logs.ts';
import { limitError, runError, RunFailure } from './outcome.ts';
import type { LoggedOutcome, RunError, RunOutcome } from './outcome.ts';
import { RunCalls } from './run-calls.ts';
import type { Caller } from './run-calls.ts';
import type { AdjustableLimits } from './run-limits.ts';
import { RunnerStartError } from './runner-process.ts';
import type { Turn, TurnOutcome } from './runner-process.ts';
import type { EndableRun, WaitingRuns } from './waiting-runs.ts';

/** What a run that can make calls is made of. */
export interface ConnectedRunOptions {
  readonly program: StoredProgram;
  readonly input: string;
  readonly owner: QueueOwner;
  readonly caller: Caller;
  readonly limits: AdjustableLimits;
  /** Aborted when the client has gone. */
  readonly signal?: AbortSignal | undefined;
  /** Called with what keeps a run that has begun from going on, unless that is a runner that could not be started. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** What one turn took. */
export interface TakenTurn {
  readonly outcome: TurnOutcome;
  readonly took: number;
  readonly isWarm: boolean;
}

/**
 * Takes a turn of a run in a runner, once there is one free. `makeTurn` is called at its turn.
 * @param signal withdraws it while it waits for a runner
 */
export type TakeTurn = (makeTurn: () => Turn, isFirst: boolean, signal: AbortSignal) => Promise<TakenTurn>;

/** A run that can make calls. While it waits for them, it is in no runner. */
export class ConnectedRun implements EndableRun {
  readonly owner: QueueOwner;
  readonly #options: ConnectedRunOptions;
  #program: StoredProgram;
  readonly #waiting: WaitingRuns;
  readonly #calls: RunCalls;
  readonly #logs = new Logs();
  readonly #abort = new AbortController();
  /** Why the run has to end. */
  #ending: RunError | undefined;
  #wake: () => void = () => {};
  #began = NaN;
  #spent = 0;
  #isWarm = false;

  constructor(options: ConnectedRunOptions, waiting: WaitingRuns) {
    this.#options = options;
    this.#program = options.program;
    this.owner = options.owner;
    this.#waiting = waiting;
    this.#calls = new RunCalls(options.caller, waiting.limits.calls, (bytes) =>
      waiting.hold(this.owner, bytes),
    );
  }

  end(error: RunError): void {
    if (this.#ending) return;
    this.#ending = error;
    void this.#calls.end();
    this.#abort.abort(new RunFailure(error));
    this.#wake();
  }

  /** Resolves with how the run ended. Rejects where it did not begin, or its program cannot be loaded. */
  async execute(takeTurn: TakeTurn): Promise<ConnectedOutcome> {
    const { signal } = this.#options;
    const handleGone = () => this.end(runError('cancelled', 'The client has gone.'));
    if (signal?.aborted) handleGone();
    signal?.addEventListener('abort', handleGone, { once: true });
    let limit: NodeJS.Timeout | undefined;
    let release = () => {};
    try {
      ({ program: this.#program, release } = await this.#waiting.keep(this.owner, this.#options.program));
      const first = await this.#take(takeTurn, () => {
        this.#began = performance.now();
        limit = this.#limitTime();
        return { input: this.#options.input };
      });
      const outcome = await this.#goOn(first, takeTurn);
      const waited = Math.max(0, performance.now() - this.#began - this.#spent);
      return {
        outcome: { ...outcome, logs: this.#logs.entries },
        took: this.#spent,
        waited,
        isWarm: this.#isWarm,
      };
    } finally {
      clearTimeout(limit);
      signal?.removeEventListener('abort', handleGone);
      release();
      await this.#calls.end();
    }
  }

  async #goOn(first: TurnOutcome, takeTurn: TakeTurn): Promise<RunOutcome> {
    let outcome = first;
    for (;;) {
      if (this.#ending) return { error: this.#ending };
      if (this.#calls.hasFailed) return { error: this.#tooLarge };
      if ('error' in outcome) return { error: outcome.error };
      if (!('suspended' in outcome)) return outcome;
      // Many short turns may each end before the engine looks at its clock.
      const { limits } = this.#options;
      if (this.#spent >= limits.time) return { error: limitError('time-limit', limits) };
      if (!this.#calls.hasMore) return { error: runError('runner-crashed', 'The runner waits for nothing.') };
      const state = outcome.suspended;
      let release;
      try {
        release = this.#waiting.hold(this.owner, state.byteLength + this.#logs.memory);
      } catch {
        return { error: this.#tooLarge };
      }
      try {
        this.#waiting.waiting += 1;
        await this.#wait().finally(() => (this.#waiting.waiting -= 1));
        if (this.#ending) return { error: this.#ending };
        if (this.#calls.hasFailed) return { error: this.#tooLarge };
        outcome = await this.#take(takeTurn, () => ({
          state,
          arrivals: this.#calls.takeArrivals(),
          elapsed: performance.now() - this.#began,
          spent: this.#spent,
        }));
      } catch (error) {
        if (this.#ending) return { error: this.#ending };
        // It has begun, and may have changed something by its calls, so that it has an outcome.
        if (error instanceof RunnerStartError) return { error: runError('runner-crashed', error.message) };
        this.#options.onError?.(error);
        return { error: runError('runner-crashed', 'The run could not go on.') };
      } finally {
        release();
      }
    }
  }

  async #take(takeTurn: TakeTurn, makeJob: () => Turn['job']): Promise<TurnOutcome> {
    const { limits } = this.#options;
    const isFirst = Number.isNaN(this.#began);
    const makeTurn = () => ({
      program: this.#program,
      limits,
      logs: this.#logs,
      calls: this.#calls,
      job: makeJob(),
    });
    const { outcome, took, isWarm } = await takeTurn(makeTurn, isFirst, this.#abort.signal);
    this.#spent += took;
    if (isFirst) this.#isWarm = isWarm;
    return outcome;
  }

  #wait(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
      void this.#calls.waitForArrival().then(resolve);
    });
  }

  #limitTime(): NodeJS.Timeout {
    const { time } = this.#waiting.limits;
    const message = `The run took more than ${time / 1000} s with all that it waited for, which is the limit.`;
    return setTimeout(() => this.end(runError('wait-limit', message)), time);
  }

  get #tooLarge(): RunError {
    return runError(
      'memory-limit',
      'What the run holds while it waits does not fit into the memory for waiting runs.',
    );
  }
}

/** How a run ended, and what it took. */
export interface ConnectedOutcome {
  readonly outcome: LoggedOutcome;
  /** How long it was in an engine, in ms. */
  readonly took: number;
  /** How long it waited, in ms, since it began. */
  readonly waited: number;
  readonly isWarm: boolean;
}
