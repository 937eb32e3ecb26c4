import type { PostgresPoolClient } from 'kysely';

type Query = (sql: string, parameters: readonly unknown[]) => Promise<unknown>;

/** A connection in the form that Kysely needs. `release` is called with whether the connection is broken. */
export const poolClient = (query: Query, release: (isBroken: boolean) => void): PostgresPoolClient => ({
  // Kysely's type also has cursors, which nothing here uses.
  query: query as PostgresPoolClient['query'],
  release: (isBroken = false) => release(isBroken),
});
