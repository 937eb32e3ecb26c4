import type { Duplex, Readable } from 'node:stream';
import { LRUCache } from 'lru-cache';
import { errorMessage } from '../../error-message.ts';
import type { Program, StoredProgram } from '../../plugins/program.ts';
import { encodeFrame, FrameReader } from '../../processes/frames.ts';
import type { Frame } from '../../processes/frames.ts';
import { describeEnd, startIsolated } from '../../processes/isolated-process.ts';
import type { IsolatedProcess } from '../../processes/isolated-process.ts';
import { setKeepsAlive } from '../../processes/keep-alive.ts';
import { moduleUrl } from '../../processes/module-url.ts';
import { codeOf } from '../../processes/package-folders.ts';
import type { PooledProcess } from '../../processes/process-pool.ts';
import { mebibyte } from '../../units.ts';
import { decodeError } from '../decode-report.ts';
import { Logs } from '../logs.ts';
import { checkOutput, limitError, pluginError } from '../outcome.ts';
import type { LoggedOutcome, RunError, RunOutcome } from '../outcome.ts';
import { decodeText, encodeJob, frameKind } from '../protocol.ts';
import type { AdjustableLimits } from '../run-limits.ts';
import { frameLimit, killDelay, stackOptions } from '../runner-limits.ts';
import { RunnerStartError } from '../runner-process.ts';
import { imageDescriptor, longestImage } from './python-protocol.ts';

const main = moduleUrl('./python-main', import.meta.url);

/** What the system lets a runner allocate beyond the memory of runs, in bytes: the interpreter's code and memory, twice while it starts. */
const ownMemory = 512 * mebibyte;

/** How long a runner may take to come up, in ms. The first takes 2 s on a quiet machine, the later ones 0.3 s. */
const startTime = 120_000;

interface CurrentRun {
  readonly program: StoredProgram;
  readonly input: string;
  /** Where they are not those of the runner. */
  readonly limits: AdjustableLimits | undefined;
  /** Applies the limits of logs again, because the runner is not trusted. */
  readonly logs: Logs;
  began: number;
  timer: NodeJS.Timeout;
  isProgramSent: boolean;
  readonly resolve: (outcome: LoggedOutcome) => void;
  readonly reject: (reason: unknown) => void;
}

/** The memory of an interpreter that has started, once one has. It comes from a runner that has not run any plugin yet. */
export interface PythonImage {
  bytes?: Buffer;
}

/** One process that runs Python plugins, one at a time. It cannot be used again after a run that it was killed for. */
export class PythonProcess implements PooledProcess {
  readonly #process: IsolatedProcess;
  readonly #ready = Promise.withResolvers<void>();
  readonly #frames = new FrameReader(frameLimit);
  readonly #sentPrograms = new LRUCache<string, true>({ max: 10_000 });
  readonly #limits: AdjustableLimits;
  #current: CurrentRun | undefined;
  #killedFor: RunError | undefined;
  #isUsable = true;
  #isReady = false;
  #isClosed = false;
  #lastDuration = 0;

