import type { ChildProcess } from 'node:child_process';
import { dirname } from 'node:path';
import type { Duplex } from 'node:stream';
import { errorMessage } from '../../error-message.ts';
import { encodeFrame, FrameReader } from '../../processes/frames.ts';
import type { Frame } from '../../processes/frames.ts';
import { describeEnd, startIsolated, startNative } from '../../processes/isolated-process.ts';
import type { IsolatedProcess } from '../../processes/isolated-process.ts';
import { setKeepsAlive } from '../../processes/keep-alive.ts';
import { residentMemory } from '../../processes/memory.ts';
import { codeOf } from '../../processes/package-folders.ts';
import type { PooledProcess } from '../../processes/process-pool.ts';
import { channel, frameKind } from './tool-protocol.ts';
import { mebibyte } from '../../units.ts';

/** How often memory is checked during a job, in ms. */
const watchInterval = 50;

/** How long a tool may take to come up, in ms. It takes less than a second where the machine is not busy. */
const startTime = 60_000;

// Both keep memory low: garbage is collected early, and `serveTool` can collect it when the process is idle.
const engineOptions = ['--max-semi-space-size=8', '--expose-gc'];

/** How much of a process's standard error is kept, in characters: its end says why an engine aborted. */
const stderrTailLimit = 4096;

export interface ToolOptions {
  /** The program of the tool's process, which calls `serveTool`. */
  readonly file: URL;
  readonly args?: readonly string[];
  /** The dependencies of the service that it loads. */
  readonly packages: readonly string[];
  /** Files and folders beyond the service's own code that it may read. */
  readonly readable?: readonly string[];
  readonly needs?: readonly 'addons'[] | undefined;
  readonly nodeOptions?: readonly string[];
  /** A native program that the tool works with: its output is descriptor 0 of the tool's process, its input descriptor 1. */
  readonly helper?: { readonly command: string; readonly args: readonly string[] } | undefined;
  /** Bytes of memory, of the tool and the native program together. */
  readonly memory: number;
  /** The longest reply of the tool, in bytes. */
  readonly replyLimit: number;
  /** Its names in error messages. */
  readonly labels: {
    /** Such as "The compiler". */
    readonly tool: string;
    /** Such as "The build". */
    readonly job: string;
  };
}

/** A job that failed, with the reason. */
interface Failure {
  readonly failed: string;
}

/** How a job ended: with the tool's reply, or with the reason why there is none. */
type JobOutcome = { readonly reply: string } | Failure;

/**
 * The process of a tool that works on what users write, for a pool. It does one job at a time, and cannot be used again once a job
 * met a limit or failed. Each tool has a subclass with a method for its jobs.
 */
export class ToolProcess implements PooledProcess {
  readonly #options: ToolOptions;
  readonly #processes: readonly IsolatedProcess[];
  readonly #channel: Duplex;
  readonly #frames: FrameReader;
  readonly #ready = Promise.withResolvers<void>();
  #settle: ((outcome: JobOutcome) => void) | undefined;
  #stderrTail = '';
  #isUsable = true;

