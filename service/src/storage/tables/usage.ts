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

const counts = ['runs', 'failures', 'microseconds', 'builds'] as const;

/** The tables of usage, with the columns that the rows of an environment are sorted by. */
const keys = {
  usage_days: ['day', 'tenant'],
  usage_plugin_days: ['day', 'tenant', 'namespace', 'name'],
} as const;

type UsageTable = keyof typeof keys;

const refs = (names: readonly string[]) => sql.join(names.map((name) => sql.ref(name)));

/** How many rows are deleted at once. */
const deletedAtOnce = 200;

/** Adds to the stored usage of tenants and, where plugins are named, of plugins. */
export async function addUsage(db: Db, days: readonly (UsageOfDay | PluginUsageOfDay)[]): Promise<void> {
  const tenants = sumBy(days, ({ environment, day, tenant }) => [environment, day, tenant]);
  await addTo(db, 'usage_days', tenants);
  const ofPlugins = days.filter((one) => 'name' in one);
  const plugins = sumBy(ofPlugins, (one) => [one.environment, one.day, one.tenant, one.namespace, one.name]);
  await addTo(db, 'usage_plugin_days', plugins);
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
async function addTo(db: Db, table: UsageTable, days: readonly UsageOfDay[]): Promise<void> {
  if (!days.length) return;
  const key = ['environment', ...keys[table]] as const;
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
      sql`select ${refs([...key, ...counts])} from ${given} as given where true order by ${refs(key)}`,
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

/** Which rows are listed. */
export interface UsageFilter {
  readonly environment: string;
  /** All days to list without a gap, as `YYYY-MM-DD`, the earliest first. */
  readonly days: readonly string[];
  readonly tenant?: string | undefined;
}

/** A page of a list: after the row with this key, which is what the rows are sorted by. */
export interface UsagePage {
  readonly after?: readonly string[] | undefined;
  readonly limit: number;
}

/** Lists usage by day, then tenant. */
export const listUsage = (db: Db, filter: UsageFilter, page: UsagePage): Promise<UsageOfDay[]> =>
  list(db, 'usage_days', filter, page);

/** Lists usage by day, then tenant, namespace and name. */
export const listPluginUsage = (db: Db, filter: UsageFilter, page: UsagePage): Promise<PluginUsageOfDay[]> =>
  list(db, 'usage_plugin_days', filter, page);

async function list(
  db: Db,
  table: UsageTable,
  { environment, days, tenant }: UsageFilter,
  { after, limit }: UsagePage,
): Promise<PluginUsageOfDay[]> {
  const [from = ''] = after ?? [];
  const left = days.filter((day) => day >= from);
  const [first, last] = [left[0], left.at(-1)];
  if (first === undefined || last === undefined) return [];
  const key = keys[table];
  let query = db.query
    .selectFrom(table as 'usage_plugin_days')
    .select(['environment', ...key, ...counts])
    .where('environment', '=', environment)
    .$if(after !== undefined, (rows) =>
      rows.where(sql<boolean>`(${refs(key)}) > (${sql.join([...(after ?? [])])})`),
    )
    .limit(limit);
  for (const name of key) query = query.orderBy(name);
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
export async function deleteUsageBefore(
  { query, engine }: Db,
  table: UsageTable,
  day: string,
): Promise<boolean> {
  const key = refs(['environment', ...keys[table]]);
  const { numAffectedRows = 0n } = await sql`delete from ${sql.table(table)} where (${key}) in (
    select ${key} from ${sql.table(table)} where day < ${day}
    order by day limit ${sql.lit(deletedAtOnce)} ${engine.skipLocked})`.execute(query);
  return numAffectedRows >= deletedAtOnce;
}
