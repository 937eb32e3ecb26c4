import { sql } from 'kysely';
import { lockPlugin } from '../db.ts';
import type { Db, Transaction } from '../db.ts';
import { endSomeEditorTokens } from '../tables/editor-tokens.ts';
import { lockPrograms, removeUnusedPrograms } from '../tables/programs.ts';

/**
 * Erases some rows of deleted plugins, or of the plugins of one deleted tenant: few enough for a transaction that others wait for.
 * Call it in a transaction that does nothing else. Resolves with whether there may be more, and with false while another node is
 * erasing. The progress is only in the database, so that any node can go on at any time.
 * @param limit how many plugins to erase at most, and how many of their rows from each table
 */
export async function eraseSome(db: Transaction, now: number, limit: number): Promise<boolean> {
  if (!(await db.engine.tryLock(db.query, 'erasing'))) return false;
  const deleted = await selectPlugins(db, limit)
    .where('plugins.deleted_at', 'is not', null)
    .where('plugins.erased_at', 'is', null)
    .orderBy('plugins.id')
    .execute();
  if (deleted.length) {
    if (await erasePlugins(db, deleted, limit)) {
      for (const plugin of deleted) await leaveLastVersion(db, plugin, now);
    }
    return true;
  }
  const tenant = await db.query
    .selectFrom('tenants')
    .select('id')
    .where('deleted_at', 'is not', null)
    .where('erased_at', 'is', null)
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
  if (!tenant) return false;
  await eraseOfTenant(db, tenant.id, now, limit);
  return true;
}

