import type { Readable, Writable } from 'node:stream';
import { LRUCache } from 'lru-cache';
import { decodeError } from './decode-error.ts';
import { encodeFrame, FrameReader } from '../processes/frames.ts';
import type { Frame } from '../processes/frames.ts';
import { Logs } from './logs.ts';
import { checkOutput, defaultLimits, limitError, mebibyte } from './outcome.ts';
import type { AdjustableLimits, LoggedOutcome, RunOutcome, RunError } from './outcome.ts';
import type { Program, StoredProgram } from '../plugins/program.ts';
import { decodeText, encodeRequest, frameKind } from './protocol.ts';
import { residentMemory } from '../processes/memory.ts';
import { moduleUrl } from '../processes/module-url.ts';
import { serviceCode } from '../processes/package-folders.ts';
import { startIsolated } from '../processes/isolated-process.ts';
import type { IsolatedProcess } from '../processes/isolated-process.ts';

const main = moduleUrl('./runner-main', import.meta.url);

/**
 * How long a runner may take over the limit of time, in ms, before it is killed. A script ends by itself at the limit;
 * a module, and a loop inside the engine, do not.
 */
const grace = 100;

/**
 * How much memory a runner may hold, in bytes: itself, one run, the programs that it keeps, and garbage. This and the two
 * that follow are for the default limit of a run's memory, and grow with it.
 */
const runnerMemory = 320 * mebibyte;

/**
 * A runner that holds more than this after a run, in bytes, makes place for a fresh one. What is between here and
 * {@link runnerMemory} is for the next run, which else would be ended for what the runs of others have left.
 */
const recycleMemory = 192 * mebibyte;

/** How long a runner may take to come up, in ms. It takes 0.1 s on a quiet machine. */
const startTime = 30_000;

/** After how much time of running, in ms, it is looked at what a runner holds: in less, no run can take much. */
const recycleInterval = 5;

/** What the system lets a runner ask for, in bytes, as the second line: more than is ever watched. */
const systemMemory = 512 * mebibyte;

/**
 * How deep a runner's stack may be, in KiB: so deep that the engine for scripts meets its own limit first, which is the
 * same in every run. With Node's limit it depends on what the runner has compiled before. Linux and macOS give 8 MiB.
 */
const stackOptions = process.platform === 'win32' ? [] : ['--stack-size=4000'];

export interface RunnerOptions {
  /** Of each run. */
  readonly limits?: AdjustableLimits;
  /** What {@link RunnerProcess.checkMemory} goes by, in bytes (default: 320 MiB). */
  readonly watchedMemory?: number;
  /** What it may hold after a run and still be used, in bytes (default: 192 MiB). */
  readonly recycleMemory?: number;
}

/** The longest text that a runner may send, in bytes: an output or an entry of logs, which may be escaped. */
const frameLimit = 8 * mebibyte;

/** A runner ended, or reported that it cannot work, before it could take a run. */
export class RunnerStartError extends Error {
  override readonly name = 'RunnerStartError';

  constructor(reason: string) {
    super(`The sandbox does not work on this machine: ${reason}`);
  }
}

/** A run that is under way. */
interface CurrentRun {
  readonly program: StoredProgram;
  readonly input: string;
  /** Counts again what the runner has counted. */
  readonly logs: Logs;
  readonly began: number;
  timer: NodeJS.Timeout;
  /** Whether the runner was given the program with this run. */
  isProgramSent: boolean;
  readonly resolve: (outcome: LoggedOutcome) => void;
  readonly reject: (reason: unknown) => void;
}

/** One runner process, which runs one program at a time. It is gone after a run that had to be ended by killing it. */
export class RunnerProcess {
  readonly #process: IsolatedProcess;
  readonly #input: Writable;
  readonly #ready = Promise.withResolvers<void>();
  readonly #frames = new FrameReader(frameLimit);
  // The programs that it was given; it may have dropped some since.
  readonly #given = new LRUCache<string, true>({ max: 10_000 });
  readonly #limits: AdjustableLimits;
  readonly #watchedMemory: number;
  readonly #recycleMemory: number;
  #timeSinceCheck = 0;
  #current: CurrentRun | undefined;
  #killedFor: RunError | undefined;
  #isUsable = true;
  #lastTime = 0;
  #isClosed = false;

