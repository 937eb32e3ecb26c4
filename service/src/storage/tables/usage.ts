import { sql } from 'kysely';
import type { Db } from '../db.ts';

/** The usage of a tenant on one day. It stays when the tenant is deleted. */
export interface UsageOfDay {
  readonly environment: string;
  readonly tenant: string;
  /** By UTC, as `YYYY-MM-DD`. */
  readonly day: string;
  readonly runs: number;
  /** How many of the runs failed. */
  readonly failures: number;
  /** The time of all runs together. */
  readonly microseconds: number;
  readonly builds: number;
}

/** The last row of a page; the next page begins after it. */
export type UsageCursor = Pick<UsageOfDay, 'day' | 'tenant'>;

const counts = ['runs', 'failures', 'microseconds', 'builds'] as const;

/** How many rows are deleted at once. */
const deletedAtOnce = 200;

/** Adds to the stored usage, in one statement. Each pair of a day and a tenant may occur once. */
export async function addUsage(db: Db, days: readonly UsageOfDay[]): Promise<void> {
  if (!days.length) return;
  const given = db.engine.jsonRows(JSON.stringify(days), {
    environment: 'text',
    tenant: 'text',
    day: 'text',
    runs: 'integer',
    failures: 'integer',
    microseconds: 'integer',
    builds: 'integer',
  });
  await db.query
    .insertInto('usage_days')
    .columns(['environment', 'day', 'tenant', ...counts])
    .expression(
      // Sorted, because two nodes that lock the same rows in different orders would deadlock.
      sql`select environment, day, tenant, runs, failures, microseconds, builds from ${given} as given
        where true order by environment, day, tenant`,
    )
    .onConflict((conflict) =>
      conflict
        .columns(['environment', 'day', 'tenant'])
        .doUpdateSet(
          Object.fromEntries(
            counts.map((name) => [name, sql`usage_days.${sql.ref(name)} + excluded.${sql.ref(name)}`]),
          ),
        ),
    )
    .execute();
}

/** Lists usage by day, then tenant. `days`: all days to list without a gap, as `YYYY-MM-DD`, the earliest first. */
export async function listUsage(
  db: Db,
  environment: string,
  days: readonly string[],
  limit: number,
  { tenant, after }: { tenant?: string | undefined; after?: UsageCursor | undefined } = {},
): Promise<UsageOfDay[]> {
  const left = after ? days.filter((day) => day >= after.day) : days;
  const [first, last] = [left[0], left.at(-1)];
  if (first === undefined || last === undefined) return [];
  const query = db.query
    .selectFrom('usage_days')
    .select(['environment', 'day', 'tenant', ...counts])
    .where('environment', '=', environment)
    .$if(after !== undefined, (rows) =>
      rows.where(sql<boolean>`(day, tenant) > (${after?.day}, ${after?.tenant})`),
    )
    .orderBy('day')
    .orderBy('tenant')
    .limit(limit);
  const rows = await (
    tenant === undefined
      ? query.where('day', '>=', first).where('day', '<=', last)
      : // As single days, so that there is one look-up for each, however many tenants there are.
        query.where('day', 'in', left).where('tenant', '=', tenant)
  ).execute();
  // Copied, because rows of node:sqlite have no prototype.
  return rows.map((row) => ({ ...row }));
}

/** Deletes a batch of rows from before a day. Resolves with whether it was a whole batch. */
export async function deleteUsageBefore(db: Db, day: string): Promise<boolean> {
  const old = sql<string>`(select environment, day, tenant from usage_days where day < ${day}
    order by day limit ${sql.lit(deletedAtOnce)} ${db.engine.skipLocked})`;
  const { numDeletedRows } = await db.query
    .deleteFrom('usage_days')
    .where(sql<boolean>`(environment, day, tenant) in ${old}`)
    .executeTakeFirstOrThrow();
  return numDeletedRows >= deletedAtOnce;
}
