import { setTimeout as sleep } from 'node:timers/promises';
import type { Storage } from '../storage.ts';

type ErasableStorage = Pick<Storage, 'transaction' | 'tables' | 'isSchemaReady'>;

export interface EraserOptions {
  /** How often it looks for what other nodes were told to delete, in ms (default 5000). */
  readonly interval?: number;
  readonly now?: () => number;
  /** Told of what went wrong. It is tried again. */
  readonly onError?: (error: unknown) => void;
}

/** How long after its start a node looks for the first time, in ms. */
const firstLook = 1000;

/** How long a transaction should take, in ms: others wait for it. */
const [shortTransaction, longTransaction] = [8, 20];

/**
 * How many plugins, and rows of them, go in one transaction. The least is more than one, because a slow commit takes as long for
 * few as for many: with less, a large tenant would not be gone within a minute where commits are slow.
 */
const [smallestLimit, largestLimit] = [8, 32];

/**
 * Takes away, in small transactions, what deleted tenants and plugins had. Every node has one; of those one at a time is at
 * it, and any can go on where another, or the one before the last restart, has ended.
 */
export class Eraser {
  readonly #storage: ErasableStorage;
  readonly #options: Required<EraserOptions>;
  readonly #ended = new AbortController();
  #running: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isWanted = false;

  constructor(storage: ErasableStorage, options: EraserOptions = {}) {
    this.#storage = storage;
    this.#options = { interval: 5000, now: Date.now, onError: () => {}, ...options };
    // Soon after the start, as the node before may have ended in the middle of it.
    this.#schedule(Math.min(firstLook, this.#options.interval));
  }

  /** Begins now. */
  wake(): void {
    if (this.#ended.signal.aborted) return;
    this.#isWanted = true;
    this.#running ??= this.#run();
  }

  /** Lets the transaction that is under way end. */
  async close(): Promise<void> {
    this.#ended.abort();
    clearTimeout(this.#timer);
    await this.#running;
  }

  async #run(): Promise<void> {
    clearTimeout(this.#timer);
    try {
      while (this.#isWanted && !this.#ended.signal.aborted) {
        this.#isWanted = false;
        await this.#eraseAll();
      }
    } catch (error) {
      // The next look tries again.
      if (!this.#ended.signal.aborted) this.#options.onError(error);
    } finally {
      this.#running = undefined;
      if (!this.#ended.signal.aborted) this.#schedule();
    }
  }

  async #eraseAll(): Promise<void> {
    const { signal } = this.#ended;
    // Most looks find nothing, and should not take the lock of those who write.
    if (!this.#storage.isSchemaReady || !(await this.#storage.tables.hasErasable())) return;
    for (let limit = smallestLimit; ;) {
      const began = performance.now();
      const now = this.#options.now();
      const hasMore = await this.#storage.transaction((tables) => tables.erase(now, limit));
      if (!hasMore || signal.aborted) return;
      const took = performance.now() - began;
      // How much goes in such a time depends on the machine, and on how large the sources and programs are.
      if (took < shortTransaction && limit < largestLimit) limit *= 2;
      if (took > longTransaction) limit = Math.max(smallestLimit, limit / 2);
      // Half of the time belongs to everybody else.
      await sleep(Math.max(1, took), undefined, { signal }).catch(() => {});
    }
  }

  #schedule(delay = this.#options.interval): void {
    this.#timer = setTimeout(() => this.wake(), delay).unref();
  }
}
