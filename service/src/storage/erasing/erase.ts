import type { Kysely, Transaction } from 'kysely';
import type { Engine } from '../engine.ts';
import type { Schema } from '../schema.ts';
import { pluginLock } from '../tables/names.ts';
import type { ProgramsInTransaction } from '../tables/programs.ts';
import { pluginSteps } from './plugin-rows.ts';

export interface Erasing {
  readonly db: Transaction<Schema>;
  readonly engine: Pick<Engine, 'forUpdate' | 'tryLock'>;
  /** Throws where a lock is taken. */
  readonly lock: (...names: readonly string[]) => Promise<void>;
  readonly programs: ProgramsInTransaction;
  /** How many plugins to erase at most, and how many of their rows from each table. */
  readonly limit: number;
}

/** How many editor tokens are deleted at once. */
const maxTokens = 200;

/**
 * Erases some rows of deleted plugins, or of the plugins of one deleted tenant: few enough for a transaction that others wait for.
 * Resolves with whether there may be more, and with false while another node is erasing. The progress is only in the database, so
 * that any node can go on at any time.
 */
export async function eraseSome(erasing: Erasing, now: number): Promise<boolean> {
  if (!(await erasing.engine.tryLock(erasing.db, 'erasing'))) return false;
  const deleted = await selectPlugins(erasing)
    .where('plugins.deleted_at', 'is not', null)
    .where('plugins.erased_at', 'is', null)
    .orderBy('plugins.id')
    .execute();
  if (deleted.length) {
    if (await erasePlugins(erasing, deleted)) {
      for (const plugin of deleted) await leaveLastVersion(erasing, plugin, now);
    }
    return true;
  }
  const tenant = await erasing.db
    .selectFrom('tenants')
    .select('id')
    .where('deleted_at', 'is not', null)
    .where('erased_at', 'is', null)
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
  if (!tenant) return false;
  await eraseOfTenant(erasing, tenant.id, now);
  return true;
}

/** Whether there is anything to erase. It takes no lock, and is cheap where there is nothing. */
export async function hasErasable(db: Kysely<Schema>): Promise<boolean> {
  const row = await db
    .selectFrom('plugins')
    .select('id')
    .where('deleted_at', 'is not', null)
    .where('erased_at', 'is', null)
    .unionAll(
      db
        .selectFrom('tenants')
        .select('id')
        .where('deleted_at', 'is not', null)
        .where('erased_at', 'is', null),
    )
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

type PluginRow = {
  readonly id: number;
  readonly tenant_id: number;
  readonly environment: string;
  readonly tenant: string;
  readonly namespace: string;
  readonly name: string;
};

const selectPlugins = ({ db, limit }: Erasing) =>
  db
    .selectFrom('plugins')
    .innerJoin('tenants', 'tenants.id', 'plugins.tenant_id')
    .select([
      'plugins.id',
      'plugins.tenant_id',
      'tenants.environment',
      'tenants.name as tenant',
      'plugins.namespace',
      'plugins.name',
    ])
    .limit(limit);

/** Resolves with whether no rows refer to the plugins any more. */
async function erasePlugins(
  { db, engine, programs, limit, lock }: Erasing,
  plugins: readonly PluginRow[],
): Promise<boolean> {
  // Waits for deploys and builds that found a plugin before it was deleted. Later ones do not find it.
  await lock(...plugins.map((plugin) => pluginLock({ ...plugin, pluginName: plugin.name })));
  const pluginIds = plugins.map(({ id }) => id);
  for (const step of pluginSteps) {
    if (!(await step({ db, engine, programs, pluginIds, limit }))) return false;
  }
  return true;
}

/** Keeps the newest row of a deleted plugin's name, because it holds the number of the last version. */
async function leaveLastVersion({ db }: Erasing, plugin: PluginRow, now: number): Promise<void> {
  const isSuperseded = await db
    .selectFrom('plugins')
    .select('id')
    .where('tenant_id', '=', plugin.tenant_id)
    .where('namespace', '=', plugin.namespace)
    .where('name', '=', plugin.name)
    .where('id', '>', plugin.id)
    .limit(1)
    .executeTakeFirst();
  if (isSuperseded) await db.deleteFrom('plugins').where('id', '=', plugin.id).execute();
  else {
    await db
      .updateTable('plugins')
      .set({ erased_at: now, pinned_by: null })
      .where('id', '=', plugin.id)
      .execute();
  }
}

async function eraseOfTenant(erasing: Erasing, tenantId: number, now: number): Promise<void> {
  const { db } = erasing;
  // In the order of the index by name. Ordered by id, PostgreSQL would search the plugins of all tenants.
  const plugins = await selectPlugins(erasing)
    .where('plugins.tenant_id', '=', tenantId)
    .orderBy('plugins.namespace')
    .orderBy('plugins.name')
    .orderBy('plugins.id')
    .execute();
  if (plugins.length) {
    // A tenant that is created again starts at v1.0.0, so that no row of its plugins has to stay.
    if (await erasePlugins(erasing, plugins)) {
      const ids = plugins.map(({ id }) => id);
      await db.deleteFrom('plugins').where('id', 'in', ids).execute();
    }
    return;
  }
  const tokens = await db
    .selectFrom('editor_tokens')
    .select('token_hash')
    .where('tenant_id', '=', tenantId)
    .limit(maxTokens)
    .execute();
  if (tokens.length) {
    const hashes = tokens.map((row) => row.token_hash);
    await db.deleteFrom('editor_tokens').where('token_hash', 'in', hashes).execute();
    return;
  }
  for (const table of ['tenant_storage', 'tenant_records'] as const)
    await db.deleteFrom(table).where('tenant_id', '=', tenantId).execute();
  await db
    .updateTable('tenants')
    .set({ erased_at: now, description: null })
    .where('id', '=', tenantId)
    .execute();
}
