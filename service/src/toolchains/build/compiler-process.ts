import type { ChildProcess } from 'node:child_process';
import { dirname } from 'node:path';
import type { Duplex } from 'node:stream';
import { moduleUrl } from '../../processes/module-url.ts';
import { serviceCode } from '../../processes/package-folders.ts';
import { startIsolated, startNative } from '../../processes/isolated-process.ts';
import type { IsolatedProcess } from '../../processes/isolated-process.ts';
import type { LoadedLanguage } from '../languages.ts';
import { encodeFrame, FrameReader } from '../../processes/frames.ts';
import type { Frame } from '../../processes/frames.ts';
import { channel, frameKind } from './compiler-protocol.ts';
import { decodeReport } from './compiler-report.ts';
import { buildLimits, messageLimit } from './limits.ts';
import type { BuildEnd, BuildLimits } from './limits.ts';
import { residentMemory } from '../../processes/memory.ts';

// A process that holds this much of its limit after a build makes place for a fresh one, so that the next build has its room.
const wornOut = 0.85;

/** How often a build's memory is looked at, in ms. */
const watchInterval = 50;

/** How long a compiler may take to come up, in ms. It takes less than a second where the machine is not busy. */
const startTime = 60_000;

// For memory: what builds leave behind is collected early, and given back when there is nothing to build.
const engineOptions = ['--max-semi-space-size=8', '--expose-gc'];

/** What is kept of what a process writes to its standard error, in characters: an engine's last words. */
const lastWordsLimit = 4096;

export interface CompilerOptions {
  readonly limits?: BuildLimits;
  /** Files and folders beyond the service's own code that it may read. */
  readonly readable?: readonly string[];
}

/** The process of a language's compiler: compiles one source at a time, and is gone after one that had to be ended. */
export class CompilerProcess {
  readonly #limits: BuildLimits;
  readonly #processes: readonly IsolatedProcess[];
  readonly #channel: Duplex;
  readonly #frames = new FrameReader(messageLimit);
  readonly #ready = Promise.withResolvers<void>();
  #settle: ((end: BuildEnd) => void) | undefined;
  #lastWords = '';
  #isUsable = true;

