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

/** The usage of a plugin on one day. It stays when the plugin is deleted. */
export interface PluginUsageOfDay extends UsageOfDay {
  readonly namespace: string;
  readonly name: string;
}

/** The last row of a page; the next page begins after it. */
export type UsageCursor = Pick<UsageOfDay, 'day' | 'tenant'>;
export type PluginUsageCursor = Pick<PluginUsageOfDay, 'day' | 'tenant' | 'namespace' | 'name'>;

const counts = ['runs', 'failures', 'microseconds', 'builds'] as const;

/** How many rows are deleted at once. */
const deletedAtOnce = 200;

/** Adds to the stored usage of tenants and, where plugins are named, of plugins. */
export async function addUsage(db: Db, days: readonly (UsageOfDay | PluginUsageOfDay)[]): Promise<void> {
  const tenants = sumBy(days, ({ environment, day, tenant }) => [environment, day, tenant]);
  await addTo(db, 'usage_days', ['environment', 'day', 'tenant'], tenants);
  const ofPlugins = days.filter((one) => 'name' in one);
  const plugins = sumBy(ofPlugins, (one) => [one.environment, one.day, one.tenant, one.namespace, one.name]);
  await addTo(db, 'usage_plugin_days', ['environment', 'day', 'tenant', 'namespace', 'name'], plugins);
}

/** One row for each key, with the sums of its counts. */
function sumBy<T extends UsageOfDay>(days: readonly T[], keyOf: (one: T) => readonly string[]): T[] {
  const sums = new Map<string, T>();
  for (const one of days) {
    const key = JSON.stringify(keyOf(one));
    const before = sums.get(key);
    const added = before && Object.fromEntries(counts.map((name) => [name, before[name] + one[name]]));
    sums.set(key, { ...one, ...added });
  }
  return [...sums.values()];
}

/** Adds rows to a table, in one statement. Each key may occur once. */
async function addTo(
  db: Db,
  table: 'usage_days' | 'usage_plugin_days',
  key: readonly ('environment' | 'day' | 'tenant' | 'namespace' | 'name')[],
  days: readonly UsageOfDay[],
): Promise<void> {
  if (!days.length) return;
  const given = db.engine.jsonRows(JSON.stringify(days), {
    ...Object.fromEntries(key.map((name) => [name, 'text' as const])),
    runs: 'integer',
    failures: 'integer',
    microseconds: 'integer',
    builds: 'integer',
  });
  await db.query
    .insertInto(table as 'usage_plugin_days')
    .columns([...key, ...counts])
    .expression(
      // Sorted, because two nodes that lock the same rows in different orders would deadlock.
      sql`select ${sql.join([...key, ...counts].map((name) => sql.ref(name)))} from ${given} as given
        where true order by ${sql.join(key.map((name) => sql.ref(name)))}`,
    )
    .onConflict((conflict) =>
      conflict
        .columns([...key])
        .doUpdateSet(
          Object.fromEntries(
            counts.map((name) => [name, sql`${sql.ref(`${table}.${name}`)} + excluded.${sql.ref(name)}`]),
          ),
        ),
    )
    .modifyEnd(db.engine.named)
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

/** Lists usage by day, then tenant, namespace and name; otherwise as {@link listUsage}. */
export async function listPluginUsage(
  db: Db,
  environment: string,
  days: readonly string[],
  limit: number,
  { tenant, after }: { tenant?: string | undefined; after?: PluginUsageCursor | undefined } = {},
): Promise<PluginUsageOfDay[]> {
  const left = after ? days.filter((day) => day >= after.day) : days;
  const [first, last] = [left[0], left.at(-1)];
  if (first === undefined || last === undefined) return [];
  const query = db.query
    .selectFrom('usage_plugin_days')
    .select(['environment', 'day', 'tenant', 'namespace', 'name', ...counts])
    .where('environment', '=', environment)
    .$if(after !== undefined, (rows) =>
      rows.where(
        sql<boolean>`(day, tenant, namespace, name) > (${after?.day}, ${after?.tenant}, ${after?.namespace}, ${after?.name})`,
      ),
    )
    .orderBy('day')
    .orderBy('tenant')
    .orderBy('namespace')
    .orderBy('name')
    .limit(limit);
  const rows = await (
    tenant === undefined
      ? query.where('day', '>=', first).where('day', '<=', last)
      : query.where('day', 'in', left).where('tenant', '=', tenant)
  ).execute();
  return rows.map((row) => ({ ...row }));
}

/** As {@link deleteUsageBefore}, of the usage of plugins. */
export async function deletePluginUsageBefore(db: Db, day: string): Promise<boolean> {
  const old = sql<string>`(select environment, day, tenant, namespace, name from usage_plugin_days where day < ${day}
    order by day limit ${sql.lit(deletedAtOnce)} ${db.engine.skipLocked})`;
  const { numDeletedRows } = await db.query
    .deleteFrom('usage_plugin_days')
    .where(sql<boolean>`(environment, day, tenant, namespace, name) in ${old}`)
    .executeTakeFirstOrThrow();
  return numDeletedRows >= deletedAtOnce;
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
