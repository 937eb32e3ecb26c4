import { sql } from 'kysely';
import type { SqlBool } from 'kysely';
import type { PluginKey } from '../../plugins/plugin-key.ts';
import type { Transaction } from '../db.ts';

/** How many runs of a plugin have ended, and how many of them failed. */
export interface RunCounts {
  readonly runs: number;
  readonly failures: number;
}

/** The length of a slot in which runs are counted, and how many slots are looked at, which is five minutes. */
const [slotLength, slots] = [10_000, 30];

const slotAt = (time: number): number => Math.floor(time / slotLength);

/** The runs of one plugin that have ended since they were last written. */
export interface CountedPlugin extends RunCounts {
  readonly pluginId: number;
  readonly plugin: PluginKey;
}

/** The runs of one plugin that ended in the last five minutes, and whether vendors were told that it is failing. */
export interface PluginHealthRow extends RunCounts {
  readonly pluginId: number;
  readonly isFailing: boolean;
}

/** Adds to the counts of plugins, each of which may occur once. Resolves with their health, by their ids in ascending order. */
export async function addRunCounts(
  { query, engine }: Transaction,
  counted: readonly CountedPlugin[],
  now: number,
): Promise<PluginHealthRow[]> {
  const slot = slotAt(now);
  const counts = counted.map(({ pluginId, runs, failures }) => ({
    plugin_id: pluginId,
    slot,
    runs,
    failures,
  }));
  const given = engine.jsonRows(JSON.stringify(counts), {
    plugin_id: 'integer',
    slot: 'integer',
    runs: 'integer',
    failures: 'integer',
  });
  await query
    .insertInto('plugin_run_counts')
    .columns(['plugin_id', 'slot', 'runs', 'failures'])
    // Sorted, because two nodes that lock the same rows in different orders would deadlock.
    .expression(
      sql`select plugin_id, slot, runs, failures from ${given} as given where true order by plugin_id`,
    )
    .onConflict((conflict) =>
      conflict.columns(['plugin_id', 'slot']).doUpdateSet({
        runs: sql<number>`plugin_run_counts.runs + excluded.runs`,
        failures: sql<number>`plugin_run_counts.failures + excluded.failures`,
      }),
    )
    .execute();
  const rows = await query
    .selectFrom('plugin_run_counts as counts')
    .leftJoin('plugin_health as health', 'health.plugin_id', 'counts.plugin_id')
    .select(({ fn }) => [
      'counts.plugin_id',
      fn.sum<number | string>('counts.runs').as('runs'),
      fn.sum<number | string>('counts.failures').as('failures'),
      fn.max('health.is_failing').as('is_failing'),
    ])
    .where(sql<SqlBool>`counts.plugin_id in (select given.plugin_id from ${given} as given)`)
    .where('counts.slot', '>', slot - slots)
    .groupBy('counts.plugin_id')
    .orderBy('counts.plugin_id')
    .execute();
  return rows.map((row) => ({
    pluginId: row.plugin_id,
    runs: Number(row.runs),
    failures: Number(row.failures),
    isFailing: row.is_failing === 1,
  }));
}

/** Sets whether a plugin is failing. Resolves with whether that is news. */
export async function setFailing(
  { query }: Transaction,
  pluginId: number,
  isFailing: boolean,
): Promise<boolean> {
  if (isFailing) {
    const row = await query
      .insertInto('plugin_health')
      .values({ plugin_id: pluginId, is_failing: 1 })
      .onConflict((conflict) =>
        conflict.column('plugin_id').doUpdateSet({ is_failing: 1 }).where('plugin_health.is_failing', '=', 0),
      )
      .returning('plugin_id')
      .executeTakeFirst();
    return row !== undefined;
  }
  const { numUpdatedRows } = await query
    .updateTable('plugin_health')
    .set({ is_failing: 0 })
    .where('plugin_id', '=', pluginId)
    .where('is_failing', '=', 1)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Deletes counts that are no longer looked at. */
export async function deleteOldRunCounts({ query }: Transaction, now: number): Promise<void> {
  await query
    .deleteFrom('plugin_run_counts')
    .where('slot', '<=', slotAt(now) - 2 * slots)
    .execute();
}

/** The environments, of these, with an enabled webhook for a plugin's health. */
export async function findHealthSubscribers(
  { query }: Transaction,
  environments: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await query
    .selectFrom('webhooks')
    .select('environment')
    .distinct()
    .where('environment', 'in', environments)
    .where('is_enabled', '=', 1)
    .where((where) =>
      where.or([where('events', 'like', '%plugin.failing%'), where('events', 'like', '%plugin.recovered%')]),
    )
    .execute();
  return new Set(rows.map(({ environment }) => environment));
}

/**
 * Changes webhooks. When an environment gets its first enabled webhook with health events, all its plugins count as healthy: without
 * such a webhook no runs are counted and no events are sent.
 */
export async function changeHealthSubscribers<T>(
  db: Transaction,
  environment: string,
  change: () => Promise<T>,
): Promise<T> {
  const hasSubscribers = async () => (await findHealthSubscribers(db, [environment])).size > 0;
  const hadSome = await hasSubscribers();
  const result = await change();
  if (!hadSome && (await hasSubscribers())) {
    const pluginIds = db.query
      .selectFrom('plugins')
      .innerJoin('tenants', 'tenants.id', 'plugins.tenant_id')
      .select('plugins.id')
      .where('tenants.environment', '=', environment);
    await db.query.deleteFrom('plugin_health').where('plugin_id', 'in', pluginIds).execute();
  }
  return result;
}