  constructor(language: LoadedLanguage, { limits = buildLimits, readable = [] }: CompilerOptions = {}) {
    this.#limits = limits;
    const helper = language.helper?.();
    // The compiler may start nothing, so that the program it works with is started here, and the two are connected.
    const native =
      helper &&
      startNative({
        ...helper,
        // What such a program reads by itself is beside it.
        visible: [dirname(helper.command)],
        memoryLimit: limits.memory,
        stdio: ['pipe', 'pipe', 'pipe'],
      });
    const { stdin, stdout } = native?.child ?? {};
    const compiler = startIsolated({
      file: moduleUrl('./compiler-main', import.meta.url),
      args: [language.module.href],
      readable: [...serviceCode(), ...readable],
      ...(language.needs && { needs: language.needs }),
      nodeOptions: [...engineOptions, ...(language.engineOptions ?? [])],
      memoryLimit: limits.memory,
      stdio: [stdout ?? 'ignore', stdin ?? 'ignore', 'pipe', 'pipe'],
    });
    stdin?.destroy();
    stdout?.destroy();
    this.#processes = native ? [compiler, native] : [compiler];
    this.#channel = compiler.child.stdio[channel] as Duplex;
    this.#channel.on('data', (chunk: Buffer) => this.#handleData(chunk));
    // Writing to a process that has just ended fails; its end is handled below.
    this.#channel.on('error', () => {});
    this.#watchEnd(compiler.child, (reason) => this.#handleExit(reason));
    if (native) {
      this.#watchEnd(native.child, (reason) => {
        // It also ends because the compiler has; else the compiler is of no use without it.
        if (compiler.child.exitCode === null && compiler.child.signalCode === null) {
          this.#handleExit(`cannot go on: the program that it works with ${reason}`);
        }
      });
    }
    const timer = setTimeout(() => this.#handleExit(`did not come up in ${startTime / 1000} s`), startTime);
    const handleStarted = () => {
      clearTimeout(timer);
      this.#setHeld(this.#settle !== undefined);
    };
    this.#ready.promise.then(handleStarted, handleStarted);
  }

  /** Whether it can take another source. */
  get isUsable(): boolean {
    return this.#isUsable;
  }

  /** The ids of the compiler's process and of the native program that it works with. */
  get pids(): readonly number[] {
    return this.#processes.flatMap(({ child }) => child.pid ?? []);
  }

  /** Resolves once the compiler is warm; rejects when it does not work on this machine. */
  get ready(): Promise<void> {
    return this.#ready.promise;
  }

  /** Compiles a source, once the compiler is warm; the limits are for what follows. `time`: the build's own limit, in ms. */
  async build(source: string, time = this.#limits.time): Promise<BuildEnd> {
    try {
      await this.#ready.promise;
    } catch (error) {
      return notWorking(error);
    }
    const { promise, resolve } = Promise.withResolvers<BuildEnd>();
    this.#settle = resolve;
    this.#setHeld(true);
    const timer = setTimeout(
      () => this.#fail(`The build took more than ${time / 1000} s, which is the limit of time.`),
      time,
    );
    const watch = setInterval(() => {
      const { memory } = this.#limits;
      const held = this.pids.reduce((sum, pid) => sum + residentMemory(pid), 0);
      if (held > memory) this.#fail(this.#overMemory);
    }, watchInterval);
    try {
      this.#channel.write(encodeFrame(frameKind.compile, source));
      return await promise;
    } finally {
      this.#settle = undefined;
      this.#setHeld(false);
      clearTimeout(timer);
      clearInterval(watch);
    }
  }

  /** Ends the process at once. A build that is under way ends with an error. */
  close(): void {
    this.#isUsable = false;
    for (const { kill } of this.#processes) kill();
  }

  get #overMemory(): string {
    return `The build needed more than ${this.#limits.memory / 2 ** 20} MiB, which is the limit of memory.`;
  }

  #fail(reason: string): void {
    this.close();
    this.#settle?.({ failed: reason });
  }

  #handleData(chunk: Buffer): void {
    try {
      for (const frame of this.#frames.push(chunk)) this.#handleFrame(frame);
    } catch {
      // Too long, or not as agreed on: what it says next means nothing.
      this.#fail('The compiler gave an answer that the service does not take.');
    }
  }

  #handleFrame({ kind, text }: Frame): void {
    switch (kind) {
      case frameKind.ready:
        return this.#ready.resolve();
      case frameKind.broken:
        return this.#ready.reject(new Error(`could not be loaded (${text})`));
      case frameKind.end: {
        const { end, memory } = decodeReport(text);
        // A compiler that failed may be in no state to go on, or have lost the program that it works with.
        if ('failed' in end || memory > wornOut * this.#limits.memory) this.close();
        return this.#settle?.(end);
      }
      default:
        throw new Error(`The compiler sent a frame of the unknown kind ${kind}.`);
    }
  }

  #watchEnd(child: ChildProcess, onEnd: (reason: string) => void): void {
    child.stderr?.on('data', (text: Buffer) => {
      this.#lastWords = (this.#lastWords + text.toString()).slice(-lastWordsLimit);
    });
    child.on('error', (error) => onEnd(`could not work (${error.message})`));
    // Not its exit, after which its last words may still come.
    child.on('close', (code, signal) => onEnd(`ended unexpectedly (${signal ?? `exit code ${code}`})`));
  }

  #handleExit(reason: string): void {
    this.#ready.reject(new Error(reason));
    this.#fail(
      /out of memory|cannot allocate memory/i.test(this.#lastWords)
        ? this.#overMemory
        : `The compiler ${reason}. Try again; if it happens with this source alone, it may nest too deeply.`,
    );
  }

  /** A compiler that waits for work is no reason for the service's process to go on. */
  #setHeld(isHeld: boolean): void {
    const method = isHeld ? 'ref' : 'unref';
    for (const { child } of this.#processes) {
      child[method]();
      for (const stream of child.stdio)
        if (!stream?.destroyed) (stream as Partial<Refable> | null)?.[method]?.();
    }
  }
}

interface Refable {
  ref(): void;
  unref(): void;
}

/** The answer to a build whose compiler does not come up. */
export const notWorking = (error: unknown): BuildEnd => ({
  failed: `The toolchain does not work on this machine: the compiler ${
    error instanceof Error ? error.message : String(error)
  }`,
});
