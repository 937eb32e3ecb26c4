import type { Socket } from 'node:net';

/**
 * Resets a connection, as a network does that breaks. A connection that is being ended is destroyed instead: libuv does not reset
 * a socket that is being shut down, and Node, which takes it for closed, then never lets the process end.
 */
export function resetConnection(socket: Socket): void {
  if (socket.writableEnded) socket.destroy();
  // oxlint-disable-next-line no-restricted-properties -- This is the place that makes sure that it can be reset.
  else socket.resetAndDestroy();
}
