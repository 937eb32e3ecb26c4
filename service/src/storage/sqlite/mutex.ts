/** Lets one at a time go on, in the order in which they asked. */
export class Mutex {
  #last: Promise<void> = Promise.resolve();

  /** Resolves when it is the caller's turn, with what ends the turn. */
  async acquire(): Promise<() => void> {
    const before = this.#last;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last = promise;
    await before;
    return resolve;
  }
}
