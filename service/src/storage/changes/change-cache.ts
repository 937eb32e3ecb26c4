import { LRUCache } from 'lru-cache';
import { entryLimit } from '../../entry-limit.ts';
import { withTimeout } from '../../with-timeout.ts';
import { StorageUnavailableError } from '../errors.ts';

/** When the entries of a cache may be used. */
export interface CachePolicy {
  /** Whether the entries are known to be current. */
  readonly isCurrent: () => boolean;
  /** Whether the entries may be used while the database is unavailable. */
  readonly allowStale: () => boolean;
  /** Whether a read has timed out since the database last responded, so that further reads need not wait for it. */
  readonly isTimedOut?: () => boolean;
  /** Called when a read has timed out. */
  readonly onTimeout?: () => void;
}

/** How long a read waits for the database, in ms, where there is an entry that may be used instead. */
const readTimeout = 2000;

/**
 * A cache of values from the database, whose entries stay until a change of them is known. Missing values are not cached, so that
 * requests with made-up names cannot fill the cache.
 */
export class ChangeCache<V extends string | object> {
  readonly #entries: LRUCache<string, V>;
  readonly #policy: CachePolicy;
  readonly #keepsOffline: (value: V) => boolean;
  #generation = 0;

  /**
   * @param max how many entries are kept
   * @param keepsOffline whether a value may be used while the database is unavailable, if the policy permits it (default: each)
   */
  constructor(policy: CachePolicy, max: number, keepsOffline: (value: V) => boolean = () => true) {
    this.#entries = new LRUCache(entryLimit(max));
    this.#policy = policy;
    this.#keepsOffline = keepsOffline;
  }

  /**
   * The cached value of a key if the cache is current, else the value that `read` returns. While the database is unavailable, or
   * when it does not respond within 2 s, it is the cached value where the policy permits that; otherwise this settles as `read`.
   */
  async get(key: string, read: () => Promise<V | undefined>): Promise<V | undefined> {
    if (this.#policy.isCurrent()) {
      const known = this.#entries.get(key);
      if (known !== undefined) return known;
    }
    const reading = this.#read(key, read);
    const offline = this.#offlineValue(key);
    if (offline === undefined) return reading;
    if (this.#policy.isTimedOut?.()) {
      reading.catch(() => {});
      return offline;
    }
    try {
      return await withTimeout(reading, readTimeout, () => {
        this.#policy.onTimeout?.();
        throw new StorageUnavailableError(new Error(`it did not respond within ${readTimeout} ms`));
      });
    } catch (error) {
      if (!(error instanceof StorageUnavailableError)) throw error;
      // The entry may have been removed meanwhile.
      return this.#offlineValue(key) ?? reading;
    }
  }

  /** The cached value of a key, which is current but for changes that are not known yet. */
  peek(key: string): V | undefined {
    return this.#entries.get(key);
  }

  async #read(key: string, read: () => Promise<V | undefined>): Promise<V | undefined> {
    const generation = this.#generation;
    const value = await read();
    // Not cached if a change became known meanwhile: it may concern this entry, and `read` may have read before it.
    if (generation === this.#generation && value !== undefined) this.#entries.set(key, value);
    return value;
  }

  #offlineValue(key: string): V | undefined {
    const value = this.#policy.allowStale() ? this.#entries.get(key) : undefined;
    return value !== undefined && this.#keepsOffline(value) ? value : undefined;
  }

  /** Removes the stale entries (default: all). Values of unfinished reads will not be cached. */
  invalidate(isStale: (key: string, value: V) => boolean = () => true): void {
    this.#generation += 1;
    const stale = Array.from(this.#entries.entries()).filter(([key, value]) => isStale(key, value));
    for (const [key] of stale) this.#entries.delete(key);
  }
}
