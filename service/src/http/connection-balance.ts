import type { Socket } from 'node:net';

/** Lets a process that has more connections than the others of its node give some up, which its clients then open anew. */
export class ConnectionBalance {
  readonly #active = new Set<Socket>();
  #surplus = 0;

  /** Counts a connection on which a request has arrived. */
  add(socket: Socket): void {
    this.#active.add(socket);
  }

  /** How many connections have had a request since the last call. Ends what {@link giveUp} began. */
  takeActive(): number {
    const { size } = this.#active;
    this.#active.clear();
    this.#surplus = 0;
    return size;
  }

  /** Closes `count` connections, each with the next response on it. */
  giveUp(count: number): void {
    this.#surplus = count;
  }

  /** Whether the connection of the next response is one of them. Each call counts. */
  takeSurplus(): boolean {
    if (this.#surplus === 0) return false;
    this.#surplus -= 1;
    return true;
  }
}
