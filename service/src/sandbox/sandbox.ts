import { LRUCache } from 'lru-cache';
import { entryLimit } from '../entry-limit.ts';
import { coresOf, wholeNode } from '../node-share.ts';
import type { NodeShare } from '../node-share.ts';
import { FairQueue } from '../processes/fair-queue.ts';
import type { QueueOwner } from '../processes/fair-queue.ts';
import { ConnectedRun } from './connected-run.ts';
import type { TakenTurn } from './connected-run.ts';
import { Logs } from './logs.ts';
import { serviceEnds } from './outcome.ts';
import type { LoggedOutcome } from './outcome.ts';
import type { Caller } from './run-calls.ts';
import { defaultLimits } from './run-limits.ts';
import type { AdjustableLimits } from './run-limits.ts';
import type { Program, StoredProgram } from '../plugins/program.ts';
import { PythonSandbox } from './python/python-sandbox.ts';
import type { PythonOptions } from './python/python-sandbox.ts';
import { RunnerProcess, RunnerStartError } from './runner-process.ts';
import type { Turn } from './runner-process.ts';
import { WaitingRuns } from './waiting-runs.ts';
import type { WaitingLimits } from './waiting-runs.ts';

export interface Run {
  readonly program: StoredProgram;
  readonly input: string;
  /** Whose run it is, which determines its turn. */
  readonly owner: QueueOwner;
  /** Returns the signal that withdraws a run that has not begun. Called only when the run has to wait. */
  readonly signal?: () => AbortSignal;
  /** Called at its turn, before it begins, which waits for it. What it rejects with refuses the run. */
  readonly onTurn?: (() => Promise<void>) | undefined;
  /** Its limits, at most those of the sandbox (default: those). */
  readonly limits?: AdjustableLimits | undefined;
  /** Makes the calls of a plugin that is granted some. Without it, the plugin has no `fetch`. */
  readonly caller?: Caller | undefined;
}

export interface SandboxOptions {
  /** The limits of each run (default: 1 s, 32 MiB). */
  readonly limits?: AdjustableLimits;
  /** How plugins in Python are run, besides `limits`. */
  readonly python?: Omit<PythonOptions, 'limits'>;
  /** The limits of runs that can make calls. */
  readonly waiting?: WaitingLimits;
  /** Which of the node's processes this is, for its number of runners (default: the only one). */
  readonly nodeShare?: NodeShare | undefined;
  /** Called for each run that has ended. */
  readonly onRun?: (run: FinishedRun, owner: QueueOwner) => void;
  /** Called with the error that keeps a run with calls from going on, but not where a runner could not be started. */
  readonly onError?: (error: unknown) => void;
}

/** A run and what it took. */
export interface FinishedRun {
  readonly outcome: LoggedOutcome;
  /** How long the run took, in ms, without waiting. */
  readonly took: number;
  /** How long it waited for calls, timers and a runner after it had begun, in ms. Only a run that can make calls waits. */
  readonly waited: number;
  /** Whether its runner had run the program before, so that nothing had to be loaded or compiled. */
  readonly isWarm: boolean;
}

// More than there are cores on small machines, so that runs go on beside one that loops. A tenant may have half of the slots, which
// still keep two cores busy. One of several processes needs fewer, because the others have runners, too.
function slotsOf(nodeShare: NodeShare): number {
  const least = nodeShare.count > 1 ? 4 : 6;
  return Math.min(8, Math.max(least, 2 * Math.ceil(coresOf(nodeShare) / 2)));
}

/** How often the memory of runners is checked during runs, in ms. */
const watchInterval = 20;

