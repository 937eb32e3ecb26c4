/** A mutex whose holders take turns in the order in which they asked for it. */
export class Mutex {
  #last: Promise<void> = Promise.resolve();
  #waiting = 0;

  /** How many wait for their turn. */
  get waiting(): number {
    return this.#waiting;
  }

  /**
   * Resolves at the caller's turn, with the function that ends it. Rejects with a `MutexTimeoutError` when the turn does not come
   * within `timeout` ms (default: waits without a limit).
   */
  async acquire(timeout = Infinity): Promise<() => void> {
    const before = this.#last;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last = promise;
    const timedOut = Promise.withResolvers<never>();
    const timer =
      timeout === Infinity
        ? undefined
        : setTimeout(() => timedOut.reject(new MutexTimeoutError(timeout)), timeout);
    this.#waiting += 1;
    try {
      await Promise.race([before, timedOut.promise]);
      return resolve;
    } catch (error) {
      // The turn that still comes later is ended at once, so that the next one begins.
      void before.then(resolve);
      throw error;
    } finally {
      this.#waiting -= 1;
      clearTimeout(timer);
    }
  }
}

export class MutexTimeoutError extends Error {
  override readonly name = 'MutexTimeoutError';

  constructor(timeout: number) {
    super(`other writes took longer than ${timeout} ms`);
  }
}
