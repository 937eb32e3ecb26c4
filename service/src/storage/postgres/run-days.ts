import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Kysely, Transaction } from 'kysely';
import { dayLength, mebibyte } from '../../units.ts';
import type { Schema } from '../schema.ts';
import { firstBytesAt } from '../tables/uuids.ts';
import { isLockTimeout } from './errors.ts';

/*
 * `runs` has a partition for each UTC day, or for several days where records are kept for long, so that old records are dropped and
 * not deleted row by row. All other records are in the default partition, `runs_rest`: those from before there were partitions, from
 * times for which no node made any, and from nodes whose clock is wrong.
 */

/** A partition: its table, and the times of the records in it, from and before, in ms since the epoch. */
interface RunDays {
  readonly name: string;
  readonly from: number;
  readonly to: number;
}

/** For how many days ahead partitions are made, and how few days ahead may be left before more are made. */
const [daysAhead, fewDaysAhead] = [7, 4];

/** How many days after the present one the first partition begins: what guards the rest while it is made must refuse nothing. */
const firstDayAhead = 2;

/** For how many partitions records are kept, at most. A statement on `runs` may lock each of them, and its indexes. */
const maxKept = 31;

/**
 * Up to how many bytes, with indexes, the rest is read under a lock, which takes some ms; and from how many on it is truncated when it
 * is empty.
 */
const [smallRest, largeRest] = [8 * mebibyte, 64 * mebibyte];

/**
 * How long an attempt to lock a table waits, in ms: later statements wait behind it. How many further attempts there are, and how
 * long the pause before each is at most. Where all fail, it is tried again in a minute.
 */
const [lockTimeout, attempts, pause] = [100, 20, 500];

/** The constraint that says from which times the rest has no records. */
const guard = sql.id('runs_rest_guard');

/** What a detached partition's comment begins with. Tables that an operator has detached have no such comment. */
const detachedMark = 'To be dropped. Plugins that were deleted before: ';

/** Whether there is anything to do. It takes no lock that anything waits for. */
export async function needsRunDays(db: Kysely<Schema>, now: number, keptDays: number): Promise<boolean> {
  const days = await findDays(db);
  return (
    days.some(({ to }) => to <= now - keptDays * dayLength) ||
    endOfRoom(days, dayAhead(now, firstDayAhead)) < dayAhead(now, fewDaysAhead) ||
    (await isGuarded(db)) ||
    (await detached.execute(db)).rows.length > 0 ||
    (await canTruncateRest(db))
  );
}

/** How long a partition is, in ms. */
const lengthFor = (keptDays: number) => Math.ceil(keptDays / maxKept) * dayLength;

/** Whether a partition has old records for much longer, because records were kept for longer when it was made. */
export async function hasLongDays(db: Kysely<Schema>, now: number, keptDays: number): Promise<boolean> {
  const days = await findDays(db);
  return days.some(({ from, to }) => to - from > lengthFor(keptDays) && from < now - keptDays * dayLength);
}

/**
 * Makes partitions ahead, and drops old ones. Only one program may do it at a time. When it is ended in the middle, the next one goes
 * on. Rejects when it lacks a privilege, or a lock was not free for long; then the records are in the rest, or stay a while.
 */
export async function keepRunDays(db: Kysely<Schema>, now: number, keptDays: number): Promise<void> {
  if (await isGuarded(db)) await withShortLocks(db, dropGuard);
  for (const { name, to } of await findDays(db)) {
    if (to <= now - keptDays * dayLength) await detach(db, name);
  }
  const { rows } = await detached.execute(db);
  for (const { name, comment } of rows) await drop(db, name, JSON.parse(comment) as number[]);
  await makeDays(db, now, lengthFor(keptDays));
  await truncateRest(db);
}

/** When the day begins that is `days` days after the day of `time`. */
const dayAhead = (time: number, days: number) => (Math.floor(time / dayLength) + days) * dayLength;

/** Until when there are partitions from a time on, without a gap. */
function endOfRoom(days: readonly RunDays[], from: number): number {
  const next = days.find((one) => one.from <= from && one.to > from);
  return next ? endOfRoom(days, next.to) : from;
}

