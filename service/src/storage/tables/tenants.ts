import { sql } from 'kysely';
import type { TenantKey } from '../../plugins/plugin-key.ts';
import type { RecordLevel } from '../../plugins/record-level.ts';
import { selectTenant, tenantCacheKey } from './names.ts';
import { lockTenant } from '../db.ts';
import type { Db, Transaction } from '../db.ts';

/** A tenant's own limits, which override those of the settings. */
export interface TenantLimits {
  readonly plugins?: number;
  /** 0 for any number. */
  readonly runsPerMinute?: number;
  /** In MiB. */
  readonly storageMb?: number;
  /** 0 for any number. */
  readonly callsPerMinute?: number;
  readonly runTimeoutMs?: number;
  /** In MiB. */
  readonly runMemoryMb?: number;
  /** How much records of its runs hold. */
  readonly records?: RecordLevel;
}

export interface Tenant extends TenantKey {
  readonly id: number;
  /** Empty by default. */
  readonly description: string;
  readonly isSuspended: boolean;
  readonly limits: TenantLimits;
  /** The vendor's id for the person who created or changed it last. */
  readonly actor?: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}

/** The changes of a tenant. Missing fields stay unchanged; a limit of `null` is that of the settings again. */
export interface TenantChanges {
  readonly description?: string;
  readonly isSuspended?: boolean;
  readonly limits?: { readonly [L in keyof TenantLimits]?: TenantLimits[L] | null | undefined };
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

/**
 * Creates a tenant for its first token. Resolves with false, and does nothing, when it exists or was deleted, or its environment does not
 * exist.
 */
export async function addFirstTenant(
  db: Db,
  { environment, tenant }: TenantKey,
  now: number,
  actor?: string,
): Promise<boolean> {
  const row = await db.query
    .insertInto('tenants')
    .columns(['environment', 'name', 'created_at', 'changed_by'])
    .expression((eb) =>
      eb
        .selectFrom('environments')
        .select([
          'environments.name',
          sql<string>`${tenant}`.as('tenant'),
          sql<number>`${now}`.as('created_at'),
          sql<string | null>`${actor ?? null}`.as('changed_by'),
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
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

/** Creates a tenant, also one that was deleted; `undefined` when it exists. */
export async function createTenant(
  db: Transaction,
  { environment, tenant }: TenantKey,
  changes: TenantChanges,
  now: number,
  actor?: string,
): Promise<Tenant | undefined> {
  const row = await db.query
    .insertInto('tenants')
    .values({ environment, name: tenant, created_at: now, changed_by: actor ?? null, ...toColumns(changes) })
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst();
  if (row) noteChange(db, { environment, tenant });
  return row && toTenant(row);
}

/** Changes a tenant, and resolves with what it was before and is now; `undefined` when it does not exist. */
export async function updateTenant(
  db: Transaction,
  key: TenantKey,
  changes: TenantChanges,
  actor?: string,
): Promise<{ readonly before: Tenant; readonly after: Tenant } | undefined> {
  const columns = toColumns(changes);
  // As the creation of a plugin does, which then locks the same rows in another order.
  await lockTenant(db, key);
  const found = await selectTenant(db, key).selectAll().executeTakeFirst();
  if (!found) return undefined;
  const before = toTenant(found);
  if (!Object.keys(columns).length) return { before, after: before };
  // A limit that is set counts from now on, also for a tenant that was above the quota when that was new.
  if (typeof changes.limits?.storageMb === 'number') {
    await db.query
      .updateTable('tenant_storage')
      .set({ is_exempt: 0 })
      .where('tenant_id', '=', found.id)
      .execute();
  }
  const row = await db.query
    .updateTable('tenants')
    .set({ ...columns, changed_by: actor ?? null })
    .where('id', '=', found.id)
    .returningAll()
    .executeTakeFirstOrThrow();
  noteChange(db, key);
  return { before, after: toTenant(row) };
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
  ...(limits?.storageMb !== undefined && { storage_mb: limits.storageMb }),
  ...(limits?.callsPerMinute !== undefined && { calls_per_minute: limits.callsPerMinute }),
  ...(limits?.runTimeoutMs !== undefined && { run_timeout_ms: limits.runTimeoutMs }),
  ...(limits?.runMemoryMb !== undefined && { run_memory_mb: limits.runMemoryMb }),
  ...(limits?.records !== undefined && { record_level: limits.records }),
});

interface TenantRow {
  readonly id: number;
  readonly environment: string;
  readonly name: string;
  readonly description: string | null;
  readonly suspended: 0 | 1;
  readonly most_plugins: number | null;
  readonly runs_per_minute: number | null;
  readonly storage_mb: number | null;
  readonly calls_per_minute: number | null;
  readonly run_timeout_ms: number | null;
  readonly run_memory_mb: number | null;
  readonly record_level: string | null;
  readonly changed_by: string | null;
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
    ...(row.storage_mb !== null && { storageMb: row.storage_mb }),
    ...(row.calls_per_minute !== null && { callsPerMinute: row.calls_per_minute }),
    ...(row.run_timeout_ms !== null && { runTimeoutMs: row.run_timeout_ms }),
    ...(row.run_memory_mb !== null && { runMemoryMb: row.run_memory_mb }),
    ...(row.record_level !== null && { records: row.record_level as RecordLevel }),
  },
  ...(row.changed_by !== null && { actor: row.changed_by }),
  createdAt: row.created_at,
});
