import { sql } from 'kysely';
import type { TenantKey } from '../../plugins/plugin-key.ts';
import { selectTenant, tenantCacheKey } from './names.ts';
import type { Db, Transaction } from '../db.ts';

/** A tenant's own limits, which override those of the settings. */
export interface TenantLimits {
  readonly plugins?: number;
  /** 0 for any number. */
  readonly runsPerMinute?: number;
}

export interface Tenant extends TenantKey {
  readonly id: number;
  /** Empty by default. */
  readonly description: string;
  readonly isSuspended: boolean;
  readonly limits: TenantLimits;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}

/** The changes of a tenant. Missing fields stay unchanged; a limit of `null` is that of the settings again. */
export interface TenantChanges {
  readonly description?: string;
  readonly isSuspended?: boolean;
  readonly limits?: { readonly plugins?: number | null; readonly runsPerMinute?: number | null };
}

/** Finds a tenant; `undefined` when it never existed or was deleted. */
export async function findTenant(db: Db, key: TenantKey): Promise<Tenant | undefined> {
  const row = await selectTenant(db, key).selectAll().executeTakeFirst();
  return row && toTenant(row);
}

/** Lists an environment's tenants in the byte order of their names, after the name `after`. */
export async function listTenants(
  db: Db,
  environment: string,
  { after, limit }: { after?: string | undefined; limit: number },
) {
  let query = db.query
    .selectFrom('tenants')
    .selectAll()
    .select((eb) =>
      eb
        .selectFrom('plugins')
        .whereRef('plugins.tenant_id', '=', 'tenants.id')
        .where('plugins.deleted_at', 'is', null)
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .as('plugins'),
    )
    .where('environment', '=', environment)
    .where('deleted_at', 'is', null);
  if (after !== undefined) query = query.where('name', '>', after);
  const rows = await query.orderBy('name').limit(limit).execute();
  return rows.map(({ plugins, ...row }) => ({ ...toTenant(row), plugins: plugins ?? 0 }));
}

/** How many plugins a tenant has, counted up to `max`. */
export async function countPlugins(db: Db, key: TenantKey, max = Infinity): Promise<number> {
  // Only the index by name is read, and no more entries of it than necessary.
  const some = selectTenant(db, key)
    .innerJoin('plugins', 'plugins.tenant_id', 'tenants.id')
    .select('plugins.id')
    .where('plugins.deleted_at', 'is', null)
    .$if(max !== Infinity, (query) => query.limit(max));
  const { count } = await db.query
    .selectFrom(some.as('some'))
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

/** Creates a tenant for its first token. Does nothing when it exists or was deleted, or when its environment does not exist. */
export async function addFirstTenant(db: Db, { environment, tenant }: TenantKey, now: number): Promise<void> {
  await db.query
    .insertInto('tenants')
    .columns(['environment', 'name', 'created_at'])
    .expression((eb) =>
      eb
        .selectFrom('environments')
        .select([
          'environments.name',
          sql<string>`${tenant}`.as('tenant'),
          sql<number>`${now}`.as('created_at'),
        ])
        .where('environments.name', '=', environment)
        .where((where) =>
          where.not(
            where.exists(
              where
                .selectFrom('tenants')
                .select('id')
                .where('environment', '=', environment)
                .where('tenants.name', '=', tenant),
            ),
          ),
        ),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Creates a tenant, also one that was deleted; `undefined` when it exists. */
export async function createTenant(
  db: Transaction,
  { environment, tenant }: TenantKey,
  changes: TenantChanges,
  now: number,
): Promise<Tenant | undefined> {
  const row = await db.query
    .insertInto('tenants')
    .values({ environment, name: tenant, created_at: now, ...toColumns(changes) })
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst();
  if (row) noteChange(db, { environment, tenant });
  return row && toTenant(row);
}

/** Changes a tenant; `undefined` when it does not exist. */
export async function updateTenant(
  db: Transaction,
  key: TenantKey,
  changes: TenantChanges,
): Promise<Tenant | undefined> {
  const columns = toColumns(changes);
  if (!Object.keys(columns).length) return findTenant(db, key);
  const row = await db.query
    .updateTable('tenants')
    .set(columns)
    .where('id', '=', selectTenant(db, key).select('tenants.id'))
    .returningAll()
    .executeTakeFirst();
  if (row) noteChange(db, key);
  return row && toTenant(row);
}

/**
 * Deletes a tenant. From the commit on its rows cannot be found, and the eraser deletes them. Resolves with false when it does
 * not exist. The transaction must have locked the tenant, so that no plugin is created meanwhile.
 */
export async function deleteTenant(db: Transaction, key: TenantKey, now: number): Promise<boolean> {
  const row = await db.query
    .updateTable('tenants')
    .set({ deleted_at: now })
    .where('id', '=', selectTenant(db, key).select('tenants.id'))
    .returning('id')
    .executeTakeFirst();
  if (row) noteChange(db, key);
  return row !== undefined;
}

function noteChange(db: Transaction, key: TenantKey): void {
  db.changes.push({ kind: 'tenant', key: tenantCacheKey(key) });
}

const toColumns = ({ description, isSuspended, limits }: TenantChanges) => ({
  ...(description !== undefined && { description }),
  ...(isSuspended !== undefined && { suspended: isSuspended ? (1 as const) : (0 as const) }),
  ...(limits?.plugins !== undefined && { most_plugins: limits.plugins }),
  ...(limits?.runsPerMinute !== undefined && { runs_per_minute: limits.runsPerMinute }),
});

interface TenantRow {
  readonly id: number;
  readonly environment: string;
  readonly name: string;
  readonly description: string | null;
  readonly suspended: 0 | 1;
  readonly most_plugins: number | null;
  readonly runs_per_minute: number | null;
  readonly created_at: number;
}

const toTenant = (row: TenantRow): Tenant => ({
  id: row.id,
  environment: row.environment,
  tenant: row.name,
  description: row.description ?? '',
  isSuspended: row.suspended === 1,
  limits: {
    ...(row.most_plugins !== null && { plugins: row.most_plugins }),
    ...(row.runs_per_minute !== null && { runsPerMinute: row.runs_per_minute }),
  },
  createdAt: row.created_at,
});
