/** There is no place left to wait in: `own` when the key's own places are taken, else those of all together. */
export class BusyError extends Error {
  override readonly name = 'BusyError';
  readonly own: boolean;

  constructor(own: boolean) {
    super(own ? 'Too much is waiting for this key.' : 'Too much is waiting.');
    this.own = own;
  }
}

export interface TurnLimits {
  /** How many hold a turn at once. */
  slots: number;
  /** How many of one key do. */
  slotsPerKey: number;
  /** How many wait for one. */
  waiting: number;
  /** How many of one key do. */
  waitingPerKey: number;
}

interface Waiter {
  start: () => void;
}

/**
 * Who may work now, and who is next: each key (a tenant) in turn, so that one who asks for much waits for himself
 * and not in front of others.
 */
export class Turns {
  readonly #limits: TurnLimits;
  readonly #held = new Map<string, number>();
  // The keys in the order of their next turn.
  readonly #queues = new Map<string, Waiter[]>();
  #total = 0;
  #waiting = 0;

  constructor(limits: TurnLimits) {
    this.#limits = limits;
  }

  /**
   * Resolves, when it is `key`'s turn, with what ends the turn. Throws a {@link BusyError} at once when there is no
   * place to wait in; rejects with the signal's reason when that is aborted meanwhile.
   */
  take(key: string, signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted();
    const queue = this.#queues.get(key) ?? [];
    if (!this.#isFree(key)) {
      if (queue.length >= this.#limits.waitingPerKey) throw new BusyError(true);
      if (this.#waiting >= this.#limits.waiting) throw new BusyError(false);
    }
    return new Promise((resolve, reject) => {
      const abort = () => {
        this.#leave(key, waiter);
        reject(signal?.reason as Error);
      };
      const waiter: Waiter = {
        start: () => {
          signal?.removeEventListener('abort', abort);
          resolve(this.#hold(key));
        },
      };
      signal?.addEventListener('abort', abort);
      queue.push(waiter);
      this.#queues.set(key, queue);
      this.#waiting += 1;
      this.#next();
    });
  }

  #isFree(key: string): boolean {
    return this.#total < this.#limits.slots && (this.#held.get(key) ?? 0) < this.#limits.slotsPerKey;
  }

  #hold(key: string): () => void {
    this.#total += 1;
    this.#held.set(key, (this.#held.get(key) ?? 0) + 1);
    let ended = false;
    return () => {
      if (ended) return;
      ended = true;
      this.#total -= 1;
      const left = (this.#held.get(key) ?? 1) - 1;
      if (left) this.#held.set(key, left);
      else this.#held.delete(key);
      this.#next();
    };
  }

  #leave(key: string, waiter: Waiter): void {
    const queue = this.#queues.get(key);
    const at = queue?.indexOf(waiter) ?? -1;
    if (!queue || at < 0) return;
    queue.splice(at, 1);
    this.#waiting -= 1;
    if (!queue.length) this.#queues.delete(key);
  }

  #next(): void {
    for (const [key, queue] of this.#queues) {
      const waiter = this.#isFree(key) ? queue[0] : undefined;
      if (!waiter) continue;
      this.#leave(key, waiter);
      if (queue.length) {
        this.#queues.delete(key);
        this.#queues.set(key, queue);
      }
      waiter.start();
      this.#next();
      return;
    }
  }
}
