import type { Readable, Writable } from 'node:stream';
import { errorMessage } from '../error-message.ts';
import { LRUCache } from 'lru-cache';
import { entryLimit } from '../entry-limit.ts';
import { decodeError } from './decode-report.ts';
import { encodeFrame, FrameReader, partsOfFrame } from '../processes/frames.ts';
import type { Frame } from '../processes/frames.ts';
import { Logs } from './logs.ts';
import { checkOutput, limitError, pluginError } from './outcome.ts';
import { defaultLimits } from './run-limits.ts';
import type { LoggedOutcome, RunError, RunOutcome } from './outcome.ts';
import type { AdjustableLimits } from './run-limits.ts';
import type { Program, StoredProgram } from '../plugins/program.ts';
import {
  frameLimit,
  killDelay,
  recycleInterval,
  runnerMemory,
  stackOptions,
  startTime,
} from './runner-limits.ts';
import { decodeText, encodeJob, encodeResume, frameKind, kindsOfBytes } from './protocol.ts';
import type { CallLimits, ResumeJob } from './protocol.ts';
import { residentMemory } from '../processes/memory.ts';
import { moduleUrl } from '../processes/module-url.ts';
import { codeOf } from '../processes/package-folders.ts';
import { setKeepsAlive } from '../processes/keep-alive.ts';
import { describeEnd, startIsolated } from '../processes/isolated-process.ts';
import type { IsolatedProcess } from '../processes/isolated-process.ts';

const main = moduleUrl('./runner-main', import.meta.url);

export interface RunnerOptions {
  /** The limits of each run (default: 1 s, 32 MiB). */
  readonly limits?: AdjustableLimits;
  /** How much memory the runner may hold during a run, in bytes (default: 320 MiB, more for a higher limit of runs). */
  readonly watchedMemory?: number;
  /** A runner that holds more than this after a run, in bytes, is replaced (default: 192 MiB, likewise). */
  readonly recycleMemory?: number;
}

/** From which age on the memory of a turn is watched, in ms: most have ended before, and reading it takes time. */
const watchedFrom = 5;

/** A runner could not be started; or it ended, or reported that it does not work on this machine, before it could take a run. */
export class RunnerStartError extends Error {
  override readonly name = 'RunnerStartError';

  constructor(reason: string) {
    super(`The sandbox does not work on this machine: ${reason}`);
  }
}

/** A run, or what follows its wait, until it waits or ends. */
export interface Turn {
  readonly program: StoredProgram;
  readonly job: { readonly input: string } | Pick<ResumeJob, 'state' | 'arrivals' | 'elapsed' | 'spent'>;
  /** The logs of the run. They apply the limits of logs again, because the runner is not trusted. */
  readonly logs: Logs;
  /** Where they are not those of the runner. */
  readonly limits?: AdjustableLimits | undefined;
  /** Takes what the run calls. Without it, the run can make no calls. */
  readonly calls?: TurnCalls | undefined;
}

/** Takes what a run calls. The methods throw for what it may not do, which ends the runner. */
export interface TurnCalls {
  readonly left: CallLimits;
  /** `bytes`: what `encodeCall` has made. */
  call(bytes: Buffer): void;
  startTimer(id: unknown, delay: unknown): void;
  stopTimer(id: number): void;
}

/** `isLost`: the runner's process ended, for no reason of the service's, before anything came of the turn. */
export type TurnOutcome =
  RunOutcome | { readonly suspended: Buffer } | { readonly error: RunError; readonly isLost: true };

/** The turn in progress. */
interface CurrentTurn extends Turn {
  /** By `performance.now()`. */
  began: number;
  timer: NodeJS.Timeout;
  /** How long the turn was in the engine, in ms, as the runner says. */
  reported: number;
  /** Whether the runner was given the program with this turn. */
  isProgramSent: boolean;
  /** Whether anything has come of it. */
  hasSpoken: boolean;
  readonly resolve: (outcome: TurnOutcome) => void;
  readonly reject: (reason: unknown) => void;
}

