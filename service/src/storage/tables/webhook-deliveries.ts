import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import { v7 as createUuid } from 'uuid';
import type { WebhookEvent } from '../../plugins/webhook-events.ts';
import type { Db, Transaction } from '../db.ts';
import { webhookIdToBytes } from './webhooks.ts';

export type DeliveryStatus = 'pending' | 'delivered' | 'failed';

/** One try to deliver an event. `at`: milliseconds since the epoch; `took`: ms. */
export interface Attempt {
  readonly at: number;
  readonly statusCode?: number;
  readonly error?: string;
  readonly took: number;
}

/** A delivery as its vendor sees it. */
export interface DeliveryRecord {
  readonly position: number;
  readonly id: string;
  readonly type: WebhookEvent;
  readonly createdAt: number;
  readonly status: DeliveryStatus;
  readonly attempts: readonly Attempt[];
  readonly nextAt?: number;
}

/** A delivery that this node may try now. */
export interface ClaimedDelivery {
  readonly position: number;
  readonly id: string;
  readonly body: string;
  readonly tries: number;
  readonly attempts: readonly Attempt[];
  readonly giveUpAt: number;
  /** Until when no other node tries it. */
  readonly claimedUntil: number;
}

/** For how long an event is tried, and for how long deliveries are kept, in ms. */
const triedFor = 24 * 60 * 60_000;
const keptFor = 14 * triedFor;

/** How many deliveries of a webhook are kept, besides those that are still tried: only a flood of events has more in 14 days. */
export const maxKept = 100_000;

/** How many rows are written, and changed or deleted, at once. */
const [writtenAtOnce, changedAtOnce] = [500, 500];

/**
 * How many due deliveries of a webhook a claim looks at: as many of the oldest, and as many from a random time on, so that a flood about
 * one plugin does not hide what is about others. To look at all of them takes long where most wait for an earlier one.
 */
const lookedAt = 500;

/** How many attempts of a delivery are kept: more than there are in a day, however often it is sent again. */
const keptAttempts = 100;

/** An event for one webhook. */
export interface NewDelivery {
  readonly webhookId: Uint8Array;
  readonly type: WebhookEvent;
  /** When it happened, in milliseconds since the epoch. */
  readonly at: number;
  /** What it is about: the first tries of events with the same subject come in order. */
  readonly subject: string;
  readonly body: string;
}

/** Adds deliveries, in their order. */
export async function addDeliveries(
  { query }: Transaction,
  deliveries: readonly NewDelivery[],
): Promise<void> {
  const rows = deliveries.map(({ webhookId, type, at, subject, body }) => ({
    message_id: `msg_${createUuid().replaceAll('-', '')}`,
    webhook_id: webhookId,
    type,
    subject,
    body,
    created_at: at,
    status: 'pending' as const,
    tries: 0,
    attempts: '[]',
    next_at: at,
    give_up_at: at + triedFor,
  }));
  for (let start = 0; start < rows.length; start += writtenAtOnce)
    await query
      .insertInto('webhook_deliveries')
      .values(rows.slice(start, start + writtenAtOnce))
      .execute();
}

/**
 * Takes up to `limit` deliveries of a webhook that are due and not past their time, so that no other node tries them before
 * `claimedUntil`. An event that was never tried waits for the earlier ones about the same.
 */
export async function claimDeliveries(
  db: Db,
  webhookId: string,
  { now, claimedUntil, limit }: { now: number; claimedUntil: number; limit: number },
): Promise<ClaimedDelivery[]> {
  const id = webhookIdToBytes(webhookId);
  const thousandths = Math.floor(Math.random() * 1000);
  const randomTime = sql<number>`(select next_at + (${now} - next_at) * ${thousandths} / 1000
    from webhook_deliveries where webhook_id = ${id} and status = 'pending' order by next_at limit 1)`;
  const dueFrom = (time: number | typeof randomTime) =>
    db.query
      .selectFrom((from) =>
        from
          .selectFrom('webhook_deliveries')
          .select('position')
          .where('webhook_id', '=', id)
          .where('status', '=', 'pending')
          .where('next_at', '<=', now)
          .where('next_at', '>=', time)
          .orderBy('next_at')
          .orderBy('position')
          .limit(sql.lit(lookedAt))
          .as('some'),
      )
      .select('position');
  const rows = await db.query
    // Beside the update: within it, PostgreSQL may look for some again for each row that it has changed, and so take all.
    .with(
      (cte) => cte('claimed').materialized(),
      (select) =>
        select
          .selectFrom('webhook_deliveries as due')
          .select('due.position')
          .where('due.position', 'in', dueFrom(0).union(dueFrom(randomTime)))
          // Once more, because another node may have changed it since.
          .where('due.status', '=', 'pending')
          .where('due.next_at', '<=', now)
          .where('due.give_up_at', '>=', now)
          .where((where) =>
            where.or([
              where('due.tries', '>', 0),
              where.not(
                where.exists(
                  where
                    .selectFrom('webhook_deliveries as earlier')
                    .select('earlier.position')
                    .whereRef('earlier.webhook_id', '=', 'due.webhook_id')
                    .whereRef('earlier.subject', '=', 'due.subject')
                    .whereRef('earlier.position', '<', 'due.position')
                    .where('earlier.tries', '=', 0)
                    .where('earlier.status', '=', 'pending'),
                ),
              ),
            ]),
          )
          .orderBy('due.next_at')
          .orderBy('due.position')
          .limit(limit)
          .modifyEnd(db.engine.skipLocked),
    )
    .updateTable('webhook_deliveries')
    .set({ next_at: claimedUntil })
    .where('position', 'in', (select) => select.selectFrom('claimed').select('position'))
    .returning(['position', 'message_id', 'body', 'tries', 'attempts', 'give_up_at'])
    .execute();
  return rows
    .toSorted((a, b) => a.position - b.position)
    .map((row) => ({
      position: row.position,
      id: row.message_id,
      body: row.body,
      tries: row.tries,
      attempts: JSON.parse(row.attempts) as Attempt[],
      giveUpAt: row.give_up_at,
      claimedUntil,
    }));
}