/** The partitions but the rest, the earliest first. */
async function findDays(db: Kysely<Schema>): Promise<RunDays[]> {
  const { rows } = await sql<{ name: string }>`select relname::text as name
    from pg_inherits join pg_class on pg_class.oid = inhrelid where inhparent = 'runs'::regclass`.execute(db);
  return rows
    .flatMap(({ name }) => {
      const [, from, to] = /^runs_(\d{8})_(\d{8})$/.exec(name) ?? [];
      return from === undefined || to === undefined
        ? []
        : [{ name, from: timeOfDay(from), to: timeOfDay(to) }];
    })
    .toSorted((a, b) => a.from - b.from);
}

const timeOfDay = (day: string) => Date.parse(day.replace(/^(....)(..)(..)$/, '$1-$2-$3T00:00Z'));
const dayName = (time: number) => new Date(time).toISOString().slice(0, 10).replaceAll('-', '');

/** The first id of a time, as it can stand in the definition of a table. */
const firstId = (time: number) => sql.lit(`\\x${Buffer.from(firstBytesAt(time)).toString('hex')}`);

const detached = sql<{ name: string; comment: string }>`
  select relname::text as name, substr(description, ${sql.lit(detachedMark.length + 1)}) as comment
  from pg_class join pg_description on objoid = pg_class.oid and classoid = 'pg_class'::regclass and objsubid = 0
  where relnamespace = (select relnamespace from pg_class where oid = 'runs'::regclass)
    and relkind = 'r' and not relispartition and starts_with(description, ${sql.lit(detachedMark)})`;

async function isGuarded(db: Kysely<Schema>): Promise<boolean> {
  const { rows } = await sql`select from pg_constraint
    where conrelid = 'runs_rest'::regclass and conname = 'runs_rest_guard'`.execute(db);
  return rows.length > 0;
}

async function sizeOfRest(db: Kysely<Schema>): Promise<number> {
  const { rows } = await sql<{ size: number }>`select pg_total_relation_size('runs_rest') as size`.execute(
    db,
  );
  return rows[0]?.size ?? 0;
}

async function hasRest(db: Kysely<Schema>): Promise<boolean> {
  const { rows } = await sql`select from runs_rest order by id limit 1`.execute(db);
  return rows.length > 0;
}

const canTruncateRest = async (db: Kysely<Schema>) =>
  (await sizeOfRest(db)) > largeRest && !(await hasRest(db));

/**
 * Does work in a transaction that others may have to wait for, once it gets its locks at once, so that they do not also wait for
 * those who have the locks.
 */
async function withShortLocks(
  db: Kysely<Schema>,
  work: (db: Transaction<Schema>) => Promise<void>,
): Promise<void> {
  for (let left = attempts; ; left -= 1) {
    try {
      await db.transaction().execute(async (transaction) => {
        await sql`set local lock_timeout = ${sql.lit(lockTimeout)}`.execute(transaction);
        await work(transaction);
      });
      return;
    } catch (error) {
      if (left === 0 || !isLockTimeout(error)) throw error;
    }
    await sleep(pause * Math.random());
  }
}

/**
 * Detaches a partition, so that nothing else uses it. Notes which plugins are deleted: only their records have been subtracted from
 * what their tenants' records take. Deletions that are not committed yet would keep this from locking `runs`, which they read.
 */
const detach = (db: Kysely<Schema>, name: string) =>
  withShortLocks(db, async (transaction) => {
    await sql`alter table runs detach partition ${sql.id(name)}`.execute(transaction);
    const deleted = await transaction
      .selectFrom('plugins')
      .select('id')
      .where('deleted_at', 'is not', null)
      .where('erased_at', 'is', null)
      .execute();
    const comment = detachedMark + JSON.stringify(deleted.map(({ id }) => id));
    await sql`comment on table ${sql.id(name)} is ${sql.lit(comment)}`.execute(transaction);
  });