  constructor(options: RunnerOptions = {}) {
    const limits = (this.#limits = options.limits ?? defaultLimits);
    const more = Math.max(0, limits.memory - defaultLimits.memory);
    // What a run has held may be there a while longer as garbage, beside what the next one holds.
    this.#watchedMemory = options.watchedMemory ?? runnerMemory + 2 * more;
    this.#recycleMemory = options.recycleMemory ?? recycleMemory + more;
    this.#process = startIsolated({
      file: main,
      args: [String(limits.time), String(limits.memory)],
      readable: serviceCode(),
      memoryLimit: systemMemory + 3 * more,
      heapLimit: 64,
      nodeOptions: stackOptions,
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    const { child } = this.#process;
    this.#input = child.stdin as Writable;
    this.#ready.promise.catch(() => {});
    (child.stdout as Readable).on('data', (chunk: Buffer) => this.#handleData(chunk));
    // Writing to a runner that has just ended fails; its end is handled below.
    this.#input.on('error', () => {});
    child.on('error', (error) => this.#handleExit(error.message));
    // Not its exit, after which what it said last may still come.
    child.on('close', (code, signal) => this.#handleExit(signal ?? `exit code ${code}`));
    const late = setTimeout(() => this.#process.kill(), startTime).unref();
    const cancel = () => clearTimeout(late);
    this.#ready.promise.then(cancel, cancel);
    this.#setHeld(false);
  }

  /** Whether it can take another run. */
  get isUsable(): boolean {
    return this.#isUsable;
  }

  get pid(): number | undefined {
    return this.#process.child.pid;
  }

  /** How long the last run took, in ms, from when the runner was given it. */
  get lastTime(): number {
    return this.#lastTime;
  }

  /** Whether a program was run here, so that its next run is quick. */
  knows(hash: string): boolean {
    return this.#given.has(hash);
  }

  /** Resolves once it can take a run; rejects when it cannot work on this machine. */
  get ready(): Promise<void> {
    return this.#ready.promise;
  }

  /**
   * Runs a program; only one at a time. Rejects with a {@link RunnerStartError} when the runner does not come up or has
   * ended before, and with another error when it was closed meanwhile.
   */
  async run(program: StoredProgram, input: string): Promise<LoggedOutcome> {
    this.#setHeld(true);
    try {
      await this.#ready.promise;
      // Nothing would ever come from it, and the plugin has not begun.
      if (!this.#isUsable) throw new RunnerStartError('its process has ended.');
      // Before the run's time begins, which is not for reading from the database.
      const loaded = this.knows(program.hash) ? undefined : await program.load();
      if (!this.#isUsable) throw new RunnerStartError('its process has ended.');
      return await new Promise<LoggedOutcome>((resolve, reject) => {
        const current: CurrentRun = {
          program,
          input,
          logs: new Logs(),
          began: performance.now(),
          timer: this.#startTimer(),
          isProgramSent: loaded !== undefined,
          resolve,
          reject,
        };
        this.#current = current;
        this.#send(current, loaded);
      });
    } finally {
      clearTimeout(this.#current?.timer);
      this.#lastTime = this.#current ? performance.now() - this.#current.began : 0;
      if (this.#current) this.#recycleIfLarge(this.#lastTime);
      this.#current = undefined;
      this.#setHeld(false);
    }
  }

  /** Kills the process if its run has made it hold more memory than it may. Does nothing while no run takes long. */
  checkMemory(): void {
    if (!this.#current || residentMemory(this.pid) < this.#watchedMemory) return;
    this.#kill(limitError('memory-limit', this.#limits));
  }

  /** Ends the process when it holds too much after a run. `time`: how long that took, in ms. */
  #recycleIfLarge(time: number): void {
    this.#timeSinceCheck += time;
    if (!this.#isUsable || this.#timeSinceCheck < recycleInterval) return;
    this.#timeSinceCheck = 0;
    if (residentMemory(this.pid) < this.#recycleMemory) return;
    this.#isUsable = false;
    this.#process.kill();
  }

  /** Ends the process at once. A run that is under way is rejected. */
  async close(): Promise<void> {
    const { child } = this.#process;
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = new Promise((resolve) => child.once('exit', resolve));
    this.#isClosed = true;
    // Whoever waits for its end would wait for ever if this process ended meanwhile for want of work.
    this.#setHeld(true);
    this.#process.kill();
    await exited;
  }

  #startTimer(): NodeJS.Timeout {
    return setTimeout(() => this.#kill(limitError('time-limit', this.#limits)), this.#limits.time + grace);
  }

  #send({ program: { hash, isTyped }, input }: CurrentRun, program: Program | undefined): void {
    const request = encodeRequest({ hash, isTyped, input, program });
    this.#given.set(hash, true);
    this.#input.write(encodeFrame(frameKind.run, request));
  }

  /** Gives a runner the program of its run, which it has dropped. The run's time begins anew. */
  async #sendMissing(current: CurrentRun): Promise<void> {
    clearTimeout(current.timer);
    try {
      const program = await current.program.load();
      // It may have ended meanwhile.
      if (this.#current !== current) return;
      current.timer = this.#startTimer();
      this.#send(current, program);
    } catch (error) {
      current.reject(error);
    }
  }

  #handleData(chunk: Buffer): void {
    try {
      for (const frame of this.#frames.push(chunk)) this.#handleFrame(frame);
    } catch (error) {
      // It does not keep to the protocol, so nothing that it says is to be trusted.
      this.#kill(crashed(error instanceof Error ? error.message : String(error)));
    }
  }

  #handleFrame({ kind, text }: Frame): void {
    switch (kind) {
      case frameKind.ready:
        return this.#ready.resolve();
      case frameKind.broken:
        return this.#ready.reject(new RunnerStartError(text));
      case frameKind.log:
        this.#current?.logs.add(decodeText(text));
        return;
      case frameKind.missing: {
        const current = this.#current;
        // Once for a run, or a runner could have its time begin anew for ever.
        if (current?.isProgramSent) throw new Error('The runner asked for a program that it was given.');
        if (!current) return;
        current.isProgramSent = true;
        void this.#sendMissing(current);
        return;
      }
      case frameKind.result:
        return this.#settle({ result: checkOutput(decodeText(text)) });
      case frameKind.error:
        return this.#settle({ error: decodeError(text) });
      default:
        throw new Error(`The runner sent a frame of the unknown kind ${kind}.`);
    }
  }

  #settle(outcome: RunOutcome): void {
    const { resolve, logs } = this.#current ?? {};
    resolve?.({ ...outcome, logs: logs?.entries ?? [] });
  }

  #handleExit(reason: string): void {
    this.#isUsable = false;
    this.#ready.reject(new RunnerStartError(`its process ended (${reason}).`));
    if (!this.#current) return;
    if (this.#isClosed) this.#current.reject(new Error('The runner was closed.'));
    else this.#settle({ error: this.#killedFor ?? crashed(reason) });
  }

  #kill(reason: RunError): void {
    this.#isUsable = false;
    this.#killedFor ??= reason;
    this.#process.kill();
  }

  /** A runner that waits for work is no reason for the service's process to go on. */
  #setHeld(isHeld: boolean): void {
    const method = isHeld ? 'ref' : 'unref';
    const { child } = this.#process;
    for (const held of [child, child.stdin, child.stdout]) (held as Partial<Refable>)[method]?.();
  }
}

interface Refable {
  ref(): void;
  unref(): void;
}

const crashed = (reason: string): RunError => ({
  code: 'runner-crashed',
  message: `The process that ran the plugin ended unexpectedly (${reason}).`,
});
