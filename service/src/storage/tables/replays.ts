import type { Db } from '../db.ts';

/** The right to replay runs of a tenant. Times are milliseconds since the epoch. */
export interface ReplayLeaseRow {
  readonly tenantId: number;
  readonly lease: string;
  readonly endsAt: number;
}

/** Takes a tenant's one replay. Resolves with whether no other lease holds at `now`. */
export async function takeReplay(
  { query }: Db,
  { tenantId, lease, endsAt }: ReplayLeaseRow,
  now: number,
): Promise<boolean> {
  const row = await query
    .insertInto('replays')
    .values({ tenant_id: tenantId, lease, ends_at: endsAt })
    .onConflict((conflict) =>
      conflict
        .column('tenant_id')
        .doUpdateSet({ lease, ends_at: endsAt })
        .where('replays.ends_at', '<=', now),
    )
    .returning('lease')
    .executeTakeFirst();
  return row !== undefined;
}

/** Prolongs a lease. Resolves with whether it is still the tenant's. */
export async function prolongReplay(
  { query }: Db,
  { tenantId, lease, endsAt }: ReplayLeaseRow,
): Promise<boolean> {
  const { numUpdatedRows } = await query
    .updateTable('replays')
    .set({ ends_at: endsAt })
    .where('tenant_id', '=', tenantId)
    .where('lease', '=', lease)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Ends a lease, unless another one has followed. */
export async function endReplay(
  { query }: Db,
  { tenantId, lease }: Omit<ReplayLeaseRow, 'endsAt'>,
): Promise<void> {
  await query.deleteFrom('replays').where('tenant_id', '=', tenantId).where('lease', '=', lease).execute();
}