  /** Throws where the system refuses a process. */
  constructor(options: ToolOptions) {
    this.#options = options;
    this.#frames = new FrameReader(options.replyLimit);
    const { tool, native } = startProcesses(options);
    this.#processes = native ? [tool, native] : [tool];
    this.#channel = tool.child.stdio[channel] as Duplex;
    this.#channel.on('data', (chunk: Buffer) => this.#handleData(chunk));
    // Writing to a process that has just ended fails; its end is handled below.
    this.#channel.on('error', () => {});
    this.#watchEnd(tool.child, (reason) => this.#handleExit(reason));
    if (native) {
      this.#watchEnd(native.child, (reason) => {
        // The native program also ends when the tool has ended. Where the tool has not, it cannot go on without the program.
        if (tool.child.exitCode === null && tool.child.signalCode === null) {
          this.#handleExit(`cannot go on: the program that it works with ${reason}`);
        }
      });
    }
    const timer = setTimeout(() => this.#handleExit(`did not come up in ${startTime / 1000} s`), startTime);
    const handleStarted = () => {
      clearTimeout(timer);
      this.#setKeepsAlive(this.#settle !== undefined);
    };
    this.#ready.promise.then(handleStarted, handleStarted);
  }

  /** Whether it can take another job. */
  get isUsable(): boolean {
    return this.#isUsable;
  }

  /** The ids of the tool's process and of the native program that it works with. */
  get pids(): readonly number[] {
    return this.#processes.flatMap(({ pid }) => pid() ?? []);
  }

  /** Bytes of the machine's memory that these processes hold. */
  get memory(): number {
    return this.pids.reduce((sum, pid) => sum + residentMemory(pid), 0);
  }

  /** Resolves once the tool is warm; rejects when it does not work on this machine. */
  get ready(): Promise<void> {
    return this.#ready.promise;
  }

  /**
   * Gives the tool a job, once it is warm. Rejects where it does not work on this machine.
   * @param time the limit of its time, in ms, which begins to count only then
   * @param decode reads the reply; throws for a malformed one, after which nothing else the process sends can be trusted
   */
  protected async request<T>(text: string, time: number, decode: (reply: string) => T): Promise<T | Failure> {
    await this.ready;
    const done = await this.#sendJob(text, time);
    if ('failed' in done) return done;
    try {
      return decode(done.reply);
    } catch {
      return { failed: this.#rejectReply() };
    }
  }

  async #sendJob(text: string, time: number): Promise<JobOutcome> {
    const { promise, resolve } = Promise.withResolvers<JobOutcome>();
    this.#settle = resolve;
    this.#setKeepsAlive(true);
    const timer = setTimeout(
      () =>
        this.#fail(
          `${this.#options.labels.job} took more than ${time / 1000} s, which is the limit of time.`,
        ),
      time,
    );
    const watch = setInterval(() => {
      if (this.memory > this.#options.memory) this.#fail(this.#overMemory);
    }, watchInterval);
    try {
      this.#channel.write(encodeFrame(frameKind.job, text));
      return await promise;
    } finally {
      this.#settle = undefined;
      this.#setKeepsAlive(false);
      clearTimeout(timer);
      clearInterval(watch);
    }
  }

  /** Ends the process at once. An unfinished job fails. */
  close(): void {
    this.#isUsable = false;
    for (const { kill } of this.#processes) kill();
  }

  /** Ends the process because of a malformed reply. Returns the message. */
  #rejectReply(): string {
    this.close();
    return `${this.#options.labels.tool} sent a reply that the service does not accept.`;
  }

  get #overMemory(): string {
    const { memory, labels } = this.#options;
    return `${labels.job} needed more than ${memory / mebibyte} MiB, which is the limit of memory.`;
  }

  #fail(reason: string): void {
    this.close();
    this.#settle?.({ failed: reason });
  }

  #handleData(chunk: Buffer): void {
    try {
      for (const frame of this.#frames.push(chunk)) this.#handleFrame(frame);
    } catch {
      // The frame is too long or malformed.
      this.#fail(this.#rejectReply());
    }
  }

  #handleFrame({ kind, text }: Frame): void {
    switch (kind) {
      case frameKind.ready:
        return this.#ready.resolve();
      case frameKind.broken:
        return this.#ready.reject(new Error(`could not be loaded (${text})`));
      case frameKind.reply:
        // There is no job. If the reply were kept, it could be taken for the reply to the next job, which may be another user's.
        if (!this.#settle) throw new Error('The tool replied without having a job.');
        return this.#settle({ reply: text });
      default:
        throw new Error(`The tool sent a frame of the unknown kind ${kind}.`);
    }
  }

  #watchEnd(child: ChildProcess, onEnd: (reason: string) => void): void {
    child.stderr?.on('data', (text: Buffer) => {
      this.#stderrTail = (this.#stderrTail + text.toString()).slice(-stderrTailLimit);
    });
    child.on('error', (error) => onEnd(`could not work (${error.message})`));
    // Not `exit`, after which output may still arrive.
    child.on('close', (code, signal) => onEnd(`ended unexpectedly (${describeEnd(code, signal)})`));
  }

  #handleExit(reason: string): void {
    this.#ready.reject(new Error(reason));
    this.#fail(
      /out of memory|cannot allocate memory/i.test(this.#stderrTail)
        ? this.#overMemory
        : `${this.#options.labels.tool} ${reason}. Try again; if it happens with this source alone, it may nest too deeply.`,
    );
  }

  #setKeepsAlive(keepsAlive: boolean): void {
    for (const { child } of this.#processes) setKeepsAlive(child, keepsAlive);
  }
}

/**
 * Starts a tool and its native program. The tool may start no programs, so its program is started here, and the two are connected.
 * Throws where the system refuses one of the two processes; then neither is left.
 */
function startProcesses({
  file,
  args = [],
  packages,
  readable = [],
  needs,
  nodeOptions = [],
  helper,
  memory,
}: ToolOptions) {
  let native: IsolatedProcess | undefined;
  try {
    native =
      helper &&
      startNative({
        ...helper,
        // The files that such a program reads by itself are beside it.
        visible: [dirname(helper.command)],
        memoryLimit: memory,
        stdio: ['pipe', 'pipe', 'pipe'],
      });
    const { stdin, stdout } = native?.child ?? {};
    const tool = startIsolated({
      file,
      args,
      readable: [...codeOf(packages), ...readable],
      ...(needs && { needs }),
      nodeOptions: [...engineOptions, ...nodeOptions],
      memoryLimit: memory,
      stdio: [stdout ?? 'ignore', stdin ?? 'ignore', 'pipe', 'pipe'],
    });
    stdin?.destroy();
    stdout?.destroy();
    return { tool, native };
  } catch (error) {
    // Its error is of no interest where the tool is not there.
    native?.child.once('error', () => {});
    native?.kill();
    for (const pipe of native?.child.stdio ?? []) pipe?.destroy();
    throw new Error(`could not be started: ${errorMessage(error)}`, { cause: error });
  }
}
