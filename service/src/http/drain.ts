import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import { Server as NetServer } from 'node:net';
import type { Socket } from 'node:net';
import type { HttpServer } from './http-server.ts';

/** The port is closed once no connection has come for `quietTime`, or after `longestPause`; in ms. */
const quietTime = 25;
const longestPause = 250;

/**
 * Stops accepting connections without failing a request, and resolves when all existing ones have ended. A connection without a
 * request is closed after `idleTime` ms, which should be the keep-alive time that its client knows; one with a request after
 * `graceTime` ms.
 */
export async function drainServers(
  servers: readonly HttpServer[],
  idleTime: number,
  graceTime: number,
): Promise<void> {
  const { closed } = await stopListening(servers);
  const destroy = (isIdleOnly: boolean) => {
    for (const { connections } of servers)
      for (const { socket, isIdle } of connections.values()) if (isIdle || !isIdleOnly) socket.destroy();
  };
  const timers = [setTimeout(() => destroy(true), idleTime), setTimeout(() => destroy(false), graceTime)];
  await closed;
  for (const timer of timers) clearTimeout(timer);
  // Stops the timers by which the HTTP servers check their connections for timeouts.
  for (const { server } of servers) server.close();
}

/**
 * Closes the port. The system completes a client's connect before this process accepts it, and resets such connections when
 * the port is closed, with the requests that were sent on them. So all sockets are paused for a moment: clients that wait for
 * a response open no new connections, and the port is closed once none has come for a while. All servers of the port close at
 * once: a client that one of them reset would find another one still open, and has to take the reset for a failure.
 */
async function stopListening(servers: readonly HttpServer[]): Promise<{ closed: Promise<unknown> }> {
  const began = performance.now();
  let latest = began;
  const pause = (socket: Socket) => {
    latest = performance.now();
    socket.pause();
  };
  for (const { server, connections } of servers) {
    server.on('connection', pause);
    for (const socket of connections.keys()) socket.pause();
  }
  while (performance.now() - latest < quietTime && performance.now() - began < longestPause) await sleep(1);
  // Until a turn of the event loop accepts none: in each, a socket that listens accepts one of those that wait for it.
  for (let before = NaN; latest !== before && performance.now() - began < 2 * longestPause;) {
    before = latest;
    await turn();
  }
  const closed = Promise.all(
    servers.map(
      ({ server }) =>
        // Not `close` of the HTTP server, which also ends idle connections: a request may be on its way on one of them.
        new Promise((resolve) => NetServer.prototype.close.call(server, resolve)),
    ),
  );
  for (const { server, connections } of servers) {
    server.off('connection', pause);
    for (const socket of connections.keys()) socket.resume();
  }
  return { closed };
}