  /**
   * Throws a {@link RunnerStartError} where the system refuses a process.
   * @param limits.memory bytes that a run may take beyond the interpreter's own memory
   */
  constructor(limits: AdjustableLimits, image: PythonImage) {
    this.#limits = limits;
    this.#process = startRunner(limits, image.bytes?.length ?? 0);
    const { child } = this.#process;
    this.#ready.promise.catch(() => {});
    const channel = child.stdio[imageDescriptor] as Duplex;
    channel.on('error', () => {});
    if (image.bytes) channel.end(image.bytes);
    else readImage(channel, (bytes) => (image.bytes ??= bytes));
    (child.stdout as Readable).on('data', (chunk: Buffer) => this.#handleData(chunk));
    child.stdin?.on('error', () => {});
    child.on('error', (error) => this.#handleExit(error.message));
    child.on('close', (code, signal) => this.#handleExit(describeEnd(code, signal)));
    const late = setTimeout(() => this.#process.kill(), startTime).unref();
    const handleStarted = () => {
      clearTimeout(late);
      setKeepsAlive(child, this.#current !== undefined);
    };
    this.#ready.promise.then(handleStarted, handleStarted);
  }

  get isUsable(): boolean {
    return this.#isUsable;
  }

  get ready(): Promise<void> {
    return this.#ready.promise;
  }

  get pid(): number | undefined {
    return this.#process.pid();
  }

  /** How long the last run took, in ms. */
  get lastDuration(): number {
    return this.#lastDuration;
  }

  /** Whether the runner was sent a program before. */
  knows(hash: string): boolean {
    return this.#sentPrograms.has(hash);
  }

  /**
   * Runs a program; only one at a time, and only once it is {@link ready}.
   * @param limits at most those of the runner (default: those)
   */
  async run(program: StoredProgram, input: string, limits?: AdjustableLimits): Promise<LoggedOutcome> {
    const { child } = this.#process;
    setKeepsAlive(child, true);
    try {
      const loaded = this.knows(program.hash) ? undefined : await program.load();
      if (!this.#isUsable) throw new RunnerStartError('its process has ended.');
      return await new Promise<LoggedOutcome>((resolve, reject) => {
        this.#current = {
          program,
          input,
          limits,
          logs: new Logs(),
          began: performance.now(),
          timer: this.#startTimer(limits),
          isProgramSent: loaded !== undefined,
          resolve,
          reject,
        };
        this.#send(this.#current, loaded);
      });
    } finally {
      clearTimeout(this.#current?.timer);
      this.#lastDuration = this.#current ? performance.now() - this.#current.began : 0;
      this.#current = undefined;
      setKeepsAlive(child, false);
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#isUsable = false;
    this.#process.kill();
  }

  #startTimer(limits = this.#limits): NodeJS.Timeout {
    return setTimeout(() => this.#kill(limitError('time-limit', limits)), limits.time + killDelay);
  }

  #send({ program: { hash, isTyped }, input, limits }: CurrentRun, program: Program | undefined): void {
    this.#sentPrograms.set(hash, true);
    this.#process.child.stdin?.write(
      encodeFrame(frameKind.run, encodeJob({ hash, isTyped, input, program, limits })),
    );
  }

  /** Sends the runner the program of its run, which it had evicted. The run's time begins anew. */
  async #sendMissing(current: CurrentRun): Promise<void> {
    clearTimeout(current.timer);
    try {
      const program = await current.program.load();
      if (this.#current !== current) return;
      current.timer = this.#startTimer(current.limits);
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

  #handleFrame({ kind, text }: Frame): void {
    const current = this.#current;
    switch (kind) {
      case frameKind.ready:
        this.#isReady = true;
        return this.#ready.resolve();
      case frameKind.broken:
        if (!this.#isReady) return this.#ready.reject(new RunnerStartError(text));
        // The plugin called what is closed. Nothing that this runner says afterwards counts.
        return this.#kill(pluginError(text));
      case frameKind.log:
        current?.logs.add(decodeText(text));
        return;
      case frameKind.missing:
        if (current?.isProgramSent) throw new Error('The runner asked for a program that it was sent.');
        if (!current) return;
        current.isProgramSent = true;
        void this.#sendMissing(current);
        return;
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
}

/** Reads the memory of an interpreter: its size, and so many bytes. */
function readImage(channel: Duplex, onImage: (bytes: Buffer) => void): void {
  const chunks: Buffer[] = [];
  let length = 0;
  let needed = 4;
  channel.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    length += chunk.length;
    if (needed === 4 && length >= 4) needed += Buffer.concat(chunks).readUInt32LE();
    if (needed > longestImage) {
      channel.destroy();
      return;
    }
    if (needed === 4 || length < needed) return;
    onImage(Buffer.concat(chunks).subarray(4, needed));
    channel.destroy();
  });
}

function startRunner({ time, memory }: AdjustableLimits, imageSize: number): IsolatedProcess {
  try {
    return startIsolated({
      file: main,
      args: [String(time), String(memory), String(imageSize)],
      readable: codeOf(['lru-cache', 'quickjs-wasi', 'pyodide']),
      // The limit of the heap stays above the interpreter's memory: else each growth of that would make the engine collect garbage.
      memoryLimit: ownMemory + 2 * memory,
      nodeOptions: stackOptions,
      stdio: ['pipe', 'pipe', 'ignore', 'pipe'],
    });
  } catch (error) {
    throw new RunnerStartError(errorMessage(error));
  }
}

const crashed = (reason: string): RunError => ({
  code: 'runner-crashed',
  message: `The process that ran the plugin ended unexpectedly (${reason}).`,
});
