import { setTimeout as sleep } from 'node:timers/promises';
import type { Storage } from '../storage.ts';
import { endExemptions } from '../tables/tenant-storage.ts';
import { withoutOwner } from '../turns.ts';
import { eraseSome, hasErasable } from './erase.ts';

type ErasableStorage = Pick<Storage, 'transaction' | 'db' | 'isSchemaReady' | 'reclaimSpace'>;

export interface EraserOptions {
  /** How often to look for rows to erase, because other nodes may have deleted something, in ms (default 5000). */
  readonly interval?: number;
  /** How many bytes a tenant may store (default: any number). */
  readonly tenantStorage?: number | undefined;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  /** Called with each error. Erasing is tried again. */
  readonly onError?: (error: unknown) => void;
}

/** How long after its start a node looks for rows to erase for the first time, in ms. */
const firstLook = 1000;

/** The pause after each part of the space that is given back, and how often exemptions from quotas are looked at, in ms. */
const [reclaimPause, exemptionInterval] = [20, 60_000];

/** The time that a transaction should take, from and to, in ms: others wait for it. */
const [shortTransaction, longTransaction] = [8, 20];

/**
 * How many plugins, and how many of their rows, are erased in one transaction, from and to. Where commits are slow, a transaction
 * hardly takes longer for more rows, and with fewer than eight, erasing a large tenant would take more than a minute.
 */
const [smallestLimit, largestLimit] = [8, 32];

/**
 * Erases the rows of deleted tenants and plugins, in small transactions, and gives their space back. Every node has an eraser. One of
 * them is active at a time, and goes on where another one, or the one before a restart, has stopped.
 */
export class Eraser {
  readonly #storage: ErasableStorage;
  readonly #options: Required<Omit<EraserOptions, 'tenantStorage'>> & EraserOptions;
  readonly #ended = new AbortController();
  #running: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isWanted = false;
  #exemptionsEndedAt = -Infinity;

  constructor(storage: ErasableStorage, options: EraserOptions = {}) {
    this.#storage = storage;
    this.#options = { interval: 5000, now: Date.now, onError: () => {}, ...options };
    // Soon after the start, because the node may have been restarted in the middle of erasing.
    this.#schedule(Math.min(firstLook, this.#options.interval));
  }

  /** Begins to erase now. */
  wake(): void {
    if (this.#ended.signal.aborted) return;
    this.#isWanted = true;
    this.#running ??= withoutOwner(() => this.#run());
  }

  /** Waits for the current transaction, and ends. */
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
        await this.#reclaimSpace();
        await this.#endExemptions();
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
    // Mostly there is nothing to erase, and then no transaction should take a lock from writers.
    if (!this.#storage.isSchemaReady || !(await hasErasable(this.#storage.db))) return;
    for (let limit = smallestLimit; ;) {
      const began = performance.now();
      const now = this.#options.now();
      const hasMore = await this.#storage.transaction((db) => eraseSome(db, now, limit));
      if (!hasMore || signal.aborted) return;
      const took = performance.now() - began;
      // How much can be erased in this time depends on the machine, and on the sizes of sources and programs.
      if (took < shortTransaction && limit < largestLimit) limit *= 2;
      if (took > longTransaction) limit = Math.max(smallestLimit, limit / 2);
      // Pauses for as long as the transaction took, so that others have half of the time.
      await sleep(Math.max(1, took), undefined, { signal }).catch(() => {});
    }
  }

  async #reclaimSpace(): Promise<void> {
    const { signal } = this.#ended;
    while (this.#storage.isSchemaReady && !signal.aborted && (await this.#storage.reclaimSpace()))
      await sleep(reclaimPause, undefined, { signal }).catch(() => {});
  }

  /** Finds the tenants that were above their quota when that was new, and are not any more. */
  async #endExemptions(): Promise<void> {
    const { tenantStorage } = this.#options;
    if (tenantStorage === undefined || !this.#storage.isSchemaReady) return;
    if (performance.now() - this.#exemptionsEndedAt < exemptionInterval) return;
    await endExemptions(this.#storage.db, tenantStorage);
    this.#exemptionsEndedAt = performance.now();
  }

  #schedule(delay = this.#options.interval): void {
    this.#timer = setTimeout(() => this.wake(), delay).unref();
  }
}