/** Whether there is anything to erase. It takes no lock, and is cheap where there is nothing. */
export async function hasErasable({ query }: Db): Promise<boolean> {
  const row = await query
    .selectFrom('plugins')
    .select('id')
    .where('deleted_at', 'is not', null)
    .where('erased_at', 'is', null)
    .unionAll(
      query
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

const selectPlugins = ({ query }: Transaction, limit: number) =>
  query
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
async function erasePlugins(db: Transaction, plugins: readonly PluginRow[], limit: number): Promise<boolean> {
  // Waits for deploys and builds that found a plugin before it was deleted. Later ones do not find it.
  await lockPlugin(db, ...plugins.map((plugin) => ({ ...plugin, pluginName: plugin.name })));
  const pluginIds = plugins.map(({ id }) => id);
  for (const step of pluginSteps) {
    if (!(await step(db, pluginIds, limit))) return false;
  }
  return true;
}

/** Keeps the newest row of a deleted plugin's name, because it holds the number of the last version. */
async function leaveLastVersion({ query }: Transaction, plugin: PluginRow, now: number): Promise<void> {
  const isSuperseded = await query
    .selectFrom('plugins')
    .select('id')
    .where('tenant_id', '=', plugin.tenant_id)
    .where('namespace', '=', plugin.namespace)
    .where('name', '=', plugin.name)
    .where('id', '>', plugin.id)
    .limit(1)
    .executeTakeFirst();
  if (isSuperseded) await query.deleteFrom('plugins').where('id', '=', plugin.id).execute();
  else {
    await query
      .updateTable('plugins')
      .set({ erased_at: now, pinned_by: null })
      .where('id', '=', plugin.id)
      .execute();
  }
}

async function eraseOfTenant(db: Transaction, tenantId: number, now: number, limit: number): Promise<void> {
  const { query } = db;
  // In the order of the index by name. Ordered by id, PostgreSQL would search the plugins of all tenants.
  const plugins = await selectPlugins(db, limit)
    .where('plugins.tenant_id', '=', tenantId)
    .orderBy('plugins.namespace')
    .orderBy('plugins.name')
    .orderBy('plugins.id')
    .execute();
  if (plugins.length) {
    // A tenant that is created again starts at v1.0.0, so that no row of its plugins has to stay.
    if (await erasePlugins(db, plugins, limit)) {
      const ids = plugins.map(({ id }) => id);
      await query.deleteFrom('plugins').where('id', 'in', ids).execute();
    }
    return;
  }
  // Waits for transactions that found the tenant before it was deleted, and are still writing values of its connections.
  await query
    .selectFrom('tenants')
    .select('id')
    .where('id', '=', tenantId)
    .modifyEnd(db.engine.forUpdate)
    .execute();
  if (await endSomeEditorTokens(db, tenantId)) return;
  for (const table of ['tenant_storage', 'tenant_records', 'connection_values', 'replays'] as const)
    await query.deleteFrom(table).where('tenant_id', '=', tenantId).execute();
  await query
    .updateTable('tenants')
    .set({ erased_at: now, description: null })
    .where('id', '=', tenantId)
    .execute();
}

/**
 * Deletes rows of deleted plugins, of which there is at least one, from one table: up to `limit` rows of some kilobytes. Of smaller
 * rows, it may delete many more. Resolves with whether those were all.
 */
type ErasingStep = (db: Transaction, pluginIds: readonly number[], limit: number) => Promise<boolean>;

/**
 * Deletes versions, then builds, and the programs that nothing else refers to. In one step, because all programs have to be locked
 * at once; see `programs.ts`.
 */
const eraseVersionsAndBuilds: ErasingStep = async (db, pluginIds, limit) => {
  const { query } = db;
  const versions = await query
    .selectFrom('versions')
    .select(['plugin_id', 'patch', 'program_hash'])
    .where('plugin_id', 'in', pluginIds)
    .orderBy('plugin_id')
    .orderBy('patch')
    .limit(limit)
    .execute();
  const areAll = versions.length < limit;
  const builds = areAll
    ? await query.selectFrom('builds').select('program_hash').where('plugin_id', 'in', pluginIds).execute()
    : [];
  const hashes = new Set([...versions, ...builds].map((row) => row.program_hash));
  await lockPrograms(db, hashes);
  const last = versions.at(-1);
  if (last) {
    await query
      .deleteFrom('versions')
      .where('plugin_id', 'in', pluginIds)
      .where((eb) =>
        eb.or([
          eb('plugin_id', '<', last.plugin_id),
          eb.and([eb('plugin_id', '=', last.plugin_id), eb('patch', '<=', last.patch)]),
        ]),
      )
      .execute();
  }
  if (builds.length) await query.deleteFrom('builds').where('plugin_id', 'in', pluginIds).execute();
  await removeUnusedPrograms(db, hashes);
  return areAll;
};

const eraseDrafts: ErasingStep = async ({ query }, pluginIds) => {
  await query.deleteFrom('drafts').where('plugin_id', 'in', pluginIds).execute();
  return true;
};

const eraseHealth: ErasingStep = async ({ query }, pluginIds) => {
  await query.deleteFrom('plugin_run_counts').where('plugin_id', 'in', pluginIds).execute();
  await query.deleteFrom('plugin_health').where('plugin_id', 'in', pluginIds).execute();
  return true;
};

/** How many records of runs are deleted at once, whatever the limit. */
const maxRuns = 2000;

/** Deletes many more records of runs at once than versions: most have a few hundred bytes, where a source has thousands. */
const eraseRuns: ErasingStep = async ({ query, engine }, pluginIds, limit) => {
  const max = Math.min(50 * limit, maxRuns);
  // Waits for transactions that found the plugins before they were deleted, and are still writing records.
  await query
    .selectFrom('plugins')
    .select('id')
    .where('id', 'in', pluginIds)
    .orderBy('id')
    .modifyEnd(engine.forUpdate)
    .execute();
  const some = query.selectFrom('runs').select('id').where('plugin_id', 'in', pluginIds).limit(sql.lit(max));
  const { numDeletedRows } = await query
    .deleteFrom('runs')
    .where('plugin_id', 'in', pluginIds)
    .where('id', 'in', some)
    .executeTakeFirstOrThrow();
  return numDeletedRows < max;
};

const eraseRollouts: ErasingStep = async ({ query }, pluginIds) => {
  for (const table of ['rollouts', 'rollout_counts'] as const)
    await query.deleteFrom(table).where('plugin_id', 'in', pluginIds).execute();
  return true;
};

/**
 * The steps of erasing plugins, in their order. A new table whose rows refer to plugins needs a step here, and nothing else for
 * the deletion of plugins and tenants.
 */
const pluginSteps: readonly ErasingStep[] = [
  eraseRuns,
  eraseVersionsAndBuilds,
  eraseRollouts,
  eraseDrafts,
  eraseHealth,
];
