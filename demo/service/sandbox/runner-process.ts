import { spawn } from 'node:child_process';
import type { ChildProcessByStdio } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { LRUCache } from 'lru-cache';
import { encodeFrame, FrameReader } from './frames.ts';
import type { Frame } from './frames.ts';
import { limitError, mebibyte, runLimits } from './outcome.ts';
import type { Outcome, RunEnd, RunError } from './outcome.ts';
import type { StoredProgram } from './program.ts';
import { decodeError, decodeText, encodeRequest, frameKind } from './protocol.ts';
import { residentMemory } from '../build/memory.ts';

const main = fileURLToPath(new URL('./runner-main.ts', import.meta.url));

/**
 * How long a runner may take over the limit of time, in ms, before it is killed. A script ends by itself at the limit;
 * a module, and a loop inside the engine, do not.
 */
const grace = 100;

/** How much memory a runner may hold, in bytes: itself, one run, and the programs that it keeps. */
const runnerMemory = 256 * mebibyte;

export interface RunnerOptions {
  /** What {@link RunnerProcess.checkMemory} goes by, in bytes (default: 256 MiB). */
  readonly watchedMemory?: number;
}

/** The longest text that a runner may send, in bytes: an output or an entry of logs, which may be escaped. */
const frameLimit = 8 * mebibyte;

/** A run that is under way. */
interface CurrentRun {
  readonly program: StoredProgram;
  readonly input: string;
  readonly logs: string[];
  readonly began: number;
  readonly timer: NodeJS.Timeout;
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (reason: unknown) => void;
}

/** One runner process, which runs one program at a time. It is gone after a run that had to be ended by killing it. */
export class RunnerProcess {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #ready = Promise.withResolvers<void>();
  readonly #frames = new FrameReader(frameLimit);
  // The programs that it was given; it may have dropped some since.
  readonly #given = new LRUCache<string, true>({ max: 10_000 });
  readonly #watchedMemory: number;
  #current: CurrentRun | undefined;
  #killedFor: RunError | undefined;
  #isUsable = true;

  constructor({ watchedMemory = runnerMemory }: RunnerOptions = {}) {
    this.#watchedMemory = watchedMemory;
    this.#child = spawn(process.execPath, [...runnerFlags(), main], {
      env: {},
      stdio: ['pipe', 'pipe', 'ignore'],
      detached: true,
    });
    this.#ready.promise.catch(() => {});
    this.#child.stdout.on('data', (chunk: Buffer) => this.#handleData(chunk));
    // Writing to a runner that has just ended fails; its end is handled below.
    this.#child.stdin.on('error', () => {});
    this.#child.on('error', (error) => this.#handleExit(error.message));
    this.#child.on('exit', (code, signal) => this.#handleExit(signal ?? `exit code ${code}`));
    this.#setHeld(false);
  }

  /** Whether it can take another run. */
  get isUsable(): boolean {
    return this.#isUsable;
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Whether a program was run here, so that its next run is quick. */
  knows(hash: string): boolean {
    return this.#given.has(hash);
  }

  /** Resolves once it can take a run; rejects when it cannot work on this machine. */
  get ready(): Promise<void> {
    return this.#ready.promise;
  }

  /** Runs a program; only one at a time. Rejects when the runner cannot work, or was closed meanwhile. */
  async run(program: StoredProgram, input: string): Promise<Outcome> {
    this.#setHeld(true);
    try {
      await this.#ready.promise;
      return await new Promise<Outcome>((resolve, reject) => {
        const timer = setTimeout(() => this.#kill(limitError('time-limit')), runLimits.time + grace);
        this.#current = { program, input, logs: [], began: performance.now(), timer, resolve, reject };
        this.#send(!this.knows(program.hash));
      });
    } finally {
      clearTimeout(this.#current?.timer);
      this.#current = undefined;
      this.#setHeld(false);
    }
  }

  /** Kills the process if its run has made it hold more memory than it may. Does nothing while no run takes long. */
  checkMemory(): void {
    if (!this.#current || residentMemory(this.#child.pid) < this.#watchedMemory) return;
    this.#kill(limitError('memory-limit'));
  }

  /** Ends the process at once. A run that is under way is rejected. */
  async close(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#kill(undefined);
    await exited;
  }

  #send(withProgram: boolean): void {
    const { program, input } = this.#current ?? {};
    if (!program || input === undefined) return;
    const { hash } = program;
    const request = encodeRequest({ hash, input, program: withProgram ? program.load() : undefined });
    this.#given.set(hash, true);
    this.#child.stdin.write(encodeFrame(frameKind.run, request));
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
        return this.#ready.reject(new Error(`The sandbox does not work on this machine: ${text}`));
      case frameKind.log:
        this.#current?.logs.push(decodeText(text));
        return;
      case frameKind.missing:
        return this.#send(true);
      case frameKind.result:
        return this.#settle({ result: decodeText(text) });
      case frameKind.error:
        return this.#settle({ error: decodeError(text) });
      default:
        throw new Error(`The runner sent a frame of the unknown kind ${kind}.`);
    }
  }

  #settle(end: RunEnd): void {
    const { resolve, logs } = this.#current ?? {};
    resolve?.({ ...end, logs: logs ?? [] });
  }

  #handleExit(reason: string): void {
    this.#isUsable = false;
    this.#ready.reject(
      new Error(`The sandbox does not work on this machine: its process ended (${reason}).`),
    );
    if (!this.#current) return;
    if (this.#child.killed && !this.#killedFor) this.#current.reject(new Error('The runner was closed.'));
    else this.#settle({ error: this.#killedFor ?? crashed(reason) });
  }

  #kill(reason: RunError | undefined): void {
    this.#isUsable = false;
    this.#killedFor ??= reason;
    this.#child.kill('SIGKILL');
  }

  /** A runner that waits for work is no reason for the service's process to go on. */
  #setHeld(isHeld: boolean): void {
    const method = isHeld ? 'ref' : 'unref';
    this.#child[method]();
    for (const stream of [this.#child.stdin, this.#child.stdout]) (stream as Partial<Refable>)[method]?.();
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

function runnerFlags(): string[] {
  const service = fileURLToPath(new URL('..', import.meta.url));
  const project = fileURLToPath(new URL('../../..', import.meta.url));
  return [
    '--permission',
    ...[service, `${project}package.json`, `${project}node_modules`].map((path) => `--allow-fs-read=${path}`),
    '--max-old-space-size=64',
    '--max-semi-space-size=2',
    '--disable-warning=ExperimentalWarning',
    '--disable-warning=SecurityWarning',
  ];
}
