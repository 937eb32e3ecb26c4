import { sql } from 'kysely';
import type { Transaction } from 'kysely';
import type { Engine } from '../engine.ts';
import type { Schema } from '../schema.ts';

/** Deletes some records of runs of deleted plugins. Resolves with whether those were all. */
export async function eraseRuns(
  db: Transaction<Schema>,
  { forUpdate }: Pick<Engine, 'forUpdate'>,
  pluginIds: readonly number[],
  limit: number,
): Promise<boolean> {
  // Waits for transactions that found the plugins before they were deleted, and are still writing records.
  await db
    .selectFrom('plugins')
    .select('id')
    .where('id', 'in', pluginIds)
    .orderBy('id')
    .modifyEnd(forUpdate)
    .execute();
  const some = db.selectFrom('runs').select('id').where('plugin_id', 'in', pluginIds).limit(sql.lit(limit));
  const { numDeletedRows } = await db.deleteFrom('runs').where('id', 'in', some).executeTakeFirstOrThrow();
  return numDeletedRows < limit;
}
