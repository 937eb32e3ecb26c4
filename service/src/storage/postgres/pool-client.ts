import type { PostgresPoolClient } from 'kysely';

type Query = (sql: string, parameters: readonly unknown[]) => Promise<unknown>;

/** A connection as Kysely uses it. `release` is told whether it is of no more use. */
export const poolClient = (query: Query, release: (isBroken: boolean) => void): PostgresPoolClient => ({
  // Kysely's type has the cursors too, which nothing here uses.
  query: query as PostgresPoolClient['query'],
  release: (isBroken = false) => release(isBroken),
});