/** What the runners of a kind of program differ in. */
interface RunnerKind {
  /** Throws where the system refuses a process. */
  readonly start: (limits: AdjustableLimits) => IsolatedProcess;
  /** How long a runner may take to come up, in ms. */
  readonly startTime: number;
  /** Whether runs can make calls, for which a runner sends what a run holds. */
  readonly hasCalls: boolean;
  /** Whether its start keeps this process running. If not, only a run that waits for it does. */
  readonly keepsAlive: boolean;
}

/** Runners of scripts and modules. */
const scripts: RunnerKind = {
  start: (limits) =>
    startIsolated({
      file: main,
      args: [String(limits.time), String(limits.memory)],
      readable: codeOf(['lru-cache', 'quickjs-wasi']),
      memoryLimit: runnerMemory(limits).system,
      heapLimit: 64,
      nodeOptions: stackOptions,
      stdio: ['pipe', 'pipe', 'ignore'],
    }),
  startTime,
  hasCalls: true,
  keepsAlive: false,
};

/** One runner process, which runs one program at a time. It cannot be used again after a run that it was killed for. */
export class RunnerProcess {
  readonly #process: IsolatedProcess;
  readonly #input: Writable;
  readonly #ready = Promise.withResolvers<void>();
  readonly #frames: FrameReader;
  // The hashes of the programs that it was sent. It may have evicted some of them since.
  readonly #sentPrograms = new LRUCache<string, true>(entryLimit(10_000));
  readonly #limits: AdjustableLimits;
  readonly #watchedMemory: number;
  readonly #recycleMemory: number;
  #timeSinceCheck = 0;
  #current: CurrentTurn | undefined;
  #killedFor: RunError | undefined;
  #isUsable = true;
  #isReady = false;
  #lastDuration = 0;
  #isClosed = false;