/** Runs plugins in a few processes, each of which runs one program at a time. Tenants take turns. */
export class Sandbox {
  readonly #queue: FairQueue;
  readonly #idle: RunnerProcess[] = [];
  readonly #busy = new Set<RunnerProcess>();
  /** The runs that can make calls. */
  readonly connected: WaitingRuns;
  readonly #options: SandboxOptions;
  readonly #python: PythonSandbox;
  /** The kinds of the programs that were run, by their hashes. */
  readonly #kinds = new LRUCache<string, Program['kind']>(entryLimit(20_000));
  #watch: NodeJS.Timeout | undefined;
  #works = false;
  #isClosed = false;

  constructor(options: SandboxOptions = {}) {
    this.#options = options;
    const slots = slotsOf(options.nodeShare ?? wholeNode);
    this.#queue = new FairQueue({
      slots,
      // Fewer than all, so that one environment, or one tenant, cannot make the others wait.
      slotsPerEnvironment: slots - 1,
      slotsPerTenant: slots / 2,
      waiting: 1024,
      waitingPerEnvironment: 512,
      waitingPerTenant: 256,
      waitingPerToken: 256,
    });
    this.#python = new PythonSandbox({
      ...options.python,
      ...(options.limits && { limits: options.limits }),
    });
    this.connected = new WaitingRuns(options.waiting);
  }

  get waiting(): number {
    return this.#queue.waiting + this.#python.waiting;
  }

  /**
   * Whether runs can begin, which is whether the latest runner came up. While runners fail to, each read of this starts another
   * one, so that the value changes once the machine permits it.
   */
  get isReady(): boolean {
    if (!this.#works && !this.#isClosed) this.warmUp();
    return this.#works;
  }

  /**
   * Runs a program once. Throws a `BusyError` at once when too many runs are waiting; rejects when the sandbox is closed or no
   * runner can be started, and with the signal's reason when that is aborted.
   */
  run(run: Run): Promise<LoggedOutcome> {
    return this.runAndMeasure(run).then(({ outcome }) => outcome);
  }

  /** As {@link run}, with the time that the run took. */
  runAndMeasure(run: Run): Promise<FinishedRun> {
    const kind = this.#kinds.get(run.program.hash);
    return kind ? this.#runKind(run, kind) : this.#runNew(run);
  }

  async #runNew(run: Run): Promise<FinishedRun> {
    const { kind } = await run.program.load();
    this.#kinds.set(run.program.hash, kind);
    return this.#runKind(run, kind);
  }

  #runKind(run: Run, kind: Program['kind']): Promise<FinishedRun> {
    if (kind === 'python') return this.#runPython(run);
    // Nothing but a script can make calls.
    return run.caller && kind === 'script'
      ? this.#runConnected(run, run.caller)
      : this.#runOnce(run, this.#queue.acquire(run.owner, run.signal));
  }

  async #runPython(run: Run): Promise<FinishedRun> {
    return this.#finish(run, { ...(await this.#python.runAndMeasure(run)), waited: 0 });
  }

  async #runOnce(run: Run, free: Promise<() => void>): Promise<FinishedRun> {
    const { program, input, onTurn, limits } = run;
    const logs = new Logs();
    const taken = await this.#take(free, () => ({ program, job: { input }, logs, limits }), onTurn);
    const { outcome, took, isWarm } = taken;
    if ('suspended' in outcome) throw new Error('A run without calls does not wait.');
    const ended = 'error' in outcome ? { error: outcome.error } : outcome;
    return this.#finish(run, { outcome: { ...ended, logs: logs.entries }, took, waited: 0, isWarm });
  }

  async #runConnected(run: Run, caller: Caller): Promise<FinishedRun> {
    const { program, input, owner, signal, onTurn, limits = this.#options.limits ?? defaultLimits } = run;
    const { onError } = this.#options;
    const options = { program, input, owner, caller, limits, signal: signal?.(), onError };
    const connected = new ConnectedRun(options, this.connected);
    const leave = this.connected.enter(connected);
    try {
      return this.#finish(
        run,
        await connected.execute((makeTurn, isFirst, aborted) =>
          this.#take(
            this.#queue.acquire(owner, () => aborted, !isFirst),
            makeTurn,
            isFirst ? onTurn : undefined,
          ),
        ),
      );
    } finally {
      leave();
    }
  }

  #finish({ owner }: Run, finished: FinishedRun): FinishedRun {
    this.#options.onRun?.(finished, owner);
    return finished;
  }

  /** Takes a turn of a run in a runner. `makeTurn` is called once, when a runner is free. */
  async #take(free: Promise<() => void>, makeTurn: () => Turn, onTurn?: Run['onTurn']): Promise<TakenTurn> {
    const release = await free;
    try {
      await onTurn?.();
      const turn = makeTurn();
      return await this.#takeIn(turn, this.#takeRunner(turn.program.hash));
    } finally {
      release();
    }
  }

  /**
   * Takes a turn in a runner. Where the runner ends before the turn began, or before anything came of the turn of a run that can
   * make calls, a new runner takes it: what ended one may have ended all idle ones, too, before this process knows.
   */
  async #takeIn(turn: Turn, runner: RunnerProcess, isLast = false): Promise<TakenTurn> {
    const isWarm = runner.knows(turn.program.hash);
    let isRepeated = false;
    this.#busy.add(runner);
    this.#watchMemory();
    try {
      const outcome = await runner.take(turn);
      isRepeated = 'isLost' in outcome && turn.calls !== undefined && !isLast && !this.#isClosed;
      if (!isRepeated) return { outcome, took: runner.lastDuration, isWarm };
    } catch (error) {
      isRepeated = error instanceof RunnerStartError && !isLast && !this.#isClosed;
      if (!isRepeated) throw error;
    } finally {
      this.#busy.delete(runner);
      if (runner.isUsable) this.#idle.push(runner);
      // Replaced at once, so that the next run finds a runner that is up, or about to be.
      else if (!isRepeated && !this.#isClosed) this.#idle.unshift(...this.#startSpare());
    }
    return this.#takeIn(turn, this.#startRunner(), true);
  }

  /** Starts a first runner, so that the first run need not wait for it. */
  warmUp(): void {
    const isAnyUsable = this.#busy.size > 0 || this.#idle.some((runner) => runner.isUsable);
    if (!isAnyUsable) this.#idle.push(...this.#startSpare());
  }

  /** Starts a first runner for Python. */
  warmUpPython(): void {
    this.#python.warmUp();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.connected.end(serviceEnds);
    clearInterval(this.#watch);
    this.#python.close();
    await Promise.all([...this.#idle, ...this.#busy].map((runner) => runner.close()));
  }

  /** Takes an idle runner, if possible one that has run the program before, or starts one. */
  #takeRunner(hash: string): RunnerProcess {
    if (this.#isClosed) throw new Error('The sandbox is closed.');
    const usable = this.#idle.filter((runner) => runner.isUsable);
    const chosen = usable.findLast((runner) => runner.knows(hash)) ?? usable.at(-1);
    // Also removes the runners that ended while they were idle.
    this.#idle.splice(0, Infinity, ...usable.filter((runner) => runner !== chosen));
    return chosen ?? this.#startRunner();
  }

  /** Starts a runner before a run needs it. Where the system refuses it, there is none, and the next run reports the error. */
  #startSpare(): RunnerProcess[] {
    try {
      return [this.#startRunner()];
    } catch {
      this.#works = false;
      return [];
    }
  }

  #startRunner(): RunnerProcess {
    const { limits } = this.#options;
    const runner = new RunnerProcess(limits && { limits });
    runner.ready.then(
      () => (this.#works = true),
      () => {
        if (!this.#isClosed) this.#works = false;
      },
    );
    return runner;
  }

  #watchMemory(): void {
    this.#watch ??= setInterval(() => {
      for (const runner of this.#busy) runner.enforceMemoryLimit();
      if (this.#busy.size) return;
      clearInterval(this.#watch);
      this.#watch = undefined;
    }, watchInterval).unref();
  }
}
