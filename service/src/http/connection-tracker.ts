import type { Server } from 'node:http';
import { Server as NetServer } from 'node:net';
import type { Socket } from 'node:net';

/** Knows the connections of a server, and which of them have a request under way, so that the server can end politely. */
export class ConnectionTracker {
  readonly #server: Server;
  /** Each connection, with how many requests it has under way. */
  readonly #connections = new Map<Socket, number>();

  constructor(server: Server) {
    this.#server = server;
    server.on('connection', (socket: Socket) => {
      this.#connections.set(socket, 0);
      socket.once('close', () => this.#connections.delete(socket));
    });
    server.prependListener('request', ({ socket }, response) => {
      this.#add(socket, 1);
      response.once('close', () => this.#add(socket, -1));
    });
  }

  /**
   * Refuses connections from now on, and resolves when all that there are have ended. One without a request is closed after
   * `idleTime`, in ms, which is for how long its client was told that it may use it; one with a request after `graceTime`.
   */
  async end(idleTime: number, graceTime: number): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      // Not the HTTP server's own, which ends idle connections at once: a request may be on its way on one of them.
      NetServer.prototype.close.call(this.#server, () => resolve());
    });
    const timers = [
      setTimeout(() => this.#destroy((underWay) => underWay === 0), idleTime),
      setTimeout(() => this.#destroy(() => true), graceTime),
    ];
    await closed;
    for (const timer of timers) clearTimeout(timer);
    // Lets go of what the HTTP server has beside its connections.
    this.#server.close();
  }

  #add(socket: Socket, count: number): void {
    const underWay = this.#connections.get(socket);
    if (underWay !== undefined) this.#connections.set(socket, underWay + count);
  }

  #destroy(isMeant: (underWay: number) => boolean): void {
    for (const [socket, underWay] of this.#connections) if (isMeant(underWay)) socket.destroy();
  }
}
