import { availableParallelism } from 'node:os';
import { FairQueue } from '../../processes/fair-queue.ts';
import type { Share } from '../../processes/fair-queue.ts';
import type { LoadedLanguage } from '../languages.ts';
import type { PluginTypes } from '../types/declarations.ts';
import { SupersededError } from '../process/superseded.ts';
import { ToolPool } from '../process/tool-pool.ts';
import { CompilerProcess, toolchainFailure } from './compiler-process.ts';
import { buildLimits, checkTime } from './limits.ts';
import type { BuildOutcome } from './limits.ts';

interface QueuedJob {
  readonly source: string;
  /** What `run` is given and gives (default: text). */
  readonly types?: PluginTypes;
  /** Whose work it is. */
  readonly share: Share;
  /** Withdraws what has not begun. What has begun ends soon after. */
  readonly signal?: AbortSignal;
}

export interface QueuedBuild extends QueuedJob {
  /** Whether a build that has begun goes on to its end, whatever the signal says (default: no). */
  readonly finishes?: boolean;
}

export interface QueuedCheck extends QueuedJob {
  /** What is checked: a later check of the same share and subject takes the place of one that waits. */
  readonly subject: string;
}

/** How long a build took, in ms. */
export interface BuildTimes {
  /** For its turn, and for a compiler. */
  readonly waited: number;
  /** In the compiler. */
  readonly took: number;
}

/** Told of each build that has ended. */
export type OnBuild = (
  language: string,
  outcome: 'succeeded' | 'failed' | 'unfinished',
  times: BuildTimes,
) => void;

/**
 * How long work goes on that nobody waits for any more, in ms. Most of it ends sooner, and a compiler that has to be started
 * anew costs as much as several builds.
 */
const abandonedTime = 1000;

// Three is the least at which a tenant leaves room to the others of its environment, and that to other environments.
const slots = Math.min(8, Math.max(3, availableParallelism()));

const queueLimits = {
  slots,
  slotsPerEnvironment: slots - 1,
  slotsPerTenant: Math.floor(slots / 2),
  waiting: 256,
  waitingPerEnvironment: 128,
  waitingPerTenant: 16,
  waitingPerToken: 8,
};

/** Checks take milliseconds, and a tenant may have many authors who type at once. */
const checkQueueLimits = { ...queueLimits, waitingPerTenant: 64 };

/**
 * Builds, and checks for editors, of every language. The two wait in queues of their own, so that neither waits for the other,
 * and share the warm compilers.
 */
export class Builds {
  readonly #pools: ReadonlyMap<string, ToolPool<CompilerProcess>>;
  readonly #onBuild: OnBuild | undefined;
  readonly #builds = new FairQueue(queueLimits);
  readonly #checks = new FairQueue(checkQueueLimits);
  /** What withdraws the checks that wait, by what they check. */
  readonly #waitingChecks = new Map<string, AbortController>();

  /** How many builds and checks wait for their turn. */
  get waiting(): { readonly builds: number; readonly checks: number } {
    return { builds: this.#builds.waiting, checks: this.#checks.waiting };
  }

  /** `start`: starts a language's compiler. */
  constructor(
    languages: ReadonlyMap<string, LoadedLanguage>,
    start = (language: LoadedLanguage) => new CompilerProcess(language),
    onBuild?: OnBuild,
  ) {
    this.#onBuild = onBuild;
    this.#pools = new Map([...languages].map(([id, language]) => [id, new ToolPool(() => start(language))]));
  }

  /**
   * Builds a source. Throws a `BusyError` at once when too much is waiting; rejects with the signal's reason when it is
   * withdrawn.
   */
  build(
    language: string,
    { source, types, share, signal, finishes = false }: QueuedBuild,
  ): Promise<BuildOutcome> {
    const pool = this.#poolOf(language);
    const turn = this.#builds.acquire(share, signal && (() => signal));
    const began = performance.now();
    let started: number | undefined;
    const built = this.#run(pool, turn, (compiler) => {
      started = performance.now();
      return buildUnlessAbandoned(
        compiler,
        { source, types },
        buildLimits.time,
        finishes ? undefined : signal,
      );
    });
    return built.then((end) => {
      const ended = performance.now();
      // Where there is no compiler, all of it was waiting.
      const waited = (started ?? ended) - began;
      this.#onBuild?.(language, outcomeOf(end), { waited, took: ended - began - waited });
      return end;
    });
  }

  /**
   * Finds what a build would find. Throws and rejects as {@link build}, and with a {@link SupersededError} when a newer check
   * came before this one had begun.
   */
  check(language: string, { source, types, share, subject, signal }: QueuedCheck): Promise<BuildOutcome> {
    const pool = this.#poolOf(language);
    const key = JSON.stringify([share.environment, share.tenant, share.token, language, subject]);
    this.#waitingChecks.get(key)?.abort(new SupersededError());
    const waiting = new AbortController();
    const signals = [waiting.signal, ...(signal ? [signal] : [])];
    const turn = this.#checks.acquire(share, () => AbortSignal.any(signals));
    this.#waitingChecks.set(key, waiting);
    const forget = () => {
      if (this.#waitingChecks.get(key) === waiting) this.#waitingChecks.delete(key);
    };
    turn.then(forget, forget);
    return this.#run(pool, turn, (compiler) =>
      buildUnlessAbandoned(compiler, { source, types }, checkTime, signal),
    );
  }

  /** Starts the compilers, so that a first build need not wait for them. */
  warmUp(): void {
    for (const pool of this.#pools.values()) pool.warmUp();
  }

  close(): void {
    for (const pool of this.#pools.values()) pool.close();
  }

  async #run(
    pool: ToolPool<CompilerProcess>,
    turn: Promise<() => void>,
    work: (compiler: CompilerProcess) => Promise<BuildOutcome>,
  ): Promise<BuildOutcome> {
    const release = await turn;
    try {
      let compiler: CompilerProcess;
      try {
        compiler = await pool.take();
      } catch (error) {
        return toolchainFailure(error);
      }
      try {
        return await work(compiler);
      } finally {
        pool.giveBack(compiler);
      }
    } finally {
      release();
    }
  }

  #poolOf(language: string): ToolPool<CompilerProcess> {
    const pool = this.#pools.get(language);
    if (!pool) throw new Error(`There is no toolchain ${language}.`);
    return pool;
  }
}

function outcomeOf(end: BuildOutcome) {
  if ('failed' in end) return 'unfinished';
  return end.compiled.program === undefined ? 'failed' : 'succeeded';
}

async function buildUnlessAbandoned(
  compiler: CompilerProcess,
  { source, types }: { readonly source: string; readonly types: PluginTypes | undefined },
  time: number,
  signal: AbortSignal | undefined,
): Promise<BuildOutcome> {
  // Its client may have gone while the compiler came up.
  signal?.throwIfAborted();
  let timer: NodeJS.Timeout | undefined;
  const abandon = () => {
    timer = setTimeout(() => compiler.close(), abandonedTime);
  };
  signal?.addEventListener('abort', abandon, { once: true });
  try {
    return await compiler.build(source, { time, types });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abandon);
  }
}
