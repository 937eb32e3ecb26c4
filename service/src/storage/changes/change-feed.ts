import type { Engine } from '../engine.ts';
import { readChanges, readLastChange } from './change-log.ts';
import type { Change } from './change-log.ts';

export interface ChangeFeedOptions {
  /** How often to read the changes of other nodes, in ms (default 250). */
  readonly pollInterval?: number;
  /** How long after the last successful poll the caches count as current, in ms (default 1000). */
  readonly trustedFor?: number;
}

/** Called with changes; with `undefined` when they are not known in detail, and anything may have changed. */
export type ChangeListener = (changes: readonly Change[] | undefined) => void;

/**
 * Finds the changes of other nodes, by polling the database several times a second. Where the database announces commits, it is
 * also polled at each announcement, which only makes it quicker.
 */
export class ChangeFeed {
  readonly #engine: Engine;
  readonly #listener: ChangeListener;
  readonly #pollInterval: number;
  readonly #trustedFor: number;
  /** The number of the newest change that is known. */
  #last: number | undefined;
  #dataVersion: number | undefined;
  /** When the last successful poll began, by `performance.now()`. */
  #polledAt = -Infinity;
  #polling: Promise<void> | undefined;
  #pollsAgain = false;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(engine: Engine, listener: ChangeListener, options: ChangeFeedOptions = {}) {
    this.#engine = engine;
    this.#listener = listener;
    this.#pollInterval = options.pollInterval ?? 250;
    this.#trustedFor = options.trustedFor ?? 1000;
  }

  /** Whether every change that is older than {@link ChangeFeedOptions.trustedFor} is known on this node. */
  get isCurrent(): boolean {
    return this.age <= this.#trustedFor;
  }

  /** How long ago the last successful poll began, in ms. */
  get age(): number {
    return performance.now() - this.#polledAt;
  }

  /**
   * Begins to poll. Rejects when the first poll fails.
   * @param onAvailability called with the cause when the database becomes unavailable, and with `undefined` when it is back
   */
  async start(onAvailability: (cause: unknown) => void): Promise<void> {
    let isStarted = false;
    const onChange = () => {
      if (isStarted) void this.poll();
    };
    await this.#engine.watch({ onChange, onAvailability });
    await this.#poll();
    isStarted = true;
    this.#schedule();
  }

  /** Polls now. Never rejects: while the database is unavailable, {@link isCurrent} becomes false. */
  async poll(): Promise<void> {
    if (this.#isClosed) return;
    if (this.#polling) {
      // The current poll may have read before the change that this call is for.
      this.#pollsAgain = true;
      return this.#polling;
    }
    this.#polling = this.#pollUntilDone();
    return this.#polling;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#polling;
  }

  async #pollUntilDone(): Promise<void> {
    try {
      do {
        this.#pollsAgain = false;
        await this.#poll();
      } while (this.#pollsAgain && !this.#isClosed);
    } catch {
      // The next poll tries again.
    } finally {
      this.#polling = undefined;
    }
  }

  async #poll(): Promise<void> {
    const began = performance.now();
    // Read before the changes, so that a commit between the two is found by the next poll.
    const dataVersion = this.#engine.dataVersion();
    if (dataVersion === undefined || dataVersion !== this.#dataVersion) {
      await this.#readChanges();
      this.#dataVersion = dataVersion;
    }
    // Set after the listener has handled all changes.
    this.#polledAt = began;
  }

  async #readChanges(): Promise<void> {
    const db = this.#engine.changesDb;
    if (this.#last === undefined) {
      // The first poll only finds the end of the log: nothing has been cached before it.
      this.#last = await readLastChange(db);
      return;
    }
    const { last, changes } = await readChanges(db, this.#last);
    if (changes === undefined || changes.length) this.#listener(changes);
    this.#last = last;
  }

  #schedule(): void {
    const pollAndSchedule = async () => {
      await this.poll();
      if (!this.#isClosed) this.#schedule();
    };
    this.#timer = setTimeout(() => void pollAndSchedule(), this.#pollInterval).unref();
  }
}