/** Drops a detached partition, and subtracts its records from what those of their tenants take. */
const drop = (db: Kysely<Schema>, name: string, deleted: readonly number[]) =>
  db.transaction().execute(async (transaction) => {
    const { rows } = await sql<{ tenant_id: number; size: string }>`
      select tenant_id, sum(size) as size from (
        select plugin_id, sum(coalesce(details_bytes, octet_length(details))) as size from ${sql.id(name)}
        where details is not null group by plugin_id
      ) as sizes join plugins on plugins.id = plugin_id
      where plugin_id <> all (${deleted}::bigint[]) group by tenant_id`.execute(transaction);
    const tenants = rows.map((row) => row.tenant_id);
    // In the order in which all others lock them.
    await sql`select from tenant_records where tenant_id = any (${tenants}::bigint[])
      order by tenant_id for update`.execute(transaction);
    await sql`update tenant_records set bytes = bytes - dropped.size
      from unnest(${tenants}::bigint[], ${rows.map(({ size }) => size)}::bigint[]) as dropped (tenant, size)
      where tenant_id = tenant`.execute(transaction);
    await sql`drop table ${sql.id(name)}`.execute(transaction);
  });

/** Makes the partitions that are missing. Those of times that the rest has records of are left out. */
async function makeDays(db: Kysely<Schema>, now: number, length: number): Promise<void> {
  const days = await findDays(db);
  const end = dayAhead(now, daysAhead + 1);
  const made: RunDays[] = [];
  for (let from = dayAhead(now, firstDayAhead), to; from < end; from = to) {
    from = endOfRoom(days, from);
    to = Math.min(from + length, days.find((one) => one.from > from)?.from ?? Infinity);
    const isFree = from < end && (await hasNoneOf(db, from, to));
    if (isFree) made.push({ name: `runs_${dayName(from)}_${dayName(to)}`, from, to });
    // One constraint guards all of them, and so what is between them.
    else if (made.length > 0) break;
  }
  const [earliest, latest] = [made[0], made.at(-1)];
  if (!earliest || !latest) return;
  const needsGuard = (await sizeOfRest(db)) > smallRest;
  if (needsGuard) await guardRest(db, earliest.from, latest.to);
  await withShortLocks(db, async (transaction) => {
    for (const { name, from, to } of made) {
      // Not as a partition at once, which would lock all of `runs`.
      await sql`create table ${sql.id(name)} (like runs including defaults including storage)`.execute(
        transaction,
      );
      await sql`alter table runs attach partition ${sql.id(name)}
        for values from (${firstId(from)}) to (${firstId(to)})`.execute(transaction);
    }
    if (needsGuard) await dropGuard(transaction);
  });
}

async function dropGuard(db: Kysely<Schema>): Promise<void> {
  await sql`alter table runs_rest drop constraint ${guard}`.execute(db);
}

async function hasNoneOf(db: Kysely<Schema>, from: number, to: number): Promise<boolean> {
  const { rows } = await sql`select from runs_rest
    where id >= ${firstBytesAt(from)} and id < ${firstBytesAt(to)} limit 1`.execute(db);
  return rows.length === 0;
}

/**
 * Makes the database prove, while others use it, that the rest has no records of some time. Without that proof, attaching a partition
 * for that time would read all of the rest under a lock.
 */
async function guardRest(db: Kysely<Schema>, from: number, to: number): Promise<void> {
  await withShortLocks(db, async (transaction) => {
    await sql`alter table runs_rest add constraint ${guard}
      check (id < ${firstId(from)} or id >= ${firstId(to)}) not valid`.execute(transaction);
  });
  try {
    await sql`alter table runs_rest validate constraint ${guard}`.execute(db);
  } catch (error) {
    await withShortLocks(db, dropGuard);
    throw error;
  }
}

/** Gives the space of the rest back once nothing is left in it. */
async function truncateRest(db: Kysely<Schema>): Promise<void> {
  if (!(await canTruncateRest(db))) return;
  await withShortLocks(db, async (transaction) => {
    await sql`lock table runs_rest in access exclusive mode`.execute(transaction);
    if (!(await hasRest(transaction))) await sql`truncate runs_rest`.execute(transaction);
  });
}
