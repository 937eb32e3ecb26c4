/** How much of the database one node takes, and how long anything may wait for it. Times are in ms. */
export interface PostgresLimits {
  /** Connections, not counting the one of the {@link Monitor}. */
  readonly connections: number;
  /** How many may wait for a connection. */
  readonly waiting: number;
  /** How long each may wait for it. */
  readonly acquireTimeout: number;
  /** How long the server works on a statement, waiting for locks included. */
  readonly statementTimeout: number;
  /** How long a connection may be held for one transaction or statement, whatever goes on there. */
  readonly holdTimeout: number;
  /** How long the monitor waits for the answer to one of its statements. */
  readonly monitorTimeout: number;
  /** How long the monitor waits for a new connection. A slow one has to succeed, with several round trips. */
  readonly monitorConnectTimeout: number;
  /** How long statements that are under way may go on when the database is let go of. */
  readonly closeTimeout: number;
  /** How often the monitor tries to connect while the database is away. */
  readonly reconnectInterval: number;
}

export const postgresLimits: PostgresLimits = {
  connections: 10,
  // A node has at most 2000 connections of clients, and most of what they ask for takes milliseconds.
  waiting: 1000,
  acquireTimeout: 5000,
  statementTimeout: 10_000,
  // More than a statement, so that the server's own error comes first while it answers at all.
  holdTimeout: 15_000,
  monitorTimeout: 3000,
  monitorConnectTimeout: 4000,
  closeTimeout: 3000,
  reconnectInterval: 1000,
};
