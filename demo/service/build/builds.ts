import type { LoadedLanguage } from '../languages.ts';
import { FairQueue } from '../fair-queue.ts';
import type { BuildEnd } from './limits.ts';
import { BuildProcess } from './process.ts';

export interface Build {
  readonly source: string;
  /** Whose build it is: tenants take turns. */
  readonly tenant: string;
}

/** A toolchain that is not used for this long is ended, for the memory that it holds. In ms. */
const idleTime = 10 * 60_000;

/** One language's builds: one after the other, in a process of their own, tenants taking turns. */
class Toolchain {
  readonly #language: LoadedLanguage;
  readonly #turns = new FairQueue({
    slots: 1,
    waiting: 32,
    waitingPerEnvironment: 32,
    waitingPerTenant: 8,
    waitingPerToken: 8,
  });
  #process: BuildProcess | undefined;
  #idle: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(language: LoadedLanguage) {
    this.#language = language;
  }

  /** Throws a `BusyError` at once when too much is waiting. */
  build({ source, tenant }: Build): Promise<BuildEnd> {
    return this.#build(source, this.#turns.acquire({ environment: '', tenant, token: '' }));
  }

  async #build(source: string, turn: Promise<() => void>): Promise<BuildEnd> {
    const end = await turn;
    clearTimeout(this.#idle);
    try {
      return await this.#current().build(source);
    } finally {
      // A successor comes up while the user reads the answer.
      if (this.#process?.usable === false) this.warmUp();
      this.#idle = setTimeout(() => this.#process?.close(), idleTime).unref();
      end();
    }
  }

  warmUp(): void {
    if (!this.#closed) this.#current();
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#idle);
    this.#process?.close();
  }

  #current(): BuildProcess {
    if (this.#closed) throw new Error('The toolchains are closed.');
    if (!this.#process?.usable) this.#process = new BuildProcess(this.#language);
    return this.#process;
  }
}

/** Every language's toolchain. */
export class Builds {
  readonly #toolchains: ReadonlyMap<string, Toolchain>;

  constructor(languages: ReadonlyMap<string, LoadedLanguage>) {
    this.#toolchains = new Map([...languages].map(([id, language]) => [id, new Toolchain(language)]));
  }

  /** Builds a source. Throws a `BusyError` at once when too much is waiting. */
  build(language: string, build: Build): Promise<BuildEnd> {
    const toolchain = this.#toolchains.get(language);
    if (!toolchain) throw new Error(`There is no toolchain ${language}.`);
    return toolchain.build(build);
  }

  /** Starts the toolchains, so that a first build need not wait for it. */
  warmUp(): void {
    for (const toolchain of this.#toolchains.values()) toolchain.warmUp();
  }

  close(): void {
    for (const toolchain of this.#toolchains.values()) toolchain.close();
  }
}
