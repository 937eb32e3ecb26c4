import type { QueueOwner } from '../processes/fair-queue.ts';
import { ShareBudget } from '../processes/share-budget.ts';
import type { ShareLimits } from '../processes/share-budget.ts';
import { sizeOfProgram } from '../plugins/program.ts';
import type { StoredProgram } from '../plugins/program.ts';
import { mebibyte } from '../units.ts';
import type { RunError } from './outcome.ts';

export interface WaitingLimits {
  /** How many runs that can make calls there are at once (default 1000). */
  readonly runs: number;
  /** How many bytes their states, logs, requests and responses take while they wait (default 256 MiB). */
  readonly memory: number;
  /** How long such a run takes, with all that it waits for, in ms (default 25,000). */
  readonly time: number;
  /** How many calls a run makes (default 20). */
  readonly calls: number;
}

export const defaultWaiting: WaitingLimits = { runs: 1000, memory: 256 * mebibyte, time: 25_000, calls: 20 };

/** How many bytes of programs are kept for runs. */
const keptPrograms = 64 * mebibyte;

/** A run that can make calls. */
export interface EndableRun {
  readonly owner: QueueOwner;
  /** Ends the run, and aborts its calls. Does nothing once it has ended. */
  end(error: RunError): void;
}

/** The runs that can make calls, from before they begin until they have ended. */
export class WaitingRuns {
  readonly limits: WaitingLimits;
  readonly #places: ShareBudget;
  readonly #memory: ShareBudget;
  readonly #runs = new Set<EndableRun>();
  readonly #programMemory = new ShareBudget(sharesOf(keptPrograms));
  /** The programs that are kept, by their hashes, and for how many runs. */
  readonly #programs = new Map<string, { runs: number; readonly release: () => void }>();
  /** How many of them are in no runner, because they wait. */
  waiting = 0;

  constructor(limits: WaitingLimits = defaultWaiting) {
    this.limits = limits;
    // They do not shrink: a tenant may have its quarter however much others hold.
    this.#places = new ShareBudget({ ...sharesOf(limits.runs), areFixed: true });
    this.#memory = new ShareBudget(sharesOf(limits.memory));
  }

  /** How many there are. */
  get size(): number {
    return this.#runs.size;
  }

  /** Takes a place for a run until the returned function is called. Throws a `BusyError` where there is none. */
  enter(run: EndableRun): () => void {
    const release = this.#places.take(run.owner, 1);
    this.#runs.add(run);
    return () => {
      release();
      this.#runs.delete(run);
    };
  }

  /** Counts bytes of a run until the returned function is called. Throws a `BusyError` where they do not fit. */
  hold(owner: QueueOwner, bytes: number): () => void {
    return this.#memory.take(owner, bytes);
  }

  /**
   * Loads the program of a run, and keeps it until `release` is called, unless its owner has too many of them: a run that has made
   * calls has to go on although the database is away, or has the program no more.
   */
  async keep(
    owner: QueueOwner,
    stored: StoredProgram,
  ): Promise<{ readonly program: StoredProgram; readonly release: () => void }> {
    const { hash, isTyped } = stored;
    const program = await stored.load();
    let kept = this.#programs.get(hash);
    try {
      kept ??= { runs: 0, release: this.#programMemory.take(owner, sizeOfProgram(program)) };
    } catch {
      return { program: stored, release: () => {} };
    }
    kept.runs += 1;
    this.#programs.set(hash, kept);
    const release = () => {
      kept.runs -= 1;
      if (kept.runs > 0) return;
      kept.release();
      this.#programs.delete(hash);
    };
    return { program: { hash, isTyped, load: async () => program }, release };
  }

  /** Ends the runs whose owner fits, by default all of them. */
  end(error: RunError, fits: (owner: QueueOwner) => boolean = () => true): void {
    for (const run of this.#runs) if (fits(run.owner)) run.end(error);
  }

  /** Whose runs there are, each tenant once. */
  tenants(): QueueOwner[] {
    const tenants = new Map<string, QueueOwner>();
    for (const { owner } of this.#runs) tenants.set(`${owner.environment}.${owner.tenant}`, owner);
    return [...tenants.values()];
  }
}

/** Half for an environment, a quarter for a tenant. */
const sharesOf = (total: number): ShareLimits => ({
  total,
  perEnvironment: Math.ceil(total / 2),
  perTenant: Math.ceil(total / 4),
  // The runs of a tenant have no tokens, or few.
  perToken: total,
});
