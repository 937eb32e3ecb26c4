import { Socket } from 'node:net';
import type { PostgresPoolClient } from 'kysely';
import { Client, types } from 'pg';
import type { ClientConfig } from 'pg';
import { withTimeout } from '../../with-timeout.ts';

/** A client whose connection can be destroyed at once, whatever it is waiting for. */
export class TrackedClient extends Client {
  readonly #socket: Socket;

  constructor(config: ClientConfig = {}) {
    const socket = new Socket();
    super({ ...config, stream: () => socket });
    this.#socket = socket;
    // Without a listener, the loss of a connection in use would end the process. Its user learns of it by the failing statement.
    this.on('error', () => {});
  }

  /** Closes the connection at once, without the protocol's message to the server. All unfinished statements fail. */
  destroy(): void {
    this.#socket.destroy();
  }
}

// By default `pg` returns 64-bit integers as text. All integers of the schema are below 2^53, so they can be numbers.
const int8: number = types.builtins.INT8;
const getTypeParser: typeof types.getTypeParser = (id: number, format?: 'text' | 'binary') =>
  id === int8 ? Number : types.getTypeParser(id, format);

/** The configuration that all connections of the service share. */
export const clientConfig = (connectionString: string): ClientConfig => ({
  connectionString,
  application_name: 'plugin-editor-service',
  keepAlive: true,
  types: { getTypeParser },
});

/** Waits until a connection has ended gracefully, at most `timeout` ms: a server that cannot be reached never responds. */
export async function waitForEnd(ending: Promise<unknown>, timeout: number): Promise<void> {
  // A connection that fails has ended, too.
  await withTimeout(ending, timeout, () => {}).catch(() => {});
}

type Query = (sql: string, parameters: readonly unknown[]) => Promise<unknown>;

/** A connection in the form that Kysely needs. `release` is called with whether the connection is broken. */
export const poolClient = (query: Query, release: (isBroken: boolean) => void): PostgresPoolClient => ({
  // Kysely's type also has cursors, which nothing here uses.
  query: query as PostgresPoolClient['query'],
  release: (isBroken = false) => release(isBroken),
});
