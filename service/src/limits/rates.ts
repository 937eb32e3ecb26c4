import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { entryLimit } from '../entry-limit.ts';
import { wholeNode } from '../node-share.ts';
import type { NodeShare } from '../node-share.ts';
import { RateShare, rateWindow } from './rate-share.ts';
import type { Counters } from './rate-share.ts';

export interface RatesOptions {
  /** The clock: milliseconds since the epoch. */
  readonly now: () => number;
  /** How long a request waits for a lease, in ms, before the database counts as lost (default 1000). */
  readonly leaseTimeout?: number;
  /** How many keys are remembered at once (default 50,000). The least recently used are forgotten first. */
  readonly maxKeys?: number;
  /** Which of the node's processes this is (default: the only one). */
  readonly nodeShare?: NodeShare;
}

/** Why a rate permits no more: it is used up, or may be, which cannot be known while the database is unavailable. */
export interface RateExceeded {
  /** When the window ends, in milliseconds since the epoch. */
  readonly endsAt: number;
  /** Whether it is unknown if the rate is used up, because the database is unavailable. */
  readonly isUnknown: boolean;
}

/** How many keys one statement leases at most. */
const largestBatch = 500;

/** How long after a failure to ask the database again, in ms. */
const retryInterval = 1000;

/** How long an unused key is remembered, in ms: until its window and the next one are over. */
const idleTime = rateWindow * 2;

/** How many characters a key has at the most. A longer one is hashed, because an index of PostgreSQL takes none above 2.7 kB. */
const longestKey = 200;

/** The key of a rate, as plain text, because hashing costs more; hashed where the names are long. */
export function rateKey(kind: string, ...names: readonly string[]): string {
  const key = `${kind} ${JSON.stringify(names)}`;
  return key.length <= longestKey ? key : `${kind} ${createHash('sha256').update(key).digest('base64url')}`;
}

interface Entry {
  readonly key: string;
  readonly share: RateShare;
  /** How many callers wait for a lease. */
  waiting: number;
  /** Resolves when the requested lease has arrived, or failed. */
  leasing: PromiseWithResolvers<void> | undefined;
}

/**
 * Limits rates by key, over all nodes. Each node leases shares of the rates from the database in advance, so that a caller only
 * waits when the node's share has just been used up.
 */
export class Rates {
  readonly #counters: Counters;
  readonly #now: () => number;
  readonly #leaseTimeout: number;
  readonly #nodeShare: NodeShare;
  readonly #entries: LRUCache<string, Entry>;
  #requested = new Set<Entry>();
  #isOnline = true;
  #isLeasing = false;
  #isClosed = false;
  #retryTimer: NodeJS.Timeout | undefined;
  readonly #pruneTimer: NodeJS.Timeout;