  /** Throws a {@link RunnerStartError} where the system refuses a process. */
  constructor(options: RunnerOptions = {}, kind = scripts) {
    const limits = (this.#limits = options.limits ?? defaultLimits);
    this.#frames = kind.hasCalls
      ? new FrameReader(frameLimit + limits.memory, kindsOfBytes)
      : new FrameReader(frameLimit);
    const memory = runnerMemory(limits);
    this.#watchedMemory = options.watchedMemory ?? memory.watched;
    this.#recycleMemory = options.recycleMemory ?? memory.recycle;
    try {
      this.#process = kind.start(limits);
    } catch (error) {
      throw new RunnerStartError(errorMessage(error));
    }
    const { child } = this.#process;
    this.#input = child.stdin as Writable;
    this.#ready.promise.catch(() => {});
    (child.stdout as Readable).on('data', (chunk: Buffer) => this.#handleData(chunk));
    // Writing to a runner that has just ended fails; its exit is handled below.
    this.#input.on('error', () => {});
    child.on('error', (error) => this.#handleExit(error.message));
    // Output may still arrive after it, but no turn may be given to it any more.
    child.once('exit', () => (this.#isUsable = false));
    child.on('close', (code, signal) => this.#handleExit(describeEnd(code, signal)));
    const late = setTimeout(() => {
      this.#ready.reject(new RunnerStartError(`its process did not come up in ${kind.startTime / 1000} s.`));
      this.#process.kill();
    }, kind.startTime).unref();
    const handleStarted = () => {
      clearTimeout(late);
      if (kind.keepsAlive) setKeepsAlive(child, this.#current !== undefined);
    };
    this.#ready.promise.then(handleStarted, handleStarted);
    setKeepsAlive(child, kind.keepsAlive);
  }

  /** Whether it can take another run. */
  get isUsable(): boolean {
    return this.#isUsable;
  }

  get pid(): number | undefined {
    return this.#process.pid();
  }

  /** How long the last turn took, in ms: of a run that can make calls its time in the engine, else from when it was sent. */
  get lastDuration(): number {
    return this.#lastDuration;
  }

  /** Whether the runner was sent a program before, so that its next run is quick. */
  knows(hash: string): boolean {
    return this.#sentPrograms.has(hash);
  }

  /** Resolves once it can take a run; rejects when it cannot work on this machine. */
  get ready(): Promise<void> {
    return this.#ready.promise;
  }

  /**
   * Runs a program; only one at a time. Rejects with a {@link RunnerStartError} when the runner does not come up or has ended
   * before the run began, and with another error when it is closed meanwhile.
   * @param limits at most those of the runner (default: those)
   */
  async run(program: StoredProgram, input: string, limits?: AdjustableLimits): Promise<LoggedOutcome> {
    const logs = new Logs();
    const outcome = await this.take({ program, job: { input }, logs, limits });
    if ('suspended' in outcome) throw new Error('A run without calls does not wait.');
    const ended = 'error' in outcome ? { error: outcome.error } : outcome;
    return { ...ended, logs: logs.entries };
  }

  /** As {@link run}, for a run that may wait: see {@link Turn}. */
  async take(turn: Turn): Promise<TurnOutcome> {
    setKeepsAlive(this.#process.child, true);
    try {
      await this.#ready.promise;
      // A process that has ended would never reply. The plugin has not begun, so another runner can take the run.
      if (!this.#isUsable) throw new RunnerStartError('its process has ended.');
      // Loaded before the run's time begins, because reading from the database must not count.
      const { program } = turn;
      const loaded = this.knows(program.hash) ? undefined : await program.load();
      if (!this.#isUsable) throw new RunnerStartError('its process has ended.');
      return await new Promise<TurnOutcome>((resolve, reject) => {
        const current: CurrentTurn = {
          ...turn,
          began: performance.now(),
          reported: Infinity,
          timer: this.#startTimer(turn),
          isProgramSent: loaded !== undefined,
          hasSpoken: false,
          resolve,
          reject,
        };
        this.#current = current;
        this.#send(current, loaded);
      });
    } finally {
      clearTimeout(this.#current?.timer);
      this.#lastDuration = 0;
      if (this.#current) {
        const { began, reported } = this.#current;
        const seen = performance.now() - began;
        // The time seen here includes delays of this process, so the smaller one counts. A run whose runner reports too little
        // still ends after the time that it may wait.
        this.#lastDuration = Math.min(seen, reported);
        this.#recycleIfLarge(seen);
      }
      this.#current = undefined;
      setKeepsAlive(this.#process.child, false);
    }
  }

  /** Kills the process if it holds more memory than it may during a run. Does nothing while there is no run. */
  enforceMemoryLimit(): void {
    if (!this.#current || performance.now() - this.#current.began < watchedFrom) return;
    if (residentMemory(this.pid) < this.#watchedMemory) return;
    this.#kill(limitError('memory-limit', this.#current.limits ?? this.#limits));
  }

  /** Ends the process if it holds too much after a run. `time`: how long the run took, in ms. */
  #recycleIfLarge(time: number): void {
    this.#timeSinceCheck += time;
    if (!this.#isUsable || this.#timeSinceCheck < recycleInterval) return;
    this.#timeSinceCheck = 0;
    if (residentMemory(this.pid) < this.#recycleMemory) return;
    this.#isUsable = false;
    this.#process.kill();
  }

  /** Ends the process at once. An unfinished run is rejected. */
  async close(): Promise<void> {
    const { child } = this.#process;
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = new Promise((resolve) => child.once('exit', resolve));
    this.#isClosed = true;
    // Keeps this process running until the runner has ended; else it could end while `close` is awaited.
    setKeepsAlive(this.#process.child, true);
    this.#process.kill();
    await exited;
  }

  #startTimer({ job, limits = this.#limits }: Turn): NodeJS.Timeout {
    const left = limits.time - ('spent' in job ? job.spent : 0);
    return setTimeout(() => this.#kill(limitError('time-limit', limits)), Math.max(0, left) + killDelay);
  }

  #send(
    { program: { hash, isTyped }, job, logs, limits, calls }: CurrentTurn,
    program: Program | undefined,
  ): void {
    const any = { hash, isTyped, program, limits, calls: calls?.left };
    this.#sentPrograms.set(hash, true);
    if ('input' in job) {
      this.#input.write(encodeFrame(frameKind.run, encodeJob({ ...any, ...job })));
      return;
    }
    this.#input.cork();
    for (const part of partsOfFrame(
      frameKind.resume,
      encodeResume({ ...any, ...job, logged: logs.logged }),
    )) {
      this.#input.write(part);
    }
    this.#input.uncork();
  }

  /** Sends the runner the program of its run, which it had evicted. The run's time begins anew. */
  async #sendMissing(current: CurrentTurn): Promise<void> {
    clearTimeout(current.timer);
    try {
      const program = await current.program.load();
      // The run may have ended meanwhile.
      if (this.#current !== current) return;
      current.timer = this.#startTimer(current);
      current.began = performance.now();
      this.#send(current, program);
    } catch (error) {
      current.reject(error);
    }
  }

  #handleData(chunk: Buffer): void {
    try {
      for (const frame of this.#frames.push(chunk)) this.#handleFrame(frame);
    } catch (error) {
      // A runner that violates the protocol cannot be trusted any further.
      this.#kill(crashed(errorMessage(error)));
    }
  }

  #handleFrame({ kind, text, bytes = Buffer.alloc(0) }: Frame): void {
    if (this.#current) this.#current.hasSpoken ||= kind !== frameKind.missing && kind !== frameKind.took;
    switch (kind) {
      case frameKind.ready:
        this.#isReady = true;
        return this.#ready.resolve();
      case frameKind.broken:
        if (!this.#isReady) return this.#ready.reject(new RunnerStartError(text));
        // The plugin called what is closed. Nothing that this runner says afterwards counts.
        return this.#kill(pluginError(text));
      case frameKind.log:
        this.#current?.logs.add(decodeText(text));
        return;
      case frameKind.missing: {
        const current = this.#current;
        // Only once in a run, or a runner could restart its time again and again.
        if (current?.isProgramSent) throw new Error('The runner asked for a program that it was sent.');
        if (!current) return;
        current.isProgramSent = true;
        void this.#sendMissing(current);
        return;
      }
      case frameKind.took: {
        this.#requireCalls();
        const reported = Number(text);
        if (!(reported >= 0)) throw new Error('The runner reported no time.');
        if (this.#current) this.#current.reported = reported;
        return;
      }
      case frameKind.result:
        return this.#settle({ result: checkOutput(decodeText(text)) });
      case frameKind.error:
        return this.#settle({ error: decodeError(text) });
      case frameKind.suspended:
        this.#requireCalls();
        return this.#settle({ suspended: bytes });
      case frameKind.call:
        return this.#requireCalls().call(bytes);
      case frameKind.timer: {
        const [id, delay] = JSON.parse(text) as [unknown, unknown];
        return this.#requireCalls().startTimer(id, delay);
      }
      case frameKind.stopTimer:
        return this.#requireCalls().stopTimer(Number(text));
      default:
        throw new Error(`The runner sent a frame of the unknown kind ${kind}.`);
    }
  }

  #requireCalls(): TurnCalls {
    const calls = this.#current?.calls;
    if (!calls) throw new Error('The runner made a call for a run that can make none.');
    return calls;
  }

  #settle(outcome: TurnOutcome): void {
    this.#current?.resolve(outcome);
  }

  #handleExit(reason: string): void {
    this.#isUsable = false;
    this.#ready.reject(new RunnerStartError(`its process ended (${reason}).`));
    if (!this.#current) return;
    if (this.#isClosed) this.#current.reject(new Error('The runner was closed.'));
    else if (this.#killedFor || this.#current.hasSpoken)
      this.#settle({ error: this.#killedFor ?? crashed(reason) });
    else this.#settle({ error: crashed(reason), isLost: true });
  }

  #kill(reason: RunError): void {
    this.#isUsable = false;
    this.#killedFor ??= reason;
    this.#process.kill();
  }
}

const crashed = (reason: string): RunError => ({
  code: 'runner-crashed',
  message: `The process that ran the plugin ended unexpectedly (${reason}).`,
});
