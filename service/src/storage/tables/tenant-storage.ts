import { sql } from 'kysely';
import type { RawBuilder, SqlBool } from 'kysely';
import type { TenantKey } from '../../plugins/plugin-key.ts';
import { mebibyte } from '../../units.ts';
import { selectTenant } from './names.ts';
import type { Db, Transaction } from '../db.ts';

/** What a tenant takes, in bytes of UTF-8. */
export interface TenantUsage {
  /** Drafts, versions and programs. */
  readonly storage: number;
  /** The details in the records of its runs. */
  readonly records: number;
}

/** A write was refused, because it would add to what a tenant stores, which is as much as it may. */
export class StorageFullError extends Error {
  override readonly name = 'StorageFullError';
  /** In MiB, to three places. */
  readonly usedMb: number;
  readonly allowedMb: number;

  constructor(used: number, allowed: number) {
    super('The tenant stores as much as it may.');
    this.usedMb = toMebibytes(used);
    this.allowedMb = toMebibytes(allowed);
  }
}

/** Bytes in MiB, to three places. */
export const toMebibytes = (bytes: number): number => Math.round((bytes / mebibyte) * 1000) / 1000;

export async function readTenantUsage(db: Db, tenant: TenantKey): Promise<TenantUsage> {
  const row = await selectTenant(db, tenant)
    .leftJoin('tenant_storage', 'tenant_storage.tenant_id', 'tenants.id')
    .leftJoin('tenant_records', 'tenant_records.tenant_id', 'tenants.id')
    .select(['tenant_storage.bytes as storage', 'tenant_records.bytes as records'])
    .executeTakeFirst();
  return { storage: row?.storage ?? 0, records: row?.records ?? 0 };
}

/** The tenants of these plugins whose records take more than `allowed` bytes. */
export async function findTenantsWithTooManyRecords(
  db: Db,
  pluginIds: readonly number[],
  allowed: number,
): Promise<number[]> {
  if (!pluginIds.length) return [];
  // One parameter, because the number of parameters of a statement is limited.
  const given = db.engine.jsonRows(JSON.stringify(pluginIds.map((id) => ({ id }))), { id: 'integer' });
  const rows = await db.query
    .selectFrom('plugins')
    .innerJoin('tenant_records', 'tenant_records.tenant_id', 'plugins.tenant_id')
    .select('plugins.tenant_id')
    .distinct()
    .where(sql<SqlBool>`plugins.id in (select given.id from ${given} as given)`)
    .where('tenant_records.bytes', '>', allowed)
    .execute();
  return rows.map((row) => row.tenant_id);
}

/** Ends the exemptions of the tenants that store no more than `allowed` bytes. */
export async function endExemptions(db: Db, allowed: number): Promise<void> {
  await db.query
    .updateTable('tenant_storage')
    .set({ is_exempt: 0 })
    .where('is_exempt', '=', 1)
    .where('bytes', '<=', allowed)
    .execute();
}

/**
 * Does a write in a transaction, and refuses it when it adds to what the tenant stores, and that is more than `allowed` bytes then
 * (`undefined`: any number). Other writes of the tenant wait until the transaction ends, so that the count is exact.
 * @throws StorageFullError
 */
export async function writeWithinQuota<T>(
  db: Transaction,
  tenant: TenantKey,
  allowed: number | undefined,
  write: () => Promise<T>,
): Promise<T> {
  if (allowed === undefined) return write();
  const before = await lockCounter(db, tenant);
  const result = await write();
  const after = await lockCounter(db, tenant);
  const isRefused =
    after.bytes > before.bytes && after.bytes > allowed && !(before.is_exempt && before.bytes > allowed);
  if (isRefused) throw new StorageFullError(before.bytes, allowed);
  return result;
}

async function lockCounter(db: Transaction, tenant: TenantKey) {
  const row = await db.query
    .selectFrom('tenant_storage')
    .select(['bytes', 'is_exempt'])
    .where('tenant_id', '=', selectTenant(db, tenant).select('tenants.id'))
    .modifyEnd(db.engine.forUpdate)
    .executeTakeFirst();
  return row ?? { bytes: 0, is_exempt: 0 };
}

/** How many bytes a tenant can still add, as a subselect that locks its counter; negative above what is allowed. */
export const roomOf = (db: Db, tenant: TenantKey, allowed: number): RawBuilder<number> => sql<number>`(
  select case when is_exempt = 1 and bytes > ${allowed} then ${sql.lit(Number.MAX_SAFE_INTEGER)} else ${allowed} - bytes end
  from tenant_storage where tenant_id = (${selectTenant(db, tenant).select('tenants.id')}) ${db.engine.forUpdate})`;
