import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import type { Server } from 'node:http';
import { Server as NetServer } from 'node:net';
import type { Socket } from 'node:net';

/** How long no connection may have come before the port is closed, in ms, and how long that is waited for at the most. */
const quietTime = 25;
const longestPause = 250;

/** Knows the connections of a server, and which of them have a request under way, so that the server can end politely. */
export class ConnectionTracker {
  readonly #server: Server;
  /** Each connection, with how many requests it has under way. */
  readonly #connections = new Map<Socket, number>();
  #isPaused = false;
  #lastConnection = -Infinity;

  constructor(server: Server) {
    this.#server = server;
    server.on('connection', (socket: Socket) => {
      this.#connections.set(socket, 0);
      this.#lastConnection = performance.now();
      if (this.#isPaused) socket.pause();
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
    const { closed } = await this.#stopListening();
    const timers = [
      setTimeout(() => this.#destroy((underWay) => underWay === 0), idleTime),
      setTimeout(() => this.#destroy(() => true), graceTime),
    ];
    await closed;
    for (const timer of timers) clearTimeout(timer);
    // Lets go of what the HTTP server has beside its connections.
    this.#server.close();
  }

  /**
   * Closes the port. The system answers a client's attempt to connect before this process hears of it, and when the port is
   * closed it resets those connections, with the requests that were sent on them. So for a moment nothing is read: whoever
   * waits for an answer opens no new connection, and the port is closed once none has come for a while.
   */
  async #stopListening(): Promise<{ closed: Promise<void> }> {
    this.#isPaused = true;
    for (const socket of this.#connections.keys()) socket.pause();
    const began = performance.now();
    const isQuiet = () => performance.now() - Math.max(began, this.#lastConnection) >= quietTime;
    while (!isQuiet() && performance.now() - began < longestPause) await sleep(1);
    // Right after the event loop has looked for connections, and had nothing else to do in that turn.
    for (let turns = 0; turns < 1000; turns++) {
      const before = performance.now();
      await turn();
      if (performance.now() - before < 0.05) break;
    }
    const closed = new Promise<void>((resolve) => {
      // Not the HTTP server's own, which ends idle connections at once: a request may be on its way on one of them.
      NetServer.prototype.close.call(this.#server, () => resolve());
    });
    this.#isPaused = false;
    for (const socket of this.#connections.keys()) socket.resume();
    return { closed };
  }

  #add(socket: Socket, count: number): void {
    const underWay = this.#connections.get(socket);
    if (underWay !== undefined) this.#connections.set(socket, underWay + count);
  }

  #destroy(isMeant: (underWay: number) => boolean): void {
    for (const [socket, underWay] of this.#connections) if (isMeant(underWay)) socket.destroy();
  }
}
