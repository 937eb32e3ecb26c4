import { sql } from 'kysely';
import type { Counters, KeyedLeaseRequest, Lease } from '../../limits/rate-share.ts';
import { rateWindow } from '../../limits/rate-share.ts';
import { withoutOwner } from '../turns.ts';
import type { Db } from '../db.ts';

/** How much all nodes together have used of each rate in its window. */
export const createRateCounters = (db: Db): Counters => ({
  lease: (requests, now) => lease(db, requests, now),
  prune: (now) => prune(db, now),
});

/**
 * Leases shares of several rates, and returns the leases by key. Each key may occur once. In one statement, so that no share is
 * given to two nodes, and so that it takes one round trip.
 */
async function lease(
  db: Db,
  requests: readonly KeyedLeaseRequest[],
  now: number,
): Promise<Map<string, Lease>> {
  const leasing = db.query
    .insertInto('rate_counters')
    // Sorted, because two nodes that lock the same rows in different orders would deadlock.
    .values(requests.toSorted((a, b) => (a.key < b.key ? -1 : 1)).map((one) => firstRow(one, now)))
    .onConflict((conflict) => conflict.column('key').doUpdateSet(nextRow))
    .returning(['key', 'ends_at', 'granted', 'previous_used', 'previous_ends_at']);
  const rows = await withoutOwner(() => leasing.execute());
  return new Map(
    rows.map((row) => [
      row.key,
      {
        endsAt: row.ends_at,
        granted: row.granted,
        previousEndsAt: row.previous_ends_at,
        previousUsed: row.previous_used,
      },
    ]),
  );
}

/** Deletes the windows that ended a window ago or earlier. */
async function prune(db: Db, now: number): Promise<void> {
  // Skips locked rows, because two nodes that delete the same rows in different orders would deadlock.
  const old = sql<string>`(select key from rate_counters where ends_at <= ${now - rateWindow} ${db.engine.skipLocked})`;
  await db.query.deleteFrom('rate_counters').where('key', 'in', old).execute();
}

/** The new row of a key, whose window begins with this request. */
function firstRow({ key, quota, unbooked, wanted }: KeyedLeaseRequest, now: number) {
  const granted = Math.max(0, Math.min(wanted, quota - unbooked));
  const used = unbooked + granted;
  const previous = { previous_used: 0, previous_ends_at: 0 };
  return { key, quota, used, granted, ends_at: now + rateWindow, ...previous };
}

// `rate_counters` is the existing row, and `excluded` the one that `firstRow` has made. A window that ends too far in the future
// counts as over, too, because a node's clock must have been wrong.
const isOver = sql<boolean>`(rate_counters.ends_at <= excluded.ends_at - ${sql.lit(rateWindow)} or rate_counters.ends_at > excluded.ends_at + ${sql.lit(rateWindow)})`;
const unbooked = sql<number>`(excluded.used - excluded.granted)`;
const left = sql<number>`(excluded.quota - rate_counters.used - ${unbooked})`;
const granted = sql<number>`(case when ${left} >= excluded.granted then excluded.granted when ${left} > 0 then ${left} else 0 end)`;
const whenOver = (then: string, otherwise: ReturnType<typeof sql<number>>) =>
  sql<number>`case when ${isOver} then ${sql.ref(then)} else ${otherwise} end`;

/** The update of an existing row. SQL evaluates all expressions with the values from before the update. */
const nextRow = {
  quota: sql<number>`excluded.quota`,
  granted: whenOver('excluded.granted', granted),
  used: whenOver('excluded.used', sql<number>`rate_counters.used + ${unbooked} + ${granted}`),
  ends_at: whenOver('excluded.ends_at', sql<number>`rate_counters.ends_at`),
  previous_used: whenOver('rate_counters.used', sql<number>`rate_counters.previous_used`),
  previous_ends_at: whenOver('rate_counters.ends_at', sql<number>`rate_counters.previous_ends_at`),
};
