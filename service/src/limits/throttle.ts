import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';

export interface ThrottleOptions {
  /** From the turn of one to that of the next with the same key, in ms. */
  readonly interval: number;
  /** How many may wait for their turn, of each key. */
  readonly waiting: number;
  /** How many keys are known at once (default 50,000). */
  readonly maxKeys?: number;
}

/** Slows down what is done in the name of a key to a steady pace; keys do not wait for each other. */
export class Throttle {
  readonly #interval: number;
  readonly #waiting: number;
  /** When the next turn of a key is, by `performance.now()`. */
  readonly #nextTurns: LRUCache<string, number>;

  constructor({ interval, waiting, maxKeys = 50_000 }: ThrottleOptions) {
    this.#interval = interval;
    this.#waiting = waiting;
    // By then the last that waits has had its turn.
    this.#nextTurns = new LRUCache({ max: maxKeys, ttl: interval * (waiting + 1) });
  }

  /** Resolves with true at the turn of the caller; with false, at once, where too many wait already. */
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
