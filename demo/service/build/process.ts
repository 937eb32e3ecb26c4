import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { LoadedLanguage } from '../languages.ts';
import type { BuildReport } from './child.ts';
import { buildLimits } from './limits.ts';
import type { BuildEnd } from './limits.ts';
import { residentMemory } from './memory.ts';

const child = fileURLToPath(new URL('./child.ts', import.meta.url));
const service = fileURLToPath(new URL('..', import.meta.url));
const project = fileURLToPath(new URL('../../..', import.meta.url));

// A process that holds this much of its limit after a build makes place for a fresh one, so that the next build has its room.
const wornOut = 0.85;

/** How often a build's memory is looked at, in ms. */
const watchInterval = 50;

/** A toolchain's process: builds one source at a time, and is gone after one that had to be ended. */
export class BuildProcess {
  readonly #child: ChildProcess;
  readonly #limits: typeof buildLimits;
  readonly #ready: Promise<void>;
  #end: ((end: BuildEnd) => void) | undefined;
  #usable = true;

  /** `alsoReadable`: files and folders beyond the toolchain's own that it may read. */
  constructor(language: LoadedLanguage, limits = buildLimits, alsoReadable: readonly string[] = []) {
    this.#limits = limits;
    this.#child = fork(child, [language.file], {
      // What it reads is the toolchain and its own code; the sources come by message. The data folder is out of reach.
      execArgv: [
        '--permission',
        ...[...readable(), ...alsoReadable].map((path) => `--allow-fs-read=${path}`),
        ...(language.needs ?? []).map((need) => `--allow-${need}`),
        '--max-old-space-size=384',
        '--disable-warning=ExperimentalWarning',
        '--disable-warning=SecurityWarning',
      ],
      env: {},
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      serialization: 'advanced',
      // A process group of its own, so that its helpers can be ended with it.
      detached: true,
    });
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#ready = promise;
    promise.catch(() => {});
    this.#child.on('message', (report: BuildReport) => {
      if (report.type === 'ready') resolve();
      else if (report.type === 'broken') reject(new Error(`could not be loaded (${report.reason})`));
      else {
        if (report.memory > wornOut * limits.memory) this.close();
        this.#end?.(report.end);
      }
    });
    const gone = (reason: string) => {
      this.#usable = false;
      reject(new Error(reason));
      this.#end?.({ failed: `The compiler ${reason}, which source that nests too deeply can bring about.` });
    };
    this.#child.on('error', (error) => gone(`could not work (${error.message})`));
    this.#child.on('exit', (code, signal) => gone(`ended unexpectedly (${signal ?? `exit code ${code}`})`));
    this.#hold(false);
  }

  get usable(): boolean {
    return this.#usable;
  }

  /** Builds a source, once the compiler is warm; the limits are for what follows. */
  async build(source: string): Promise<BuildEnd> {
    this.#hold(true);
    try {
      await this.#ready;
      return await this.#build(source);
    } catch (error) {
      return { failed: `The toolchain does not work on this machine: the compiler ${reasonOf(error)}` };
    } finally {
      this.#hold(false);
    }
  }

  async #build(source: string): Promise<BuildEnd> {
    const { promise, resolve } = Promise.withResolvers<BuildEnd>();
    this.#end = resolve;
    const fail = (failed: string) => {
      this.close();
      resolve({ failed });
    };
    const { time, memory } = this.#limits;
    const timer = setTimeout(
      () => fail(`The build took more than ${time / 1000} s, which is the limit of time.`),
      time,
    );
    const watch = setInterval(() => {
      if (residentMemory(this.#child.pid) > memory) {
        fail(`The build needed more than ${memory / 2 ** 20} MiB, which is the limit of memory.`);
      }
    }, watchInterval);
    try {
      this.#child.send(source);
      return await promise;
    } finally {
      this.#end = undefined;
      clearTimeout(timer);
      clearInterval(watch);
    }
  }

  /** Ends the process and its helpers at once. */
  close(): void {
    this.#usable = false;
    const { pid } = this.#child;
    if (pid === undefined || this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      this.#child.kill('SIGKILL');
    }
  }

  /** A toolchain that waits for work is no reason for the service's process to go on. */
  #hold(held: boolean): void {
    this.#child[held ? 'ref' : 'unref']();
    this.#child.channel?.[held ? 'ref' : 'unref']();
  }
}

const reasonOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

function readable(): string[] {
  const modules = `${project}node_modules`;
  return [...new Set([service, `${project}package.json`, modules, realpathSync(modules)])];
}
