import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { StorageUnavailableError } from '../unavailable.ts';

/** What an entry may be used for at this moment. */
export interface CachePolicy {
  /** What is remembered is as the database has it. */
  readonly isCurrent: () => boolean;
  /** What is remembered may be used when the database cannot be asked. */
  readonly holdsOffline: () => boolean;
  /** Whether somebody has waited for the database in vain since it was last heard of, so that nobody else need. */
  readonly isHanging?: () => boolean;
  /** Told when somebody has. */
  readonly onHang?: () => void;
}

/** How long the database is waited for, in ms, where what is remembered would do as well. */
const patience = 2000;

/**
 * Remembers what was read from the database until a change of it is known. What is not there is not remembered, so that
 * nobody fills it with names that do not exist.
 */
export class ChangeCache<V extends string | object> {
  readonly #entries: LRUCache<string, V>;
  readonly #trust: CachePolicy;
  readonly #keepsOffline: (value: V) => boolean;
  #generation = 0;

  /**
   * @param max how many entries are kept
   * @param keepsOffline whether a value may be used when the database cannot be asked, where the trust says so (default: each)
   */
  constructor(trust: CachePolicy, max: number, keepsOffline: (value: V) => boolean = () => true) {
    this.#entries = new LRUCache({ max });
    this.#trust = trust;
    this.#keepsOffline = keepsOffline;
  }

  /** What `key` stands for: as remembered where that is current, or else as `read` finds it. */
  async get(key: string, read: () => Promise<V | undefined>): Promise<V | undefined> {
    if (this.#trust.isCurrent()) {
      const known = this.#entries.get(key);
      if (known !== undefined) return known;
    }
    const reading = this.#read(key, read);
    const offline = this.#offlineValue(key);
    if (offline === undefined) return reading;
    if (this.#trust.isHanging?.()) {
      reading.catch(() => {});
      return offline;
    }
    try {
      return await withPatience(reading, this.#trust.onHang);
    } catch (error) {
      if (!(error instanceof StorageUnavailableError)) throw error;
      // It may have been forgotten meanwhile.
      return this.#offlineValue(key) ?? reading;
    }
  }

  async #read(key: string, read: () => Promise<V | undefined>): Promise<V | undefined> {
    const generation = this.#generation;
    const value = await read();
    // A change that became known meanwhile may be of this entry, and `read` may have looked before it.
    if (generation === this.#generation && value !== undefined) this.#entries.set(key, value);
    return value;
  }

  #offlineValue(key: string): V | undefined {
    const value = this.#trust.holdsOffline() ? this.#entries.get(key) : undefined;
    return value !== undefined && this.#keepsOffline(value) ? value : undefined;
  }

  /** Forgets the entries that `isStale` says so of; without it, all. Reads under way will not be remembered. */
  invalidate(isStale: (key: string, value: V) => boolean = () => true): void {
    this.#generation += 1;
    const stale = Array.from(this.#entries.entries()).filter(([key, value]) => isStale(key, value));
    for (const [key] of stale) this.#entries.delete(key);
  }
}

/** Rejects with a `StorageUnavailableError` when it takes too long. The work itself goes on. */
async function withPatience<T>(work: Promise<T>, onHang: (() => void) | undefined): Promise<T> {
  const ended = new AbortController();
  const impatient = sleep(patience, undefined, { signal: ended.signal }).then(() => {
    onHang?.();
    throw new StorageUnavailableError(new Error(`it did not answer within ${patience} ms`));
  });
  // Nobody waits for the one that loses.
  work.catch(() => {});
  impatient.catch(() => {});
  try {
    return await Promise.race([work, impatient]);
  } finally {
    ended.abort();
  }
}
