import type { Kysely, Transaction as KyselyTransaction } from 'kysely';
import type { PluginKey, TenantKey } from '../plugins/plugin-key.ts';
import type { Change } from './changes/change-log.ts';
import type { Engine } from './engine.ts';
import type { Schema } from './schema.ts';
import { pluginCacheKey, tenantCacheKey } from './tables/names.ts';
import type { ProgramCache } from './tables/programs.ts';

/**
 * What the functions of `tables/` take first: the database, where each statement is a transaction and rows may change between a read
 * and a write, or a {@link Transaction}.
 */
export interface Db {
  readonly query: Kysely<Schema>;
  readonly engine: Engine;
  readonly programs: ProgramCache;
  /** Whether long texts are written compressed; see `packed-text.ts`. */
  readonly packsTexts: boolean;
}

/** A transaction. A function that takes one must not be called outside of it. */
export interface Transaction extends Db {
  readonly query: KyselyTransaction<Schema>;
  /** What other nodes have to learn of once the transaction is committed. */
  readonly changes: Change[];
}

/** Another transaction holds a lock. The one that asked for it is rolled back, so that it waits without a connection. */
export class LockedError extends Error {
  override readonly name = 'LockedError';
}

/**
 * Takes locks until the transaction ends: others that take one of them, on any node, wait. Call it before reading what the
 * transaction decides upon.
 * @throws LockedError while another transaction has one of them; then this one is rolled back and its work is done again
 */
export async function lock({ engine, query }: Transaction, ...names: readonly string[]): Promise<void> {
  if (!(await engine.tryLock(query, ...names))) throw new LockedError(names.join());
}

/** Locks plugins, as {@link lock} does. */
export const lockPlugin = (db: Transaction, ...plugins: readonly PluginKey[]): Promise<void> =>
  lock(db, ...plugins.map((plugin) => `plugin ${pluginCacheKey(plugin)}`));

/**
 * Locks a tenant, for decisions that depend on all of its plugins. Call it after {@link lockPlugin}: two transactions that take
 * the two locks in different orders would deadlock.
 */
export const lockTenant = (db: Transaction, tenant: TenantKey): Promise<void> =>
  lock(db, `tenant ${tenantCacheKey(tenant)}`);

/** Locks an e-mail address in lower case, as {@link lock} does. */
export const lockAddress = (db: Transaction, email: string): Promise<void> => lock(db, `address ${email}`);
