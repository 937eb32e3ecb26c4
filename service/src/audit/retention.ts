import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Storage } from '../storage/storage.ts';
import type { Transaction } from '../storage/db.ts';
import { firstBytesAt } from '../storage/tables/uuids.ts';
import { withoutOwner } from '../storage/turns.ts';
import { dayLength, mebibyte } from '../units.ts';

/** For how many days entries are kept, and how many bytes of an environment. */
export const auditLimits = { days: 400, bytes: 1024 * mebibyte };

/** How often to look for entries to delete, and the pause after each transaction, in ms. */
const [interval, pause] = [60_000, 10];

/** How many entries a transaction counts or deletes. */
const batch = 1000;

/** For how long an entry is not counted, in ms: one with a lower id may still be in a transaction of another node. */
const countedAfter = 10 * 60_000;

export interface AuditRetentionOptions {
  readonly storage: Pick<Storage, 'transaction' | 'isSchemaReady'>;
  readonly days?: number;
  readonly bytes?: number;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  /** Called with each error. What failed is tried again. */
  readonly onError?: (error: unknown) => void;
}

/**
 * Deletes old entries of the audit log, and the oldest of environments that have too many. Every node does; one at a time counts
 * and deletes. What an environment has is counted here and not by the writers, who would wait for each other's counts.
 */
export class AuditRetention {
  readonly #options: Required<AuditRetentionOptions>;
  readonly #ended = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #sweeping: Promise<void> | undefined;

  constructor(options: AuditRetentionOptions) {
    this.#options = { ...auditLimits, now: Date.now, onError: () => {}, ...options };
  }

  start(): void {
    const next = () => void this.sweep().then(() => this.#ended.signal.aborted || this.start());
    this.#timer = setTimeout(next, interval).unref();
  }

  /** Counts new entries and deletes excess ones. Never rejects: what failed is tried again next time. */
  sweep(): Promise<void> {
    this.#sweeping ??= withoutOwner(() => this.#sweep()).finally(() => (this.#sweeping = undefined));
    return this.#sweeping;
  }

  async close(): Promise<void> {
    this.#ended.abort();
    clearTimeout(this.#timer);
    await this.#sweeping;
  }

  async #sweep(): Promise<void> {
    const { storage, days, bytes, now, onError } = this.#options;
    if (!storage.isSchemaReady) return;
    const steps = [
      (db: Transaction) => countSome(db, now() - countedAfter),
      (db: Transaction) => deleteSomeBefore(db, now() - days * dayLength),
      (db: Transaction) => deleteSomeAbove(db, bytes),
    ];
    for (const step of steps) {
      try {
        await this.#repeat(step);
      } catch (error) {
        if (!this.#ended.signal.aborted) onError(error);
      }
    }
  }

  async #repeat(step: (db: Transaction) => Promise<boolean>): Promise<void> {
    const { signal } = this.#ended;
    const locked = async (db: Transaction) =>
      (await db.engine.tryLock(db.query, 'audit retention')) && step(db);
    while (!signal.aborted && (await this.#options.storage.transaction(locked)))
      await sleep(pause, undefined, { signal }).catch(() => {});
  }
}

/** Counts some entries from before a time. Resolves with whether there may be more. */
async function countSome({ query }: Transaction, time: number): Promise<boolean> {
  const { counted_to: countedTo } = await query
    .selectFrom('audit_progress')
    .select('counted_to')
    .executeTakeFirstOrThrow();
  const rows = await query
    .selectFrom('audit_entries')
    .select(['id', 'environment', 'size'])
    .where('id', '>', countedTo)
    .where('id', '<', firstBytesAt(time))
    .orderBy('id')
    .limit(batch)
    .execute();
  const last = rows.at(-1);
  if (!last) return false;
  const sums = new Map<string, number>();
  for (const { environment, size } of rows) sums.set(environment, (sums.get(environment) ?? 0) + size);
  for (const [environment, bytes] of sums) {
    await query
      .insertInto('audit_sizes')
      .values({ environment, bytes })
      .onConflict((conflict) =>
        conflict.column('environment').doUpdateSet({ bytes: sql`audit_sizes.bytes + ${bytes}` }),
      )
      .execute();
  }
  await query.updateTable('audit_progress').set({ counted_to: last.id }).execute();
  return rows.length === batch;
}

/** Deletes some entries from before a time. Resolves with whether there may be more. */
async function deleteSomeBefore(db: Transaction, time: number): Promise<boolean> {
  const rows = await db.query
    .selectFrom('audit_entries')
    .select('id')
    .where('id', '<', firstBytesAt(time))
    .orderBy('id')
    .limit(batch)
    .execute();
  return deleteEntries(
    db,
    rows.map(({ id }) => id),
  );
}

/** Deletes some of the oldest entries of an environment that has too many bytes. Resolves with whether there may be more. */
async function deleteSomeAbove(db: Transaction, bytes: number): Promise<boolean> {
  const full = await db.query
    .selectFrom('audit_sizes')
    .selectAll()
    .where('bytes', '>', bytes)
    .limit(1)
    .executeTakeFirst();
  if (!full) return false;
  const rows = await db.query
    .selectFrom('audit_entries')
    .select(['id', 'size'])
    .where('environment', '=', full.environment)
    .orderBy('id')
    .limit(batch)
    .execute();
  let excess = full.bytes - bytes;
  const end = rows.findIndex(({ size }) => (excess -= size) <= 0);
  const oldest = rows.slice(0, end < 0 ? undefined : end + 1).map(({ id }) => id);
  await deleteEntries(db, oldest);
  return oldest.length > 0;
}

async function deleteEntries({ query }: Transaction, ids: readonly Uint8Array[]): Promise<boolean> {
  if (!ids.length) return false;
  const rows = await query
    .deleteFrom('audit_entries')
    .where('id', 'in', ids)
    .returning(['environment', 'size'])
    .execute();
  const sums = new Map<string, number>();
  for (const { environment, size } of rows) sums.set(environment, (sums.get(environment) ?? 0) + size);
  for (const [environment, bytes] of sums) {
    await query
      .updateTable('audit_sizes')
      .set({ bytes: sql`bytes - ${bytes}` })
      .where('environment', '=', environment)
      .execute();
  }
  return ids.length === batch;
}
