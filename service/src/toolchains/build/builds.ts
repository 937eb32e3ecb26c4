import { wholeNode } from '../../node-share.ts';
import { FairQueue } from '../../processes/fair-queue.ts';
import type { QueueOwner } from '../../processes/fair-queue.ts';
import type { LoadedLanguage } from '../languages.ts';
import type { PluginTypes } from '../types/declarations.ts';
import { queueLimits } from '../process/queue-limits.ts';
import { SupersedingQueue } from '../process/superseding-queue.ts';
import { ProcessPool } from '../../processes/process-pool.ts';
import { CompilerProcess, toolchainFailure } from './compiler-process.ts';
import { buildLimits, checkTime } from './limits.ts';
import type { BuildOutcome } from './limits.ts';

interface QueuedJob {
  readonly source: string;
  /** The types of the input and output of `run` (default: text). */
  readonly types?: PluginTypes;
  /** Whose job it is, which determines its turn. */
  readonly owner: QueueOwner;
  /** Aborts a job: one that has not begun is withdrawn at once, one that has begun ends soon after. */
  readonly signal?: AbortSignal;
  /** Called at its turn, before it begins. What it throws refuses the job. */
  readonly onTurn?: (() => void) | undefined;
}

export interface QueuedBuild extends QueuedJob {
  /** Whether a build that has begun ignores the signal (default false). */
  readonly finishes?: boolean;
}

export interface QueuedCheck extends QueuedJob {
  /** Names what is checked: a later check of the same share and subject supersedes one that is waiting. */
  readonly subject: string;
}

/** How long a build took, in ms. */
export interface BuildTimes {
  /** Waiting for its turn and for a compiler. */
  readonly waited: number;
  /** In the compiler. */
  readonly took: number;
}

/** Called for each build that has ended. `unfinished`: it met a limit, or its compiler failed or did not come up. */
export type OnBuild = (
  language: string,
  outcome: 'succeeded' | 'failed' | 'unfinished',
  times: BuildTimes,
) => void;

/** Called for each build and check that a defect of the service has ended. `defect`: for the operator's log. */
export type OnDefect = (language: string, defect: string, owner: QueueOwner) => void;

/**
 * How long a job goes on after it was aborted, in ms, before its compiler is ended. Most jobs end sooner by themselves, and
 * starting another compiler costs as much as several builds.
 */
const abandonedTime = 1000;

/**
 * Builds, and checks for editors, in every language. Builds and checks have separate queues, so that neither waits for the
 * other, and share the warm compilers.
 */
export class Builds {
  readonly #warmPools: readonly ProcessPool<CompilerProcess>[];
  readonly #pools: ReadonlyMap<string, ProcessPool<CompilerProcess>>;
  readonly #onBuild: OnBuild | undefined;
  #onDefect: OnDefect | undefined;
  readonly #builds: FairQueue;
  readonly #checks: SupersedingQueue;

  get waiting(): { readonly builds: number; readonly checks: number } {
    return { builds: this.#builds.waiting, checks: this.#checks.waiting };
  }

  /**
   * @param start starts a language's compiler
   * @param nodeShare which of the node's processes this is, for the number of builds at once (default: the only one)
   */
  constructor(
    languages: ReadonlyMap<string, LoadedLanguage>,
    start = (language: LoadedLanguage) => new CompilerProcess(language),
    onBuild?: OnBuild,
    nodeShare = wholeNode,
    onDefect?: OnDefect,
  ) {
    this.#onBuild = onBuild;
    this.#onDefect = onDefect;
    this.#builds = new FairQueue(queueLimits(nodeShare, 8, 16));
    // Checks take milliseconds, and many users of a tenant may type at once: so more of them may wait.
    this.#checks = new SupersedingQueue(queueLimits(nodeShare, 8, 64));
    this.#pools = new Map(
      [...languages].map(([id, language]) => [id, new ProcessPool(() => start(language))]),
    );
    this.#warmPools = [...languages].flatMap(([id, { isOptional }]) =>
      isOptional ? [] : [this.#poolOf(id)],
    );
  }

  /**
   * Builds a source. Throws a `BusyError` at once when too many builds are waiting; rejects with the signal's reason when that
   * is aborted.
   */
  build(
    language: string,
    { source, types, owner, signal, onTurn, finishes = false }: QueuedBuild,
  ): Promise<BuildOutcome> {
    const pool = this.#poolOf(language);
    const turn = this.#builds.acquire(owner, signal && (() => signal));
    const began = performance.now();
    let started: number | undefined;
    const built = pool.use(
      turn,
      (compiler) => {
        onTurn?.();
        started = performance.now();
        const stopOn = finishes ? undefined : signal;
        return buildUnlessAbandoned(compiler, { source, types }, buildLimits.time, stopOn);
      },
      toolchainFailure,
    );
    return built.then((outcome) => {
      const ended = performance.now();
      // Where no compiler came up, all the time was waiting.
      const waited = (started ?? ended) - began;
      this.#onBuild?.(language, statusOf(outcome), { waited, took: ended - began - waited });
      return this.#reported(language, outcome, owner);
    });
  }

  /**
   * Finds the problems that a build would find. Throws and rejects as {@link build}, and with a `SupersededError` when a
   * newer check superseded this one while it was waiting.
   */
  check(
    language: string,
    { source, types, owner, subject, signal, onTurn }: QueuedCheck,
  ): Promise<BuildOutcome> {
    const pool = this.#poolOf(language);
    const turn = this.#checks.acquire(owner, [language, subject], signal);
    const checked = pool.use(
      turn,
      (compiler) => {
        onTurn?.();
        return buildUnlessAbandoned(compiler, { source, types }, checkTime, signal);
      },
      toolchainFailure,
    );
    return checked.then((outcome) => this.#reported(language, outcome, owner));
  }

  #reported(language: string, outcome: BuildOutcome, owner: QueueOwner): BuildOutcome {
    if ('failed' in outcome && outcome.defect !== undefined)
      this.#onDefect?.(language, outcome.defect, owner);
    return outcome;
  }

  /**
   * Starts the compilers of the languages that are always there, so that a first build need not wait for them. They come up one after
   * the other, which leaves processors to the rest of the node, and in reverse order of their names, because AssemblyScript's takes by
   * far the longest.
   */
  async warmUp(): Promise<void> {
    for (const pool of this.#warmPools.toReversed()) await pool.warmUp();
  }

  close(): void {
    // What fails from now on is no defect.
    this.#onDefect = undefined;
    for (const pool of this.#pools.values()) pool.close();
  }

  #poolOf(language: string): ProcessPool<CompilerProcess> {
    const pool = this.#pools.get(language);
    if (!pool) throw new Error(`There is no toolchain ${language}.`);
    return pool;
  }
}

function statusOf(outcome: BuildOutcome) {
  if ('failed' in outcome) return 'unfinished';
  return outcome.compiled.program === undefined ? 'failed' : 'succeeded';
}

async function buildUnlessAbandoned(
  compiler: CompilerProcess,
  { source, types }: { readonly source: string; readonly types: PluginTypes | undefined },
  time: number,
  signal: AbortSignal | undefined,
): Promise<BuildOutcome> {
  // The job may have been aborted while the compiler came up.
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
