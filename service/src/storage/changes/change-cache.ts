import { LRUCache } from 'lru-cache';

/**
 * Remembers what was read from the database until a change of it is known. What is not there is not remembered, so that
 * nobody fills it with names that do not exist.
 */
export class ChangeCache<V extends string | object> {
  readonly #entries: LRUCache<string, V>;
  readonly #isCurrent: () => boolean;
  #generation = 0;

  /** `isCurrent`: whether what is remembered may be used at this moment. `max`: how many entries are kept. */
  constructor(isCurrent: () => boolean, max: number) {
    this.#entries = new LRUCache({ max });
    this.#isCurrent = isCurrent;
  }

  /** What `key` stands for: as remembered, or else as `read` finds it. */
  async get(key: string, read: () => Promise<V | undefined>): Promise<V | undefined> {
    if (this.#isCurrent()) {
      const known = this.#entries.get(key);
      if (known !== undefined) return known;
    }
    const generation = this.#generation;
    const value = await read();
    // A change that became known meanwhile may be of this entry, and `read` may have looked before it.
    if (generation === this.#generation && value !== undefined) this.#entries.set(key, value);
    return value;
  }

  /** Forgets the entries that `isStale` says so of; without it, all. Reads under way will not be remembered. */
  invalidate(isStale: (key: string, value: V) => boolean = () => true): void {
    this.#generation += 1;
    const stale = Array.from(this.#entries.entries()).filter(([key, value]) => isStale(key, value));
    for (const [key] of stale) this.#entries.delete(key);
  }
}