/** Writes how a try ended. It counts for nothing where the delivery was sent again meanwhile, or claimed by another node. */
export async function finishDelivery(
  { query }: Db,
  { position, tries, attempts, claimedUntil }: ClaimedDelivery,
  attempt: Attempt,
  { status, nextAt }: { readonly status: DeliveryStatus; readonly nextAt?: number | undefined },
): Promise<void> {
  await query
    .updateTable('webhook_deliveries')
    .set({
      status,
      tries: tries + 1,
      attempts: JSON.stringify([...attempts, attempt].slice(-keptAttempts)),
      next_at: nextAt ?? null,
    })
    .where('position', '=', position)
    .where('next_at', '=', claimedUntil)
    .execute();
}

/** Lists a webhook's deliveries, the newest first, before the one at the position `before`. */
export async function listDeliveries(
  { query }: Db,
  webhookId: string,
  { before, limit }: { before?: number | undefined; limit: number },
): Promise<DeliveryRecord[]> {
  const rows = await query
    .selectFrom('webhook_deliveries')
    .select(['position', 'message_id', 'type', 'created_at', 'status', 'attempts', 'next_at'])
    .where('webhook_id', '=', webhookIdToBytes(webhookId))
    .$if(before !== undefined, (rest) => rest.where('position', '<', before ?? 0))
    .orderBy('position', 'desc')
    .limit(limit)
    .execute();
  return rows.map((row) => ({
    position: row.position,
    id: row.message_id,
    type: row.type as WebhookEvent,
    createdAt: row.created_at,
    status: row.status,
    attempts: JSON.parse(row.attempts) as Attempt[],
    ...(row.status === 'pending' && row.next_at !== null && { nextAt: row.next_at }),
  }));
}

/** Schedules a delivery anew, whatever became of it. Resolves with whether there is one. */
export async function resendDelivery(
  { query }: Db,
  webhookId: string,
  messageId: string,
  now: number,
): Promise<boolean> {
  const { numUpdatedRows } = await query
    .updateTable('webhook_deliveries')
    .set({ status: 'pending', tries: 0, next_at: now, give_up_at: now + triedFor })
    .where('webhook_id', '=', webhookIdToBytes(webhookId))
    .where('message_id', '=', messageId)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/**
 * Ends some of the deliveries whose time has passed, such as those of a disabled webhook, and deletes some old ones. Resolves with
 * whether there may be more.
 */
export async function expireDeliveries(db: Db, now: number): Promise<boolean> {
  const { numUpdatedRows } = await withSome(
    db,
    sql`status = 'pending' and give_up_at < ${now} and next_at < ${now}`,
  )
    .updateTable('webhook_deliveries')
    .set({ status: 'failed', next_at: null })
    .where('position', 'in', (select) => select.selectFrom('some').select('position'))
    .executeTakeFirst();
  const hasDeleted = await deleteSome(db, sql`created_at < ${now - keptFor} order by created_at`);
  return hasDeleted || numUpdatedRows === BigInt(changedAtOnce);
}

/**
 * Deletes some of a webhook's oldest deliveries beyond those that are kept, but none that is still tried. Resolves with whether there
 * may be more.
 */
export async function trimDeliveries(db: Db, webhookId: string, kept = maxKept): Promise<boolean> {
  const id = webhookIdToBytes(webhookId);
  const newestNotKept = sql`(select position from webhook_deliveries where webhook_id = ${id}
    order by position desc limit 1 offset ${sql.lit(kept)})`;
  return deleteSome(
    db,
    sql`webhook_id = ${id} and position <= ${newestNotKept} and status <> 'pending' order by position`,
  );
}

/** Deletes some of a webhook's oldest deliveries. Resolves with whether there may be more. */
export const deleteDeliveries = (db: Db, webhookId: string): Promise<boolean> =>
  deleteSome(db, sql`webhook_id = ${webhookIdToBytes(webhookId)} order by position`);

/** Deletes some deliveries. Resolves with whether there may be more. */
async function deleteSome(db: Db, which: RawBuilder<unknown>): Promise<boolean> {
  const { numDeletedRows } = await withSome(db, which)
    .deleteFrom('webhook_deliveries')
    .where('position', 'in', (select) => select.selectFrom('some').select('position'))
    .executeTakeFirst();
  return numDeletedRows === BigInt(changedAtOnce);
}

/** A statement in which `some` has the positions of matching deliveries, without those that another node is changing. */
const withSome = ({ query, engine }: Db, which: RawBuilder<unknown>) =>
  query.with(
    (cte) => cte('some').materialized(),
    () => sql<{ position: number }>`(select position from webhook_deliveries where ${which}
      limit ${sql.lit(changedAtOnce)} ${engine.skipLocked})`,
  );
