import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { entryLimit } from '../entry-limit.ts';

export interface ThrottleOptions {
  /** The time between two turns with the same key, in ms. */
  readonly interval: number;
  /** How many callers with the same key may wait for their turn. */
  readonly waiting: number;
  /** How many keys are remembered at once (default 50,000). */
  readonly maxKeys?: number;
}

/** Slows callers with the same key down to a steady rate. Callers with different keys do not wait for each other. */
export class Throttle {
  readonly #interval: number;
  readonly #waiting: number;
  /** The time of each key's next turn, by `performance.now()`. */
  readonly #nextTurns: LRUCache<string, number>;

  constructor({ interval, waiting, maxKeys = 50_000 }: ThrottleOptions) {
    this.#interval = interval;
    this.#waiting = waiting;
    // After this time, the last waiting caller has had its turn.
    this.#nextTurns = new LRUCache({ ...entryLimit(maxKeys), ttl: interval * (waiting + 1) });
  }

  /** Resolves with true at the caller's turn, or with false at once when too many are waiting. */
  async take(key: string): Promise<boolean> {
    const now = performance.now();
    const turn = Math.max(now, this.#nextTurns.get(key) ?? now);
    const wait = turn - now;
    if (wait > this.#interval * this.#waiting) return false;
    this.#nextTurns.set(key, turn + this.#interval);
    if (wait > 0) await sleep(wait);
    return true;
  }
}
