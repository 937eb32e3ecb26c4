import type { Kysely, Transaction } from 'kysely';
import type { Engine } from '../engine.ts';
import type { Schema } from '../schema.ts';
import { pluginLock } from '../tables/names.ts';
import type { ProgramsInTransaction } from '../tables/programs.ts';
import { pluginSteps } from './plugin-rows.ts';

export interface Erasing {
  readonly db: Transaction<Schema>;
  readonly engine: Pick<Engine, 'lockAll' | 'lockRows' | 'tryLock'>;
  readonly programs: ProgramsInTransaction;
  /** How many plugins may go at once, and how many rows of them from each table. */
  readonly limit: number;
}

/** How many editor tokens go at once. */
const maxTokens = 200;

/**
 * Takes away some of what deleted plugins, or those of one deleted tenant, had: as much as a transaction may do that others
 * wait for. Says whether there may be more to do; false, too, where another node is at it. What is erased, and what is
 * not yet, is in the database alone, so that any node can go on at any time.
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

/** Whether there is something to erase. Costs next to nothing where there is not, and takes no lock. */
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

/** Says whether nothing hangs on the plugins any more. */
async function erasePlugins(
  { db, engine, programs, limit }: Erasing,
  plugins: readonly PluginRow[],
): Promise<boolean> {
  // A deploy or a build that found a plugin before it was deleted ends first, and none finds it later.
  await engine.lockAll(
    db,
    plugins.map((plugin) => pluginLock({ ...plugin, pluginName: plugin.name })),
  );
  const pluginIds = plugins.map(({ id }) => id);
  for (const step of pluginSteps) {
    if (!(await step({ db, engine, programs, pluginIds, limit }))) return false;
  }
  return true;
}

/** Of a deleted plugin the newest row of its name stays, which knows the last version. */
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
  // In the order of the index by name. By their ids PostgreSQL would look for them among the plugins of all tenants.
  const plugins = await selectPlugins(erasing)
    .where('plugins.tenant_id', '=', tenantId)
    .orderBy('plugins.namespace')
    .orderBy('plugins.name')
    .orderBy('plugins.id')
    .execute();
  if (plugins.length) {
    // One that is created anew starts at v1.0.0, so that nothing of its plugins has to stay.
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
  await db
    .updateTable('tenants')
    .set({ erased_at: now, description: null })
    .where('id', '=', tenantId)
    .execute();
}
