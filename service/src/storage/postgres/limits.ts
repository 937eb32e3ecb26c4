/** How many connections one node uses, and how long it waits for the database. Times are in ms. */
export interface PostgresLimits {
  /** Connections, not counting the one of the {@link Monitor}. */
  readonly connections: number;
  /** How many may wait for a connection. */
  readonly waiting: number;
  /** How long each of them may wait. */
  readonly acquireTimeout: number;
  /** How long the server may work on a statement, including waiting for locks. */
  readonly statementTimeout: number;
  /** How long a connection may be in use for one transaction or statement. */
  readonly holdTimeout: number;
  /** How long the monitor waits for the result of a statement. */
  readonly monitorTimeout: number;
  /** How long the monitor waits for a new connection: long enough for several round trips on a slow network. */
  readonly monitorConnectTimeout: number;
  /** How long statements may go on when the storage is closed. */
  readonly closeTimeout: number;
  /** How often the monitor tries to connect while the database is unavailable. */
  readonly reconnectInterval: number;
}

export const postgresLimits: PostgresLimits = {
  connections: 10,
  // A node has at most 2000 connections of clients, and most requests take milliseconds.
  waiting: 1000,
  acquireTimeout: 5000,
  statementTimeout: 10_000,
  // Longer than for a statement, so that a server that still responds reports its own error first.
  holdTimeout: 15_000,
  monitorTimeout: 3000,
  monitorConnectTimeout: 4000,
  closeTimeout: 3000,
  reconnectInterval: 1000,
};
