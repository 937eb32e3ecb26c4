import { sql } from 'kysely';
import { v7 as createUuid } from 'uuid';
import type { WebhookEvent } from '../../plugins/webhook-events.ts';
import { lock } from '../db.ts';
import type { Db, Transaction } from '../db.ts';
import { bytesToUuid, uuidToBytes } from './uuids.ts';

/** A webhook as its vendor sees it. Times are in milliseconds since the epoch. */
export interface WebhookRecord {
  readonly id: string;
  readonly url: string;
  readonly events: readonly WebhookEvent[];
  readonly description?: string;
  readonly isEnabled: boolean;
  readonly disabledReason?: string;
  readonly createdAt: number;
}

/** Which webhook of which environment. */
export interface WebhookKey {
  readonly environment: string;
  readonly id: string;
}

/** What is needed to send to a webhook. */
export interface WebhookTarget {
  readonly id: string;
  readonly environment: string;
  /** How many webhooks of its environment are enabled. */
  readonly enabled: number;
  readonly url: string;
  /** Its secrets, encrypted: the current one, and the one before while that signs, too. */
  readonly sealedSecrets: readonly string[];
}

export interface NewWebhook {
  readonly environment: string;
  readonly url: string;
  readonly events: readonly WebhookEvent[];
  readonly description: string | undefined;
  readonly now: number;
  /** Encrypts the secret for a webhook with this id. */
  readonly seal: (id: string) => string;
}

/** How many webhooks an environment may have. */
export const maxWebhooks = 10;

/** The id of a webhook as its bytes: those of a UUID, or some that no webhook has. */
export const webhookIdToBytes = (id: string) =>
  /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/.test(id) ? uuidToBytes(id) : new Uint8Array();

const columns = [
  'id',
  'url',
  'events',
  'description',
  'is_enabled',
  'disabled_reason',
  'created_at',
] as const;

interface Row {
  readonly id: Uint8Array;
  readonly url: string;
  readonly events: string;
  readonly description: string | null;
  readonly is_enabled: 0 | 1;
  readonly disabled_reason: string | null;
  readonly created_at: number;
}

const toRecord = (row: Row): WebhookRecord => ({
  id: bytesToUuid(row.id),
  url: row.url,
  events: row.events.split(',') as WebhookEvent[],
  ...(row.description !== null && { description: row.description }),
  isEnabled: row.is_enabled === 1,
  ...(row.disabled_reason !== null && { disabledReason: row.disabled_reason }),
  createdAt: row.created_at,
});

/** Adds a webhook. Resolves with `undefined` where the environment has as many as it may have. */
export async function addWebhook(
  db: Transaction,
  { environment, url, events, description, now, seal }: NewWebhook,
): Promise<WebhookRecord | undefined> {
  await lock(db, `webhooks ${environment}`);
  const { count } = await db.query
    .selectFrom('webhooks')
    .select((select) => select.fn.countAll<number>().as('count'))
    .where('environment', '=', environment)
    .executeTakeFirstOrThrow();
  if (count >= maxWebhooks) return undefined;
  const id = createUuid({ msecs: now });
  const row = {
    id: uuidToBytes(id),
    url,
    events: events.join(),
    description: description ?? null,
    is_enabled: 1 as const,
    disabled_reason: null,
    created_at: now,
  };
  await db.query
    .insertInto('webhooks')
    .values({ ...row, environment, sealed_secret: seal(id) })
    .execute();
  return toRecord(row);
}

/** Lists an environment's webhooks, the oldest first, after the one with the id `after`. */
export async function listWebhooks(
  { query }: Db,
  environment: string,
  { after, limit }: { after?: string | undefined; limit: number },
): Promise<WebhookRecord[]> {
  const rows = await query
    .selectFrom('webhooks')
    .select(columns)
    .where('environment', '=', environment)
    .$if(after !== undefined, (rest) => rest.where('id', '>', webhookIdToBytes(after ?? '')))
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.map(toRecord);
}

export async function findWebhook(
  { query }: Db,
  { environment, id }: WebhookKey,
): Promise<WebhookRecord | undefined> {
  const row = await query
    .selectFrom('webhooks')
    .select(columns)
    .where('id', '=', webhookIdToBytes(id))
    .where('environment', '=', environment)
    .executeTakeFirst();
  return row && toRecord(row);
}

export interface WebhookChanges {
  readonly url?: string | undefined;
  readonly events?: readonly WebhookEvent[] | undefined;
  readonly description?: string | undefined;
  readonly enabled?: boolean | undefined;
}

