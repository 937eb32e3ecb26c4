import type { Engine } from '../engine.ts';
import { readChanges } from './change-log.ts';
import type { Change } from './change-log.ts';

export interface ChangeFeedOptions {
  /** How often other nodes' changes are asked for, in ms (default 250). */
  readonly pollInterval?: number;
  /** How long after the last successful poll what is known still holds, in ms (default 1000). */
  readonly trustedFor?: number;
}

/** Told of changes; `undefined` when they are not known in detail and everything has to be read anew. */
export type ChangeListener = (changes: readonly Change[] | undefined) => void;

/**
 * Tells this node what other nodes have changed, by asking the database several times a second. Where the database
 * announces commits itself, it is asked at once; that only makes it quicker.
 */
export class ChangeFeed {
  readonly #engine: Engine;
  readonly #listener: ChangeListener;
  readonly #pollInterval: number;
  readonly #trustedFor: number;
  #last = -1;
  #dataVersion: number | undefined;
  /** When the last successful poll began, by the monotonic clock. */
  #polledAt = -Infinity;
  #polling: Promise<void> | undefined;
  #pollsAgain = false;
  #timer: NodeJS.Timeout | undefined;
  #notifications: { close(): Promise<void> } | undefined;
  #isClosed = false;

  constructor(engine: Engine, listener: ChangeListener, options: ChangeFeedOptions = {}) {
    this.#engine = engine;
    this.#listener = listener;
    this.#pollInterval = options.pollInterval ?? 250;
    this.#trustedFor = options.trustedFor ?? 1000;
  }

  /** Whether every change that was committed a second ago is known here. Else the database has to be asked. */
  get isCurrent(): boolean {
    return performance.now() - this.#polledAt <= this.#trustedFor;
  }

  /** Begins to poll. Rejects when the first poll fails. */
  async start(): Promise<void> {
    await this.#poll();
    this.#schedule();
    this.#notifications = this.#engine.listenForChanges(() => void this.poll());
  }

  /** Asks now. Never rejects: while the database cannot be asked, {@link isCurrent} turns false. */
  async poll(): Promise<void> {
    if (this.#isClosed) return;
    if (this.#polling) {
      // The one under way may have read before the change that this call is about.
      this.#pollsAgain = true;
      return this.#polling;
    }
    this.#polling = this.#pollUntilDone();
    return this.#polling;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#notifications?.close();
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
    // Before the changes are read: a commit between the two is then found by the next poll.
    const dataVersion = this.#engine.dataVersion();
    if (dataVersion === undefined || dataVersion !== this.#dataVersion) {
      const { last, changes } = await readChanges(this.#engine.db, this.#last);
      // Nothing is known yet when the first poll tells where the log stands.
      if (this.#last >= 0 && (changes === undefined || changes.length)) this.#listener(changes);
      this.#last = last;
      this.#dataVersion = dataVersion;
    }
    // Only now that the listener knows all of it.
    this.#polledAt = began;
  }

  #schedule(): void {
    const pollAndSchedule = async () => {
      await this.poll();
      if (!this.#isClosed) this.#schedule();
    };
    this.#timer = setTimeout(() => void pollAndSchedule(), this.#pollInterval).unref();
  }
}
