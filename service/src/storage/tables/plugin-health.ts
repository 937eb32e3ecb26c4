import { sql } from 'kysely';
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

/** Adds to the counts of a plugin. Resolves with those of the last five minutes. */
export async function addRunCounts(
  { query }: Transaction,
  pluginId: number,
  { runs, failures }: RunCounts,
  now: number,
): Promise<RunCounts> {
  const slot = slotAt(now);
  await query
    .insertInto('plugin_run_counts')
    .values({ plugin_id: pluginId, slot, runs, failures })
    .onConflict((conflict) =>
      conflict.columns(['plugin_id', 'slot']).doUpdateSet({
        runs: sql<number>`plugin_run_counts.runs + excluded.runs`,
        failures: sql<number>`plugin_run_counts.failures + excluded.failures`,
      }),
    )
    .execute();
  const sum = await query
    .selectFrom('plugin_run_counts')
    .select((select) => [
      select.fn.sum<number | string>('runs').as('runs'),
      select.fn.sum<number | string>('failures').as('failures'),
    ])
    .where('plugin_id', '=', pluginId)
    .where('slot', '>', slot - slots)
    .executeTakeFirst();
  return { runs: Number(sum?.runs ?? 0), failures: Number(sum?.failures ?? 0) };
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

/** The runs of one plugin that have ended since they were last written. */
export interface CountedPlugin extends RunCounts {
  readonly pluginId: number;
  readonly plugin: PluginKey;
}
