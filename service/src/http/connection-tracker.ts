import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import type { Server } from 'node:http';
import { Server as NetServer } from 'node:net';
import type { Socket } from 'node:net';

/** The port is closed once no connection has come for `quietTime`, or after `longestPause`; in ms. */
const quietTime = 25;
const longestPause = 250;

/** Tracks the connections of a server and their requests under way, so that the server can shut down without failing one. */
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
   * Stops accepting connections, and resolves when all existing ones have ended. A connection without a request is closed after
   * `idleTime` ms, which should be the keep-alive time that its client knows; one with a request after `graceTime` ms.
   */
  async end(idleTime: number, graceTime: number): Promise<void> {
    const { closed } = await this.#stopListening();
    const timers = [
      setTimeout(() => this.#destroy((underWay) => underWay === 0), idleTime),
      setTimeout(() => this.#destroy(() => true), graceTime),
    ];
    await closed;
    for (const timer of timers) clearTimeout(timer);
    // Stops the timer by which the HTTP server checks its connections for timeouts.
    this.#server.close();
  }

  /**
   * Closes the port. The system completes a client's connect before this process accepts it, and resets such connections when
   * the port is closed, with the requests that were sent on them. So all sockets are paused for a moment: clients that wait for
   * a response open no new connections, and the port is closed once none has come for a while.
   */
  async #stopListening(): Promise<{ closed: Promise<void> }> {
    this.#isPaused = true;
    for (const socket of this.#connections.keys()) socket.pause();
    const began = performance.now();
    const isQuiet = () => performance.now() - Math.max(began, this.#lastConnection) >= quietTime;
    while (!isQuiet() && performance.now() - began < longestPause) await sleep(1);
    // Waits for a turn of the event loop in which it had nothing to do: it has just accepted every pending connection.
    for (let turns = 0; turns < 1000; turns++) {
      const before = performance.now();
      await turn();
      if (performance.now() - before < 0.05) break;
    }
    const closed = new Promise<void>((resolve) => {
      // Not `close` of the HTTP server, which also ends idle connections: a request may be on its way on one of them.
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