  constructor(counters: Counters, options: RatesOptions) {
    const { now, leaseTimeout = 1000, maxKeys = 50_000, nodeShare = wholeNode } = options;
    this.#nodeShare = nodeShare;
    this.#counters = counters;
    this.#now = now;
    this.#leaseTimeout = leaseTimeout;
    this.#entries = new LRUCache({
      ...entryLimit(maxKeys),
      ttl: idleTime,
      updateAgeOnGet: true,
      ttlResolution: 0,
      perf: { now },
    });
    this.#pruneTimer = setInterval(() => void this.#prune(), rateWindow).unref();
  }

  /** How many keys are remembered. */
  get size(): number {
    return this.#entries.size;
  }

  /** Whether the key was used in the last two minutes, and is still remembered. */
  has(key: string): boolean {
    return this.#entries.has(key);
  }

  /**
   * Takes one of the `quota` that a key has in each minute. Returns `undefined` if there was one left, else why the rate does not
   * permit it. It returns a promise only when this node's share is used up and a lease has to be requested.
   */
  take(key: string, quota: number): RateExceeded | undefined | Promise<RateExceeded | undefined> {
    const entry = this.#entry(key, quota);
    const outcome = entry.share.take(this.#now(), this.#isOnline);
    if (outcome === 'lease-needed') return this.#takeFromLease(entry);
    if (entry.share.isLow) void this.#request(entry);
    return outcome === 'taken' ? undefined : toRateExceeded(entry, outcome);
  }

  /** Returns one that was taken, for something that was not done after all. */
  refund(key: string): void {
    this.#entries.get(key)?.share.refund();
  }

  /** Stops using the database. */
  close(): void {
    this.#isClosed = true;
    clearInterval(this.#pruneTimer);
    clearTimeout(this.#retryTimer);
    this.#goOffline();
  }

  #entry(key: string, quota: number): Entry {
    const known = this.#entries.get(key);
    if (known) {
      known.share.quota = quota;
      return known;
    }
    const entry: Entry = {
      key,
      share: new RateShare(quota, this.#nodeShare),
      waiting: 0,
      leasing: undefined,
    };
    this.#entries.set(key, entry);
    return entry;
  }

  async #takeFromLease(entry: Entry): Promise<RateExceeded | undefined> {
    for (;;) {
      entry.waiting += 1;
      try {
        await this.#request(entry);
      } finally {
        entry.waiting -= 1;
      }
      const outcome = entry.share.take(this.#now(), this.#isOnline);
      if (outcome === 'taken') return undefined;
      if (outcome !== 'lease-needed') return toRateExceeded(entry, outcome);
    }
  }

  /** Requests a lease. Resolves when it has arrived, or failed; `undefined` when none can be requested now. */
  #request(entry: Entry): Promise<void> | undefined {
    if (this.#isClosed) return undefined;
    if (entry.leasing) return entry.leasing.promise;
    // While offline, a few requests suffice to find out that the database is back; those of all callers would fill the memory.
    if (!this.#isOnline && this.#requested.size >= largestBatch) return undefined;
    this.#requested.add(entry);
    entry.leasing = Promise.withResolvers();
    if (!this.#isLeasing && !this.#retryTimer) {
      this.#isLeasing = true;
      // Deferred, so that requests for other keys go into the same batch.
      setImmediate(() => void this.#leaseRequested());
    }
    return entry.leasing.promise;
  }

  /** Leases for all requested keys, including those that are requested meanwhile. */
  async #leaseRequested(): Promise<void> {
    try {
      while (this.#requested.size && !this.#isClosed) {
        const batch = Array.from(this.#requested).slice(0, largestBatch);
        for (const entry of batch) this.#requested.delete(entry);
        await this.#leaseBatch(batch);
      }
    } catch {
      this.#goOffline();
      if (!this.#isClosed) this.#retryLater();
    } finally {
      this.#isLeasing = false;
    }
  }

  async #leaseBatch(batch: readonly Entry[]): Promise<void> {
    const requests = batch.map((entry) => ({
      key: entry.key,
      entry,
      request: entry.share.createRequest(entry.waiting),
    }));
    const timeout = setTimeout(() => this.#goOffline(batch), this.#leaseTimeout);
    try {
      const leases = await this.#counters.lease(
        requests.map(({ key, request }) => ({ key, ...request })),
        this.#now(),
      );
      // Once closed, no caller may wait for another lease.
      this.#isOnline = !this.#isClosed;
      const now = this.#now();
      for (const { key, entry, request } of requests) {
        const lease = leases.get(key);
        if (lease) entry.share.apply(request, lease, now);
        else entry.share.giveUp(request);
      }
    } catch (error) {
      for (const { entry, request } of requests) entry.share.giveUp(request);
      throw error;
    } finally {
      clearTimeout(timeout);
      for (const { entry } of requests) endLeasing(entry);
    }
  }

  /** Ends all waiting: until the database is back, callers only get what is left of this node's shares. */
  #goOffline(leasing: readonly Entry[] = []): void {
    this.#isOnline = false;
    for (const entry of [...leasing, ...this.#requested]) endLeasing(entry);
    this.#requested.clear();
  }

  #retryLater(): void {
    this.#retryTimer = setTimeout(() => {
      this.#retryTimer = undefined;
      if (this.#requested.size === 0 || this.#isLeasing) return;
      this.#isLeasing = true;
      void this.#leaseRequested();
    }, retryInterval).unref();
  }

  async #prune(): Promise<void> {
    this.#entries.purgeStale();
    try {
      await this.#counters.prune(this.#now());
    } catch {
      // Tried again in the next minute.
    }
  }
}

const toRateExceeded = ({ share }: Entry, outcome: 'refused' | 'unknown'): RateExceeded => ({
  endsAt: share.endsAt,
  isUnknown: outcome === 'unknown',
});

function endLeasing(entry: Entry): void {
  entry.leasing?.resolve();
  entry.leasing = undefined;
}