/** Changes the given fields. Enabled again, a webhook has five days again until it is disabled by itself. */
export async function changeWebhook(
  db: Transaction,
  key: WebhookKey,
  { url, events, description, enabled }: WebhookChanges,
): Promise<WebhookRecord | undefined> {
  const changed = {
    ...(url !== undefined && { url }),
    ...(events && { events: events.join() }),
    ...(description !== undefined && { description }),
    ...(enabled !== undefined && {
      is_enabled: enabled ? (1 as const) : (0 as const),
      disabled_reason: null,
      failing_since: null,
    }),
  };
  if (Object.keys(changed).length) {
    await db.query
      .updateTable('webhooks')
      .set(changed)
      .where('id', '=', webhookIdToBytes(key.id))
      .where('environment', '=', key.environment)
      .execute();
  }
  return findWebhook(db, key);
}

/** Deletes a webhook with its deliveries. Resolves with whether there was one. */
export async function deleteWebhook(
  { query }: Transaction,
  { environment, id }: WebhookKey,
): Promise<boolean> {
  const { numDeletedRows } = await query
    .deleteFrom('webhooks')
    .where('id', '=', webhookIdToBytes(id))
    .where('environment', '=', environment)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** Replaces the secret. The one before signs, too, until `formerEndsAt`. Resolves with whether there is such a webhook. */
export async function replaceSecret(
  { query }: Transaction,
  { environment, id }: WebhookKey,
  sealed: string,
  formerEndsAt: number,
): Promise<boolean> {
  const { numUpdatedRows } = await query
    .updateTable('webhooks')
    .set({
      former_secret: sql<string>`sealed_secret`,
      former_ends_at: formerEndsAt,
      sealed_secret: sealed,
    })
    .where('id', '=', webhookIdToBytes(id))
    .where('environment', '=', environment)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** The ids of an environment's enabled webhooks that want an event. They are there until the transaction ends. */
export async function listSubscribers(
  { query, engine }: Transaction,
  environment: string,
  type: WebhookEvent,
): Promise<Uint8Array[]> {
  const rows = await query
    .selectFrom('webhooks')
    .select(['id', 'events'])
    .where('environment', '=', environment)
    .where('is_enabled', '=', 1)
    .modifyEnd(engine.forKeyShare('webhooks'))
    .execute();
  return rows.flatMap(({ id, events }) => (events.split(',').includes(type) ? [id] : []));
}

/** Lists the enabled webhooks that have something to be sent now. */
export async function listDueWebhooks({ query }: Db, now: number): Promise<WebhookTarget[]> {
  const rows = await query
    .selectFrom('webhooks')
    .select(['id', 'environment', 'url', 'sealed_secret', 'former_secret', 'former_ends_at'])
    .select((select) =>
      select
        .selectFrom('webhooks as other')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .whereRef('other.environment', '=', 'webhooks.environment')
        .where('other.is_enabled', '=', 1)
        .as('enabled'),
    )
    .where('is_enabled', '=', 1)
    .where((where) =>
      where.exists(
        where
          .selectFrom('webhook_deliveries')
          .select('position')
          .whereRef('webhook_id', '=', 'webhooks.id')
          .where('status', '=', 'pending')
          .where('next_at', '<=', now),
      ),
    )
    .execute();
  return rows.map((row) => ({
    id: bytesToUuid(row.id),
    environment: row.environment,
    enabled: row.enabled ?? 0,
    url: row.url,
    sealedSecrets: [
      row.sealed_secret,
      ...(row.former_secret !== null && (row.former_ends_at ?? 0) > now ? [row.former_secret] : []),
    ],
  }));
}

/** Notes that a try has succeeded. */
export async function noteSuccess({ query }: Db, id: string): Promise<void> {
  await query
    .updateTable('webhooks')
    .set({ failing_since: null })
    .where('id', '=', webhookIdToBytes(id))
    .where('failing_since', 'is not', null)
    .execute();
}

/**
 * Notes that a try has failed. Resolves with since when every try has, in milliseconds since the epoch; `undefined` where the webhook
 * was deleted.
 */
export async function noteFailure({ query }: Db, id: string, at: number): Promise<number | undefined> {
  const row = await query
    .updateTable('webhooks')
    .set({ failing_since: sql<number>`coalesce(failing_since, ${at})` })
    .where('id', '=', webhookIdToBytes(id))
    .returning('failing_since')
    .executeTakeFirst();
  return row?.failing_since ?? undefined;
}

/** Disables a webhook by itself. Resolves with whether it was enabled, and still has the address that failed. */
export async function disableWebhook(
  { query }: Transaction,
  { id, url }: Pick<WebhookTarget, 'id' | 'url'>,
  reason: string,
): Promise<boolean> {
  const { numUpdatedRows } = await query
    .updateTable('webhooks')
    .set({ is_enabled: 0, disabled_reason: reason })
    .where('id', '=', webhookIdToBytes(id))
    .where('url', '=', url)
    .where('is_enabled', '=', 1)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}
