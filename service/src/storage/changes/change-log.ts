import { sql } from 'kysely';
import type { Kysely, Transaction } from 'kysely';
import type { Db } from '../db.ts';
import type { Engine } from '../engine.ts';
import type { Schema } from '../schema.ts';

/** What runs depend on, and nodes therefore cache. */
export type ChangeKind =
  /** The tokens of an environment; the key is its name. */
  | 'environment-tokens'
  /** What the plugins of a namespace may reach, or the values for it; the key is by {@link namespaceCacheKey}. */
  | 'connections'
  /** Which version of a plugin is live; the key is by {@link pluginCacheKey}. */
  | 'live-version'
  /** A plugin was deleted; the key is by {@link pluginCacheKey}. */
  | 'plugin'
  /** A tenant was changed or deleted, with all its plugins; the key is by {@link tenantCacheKey}. */
  | 'tenant';

/** A change for which every node has to remove entries from its caches. */
export interface Change {
  readonly kind: ChangeKind;
  readonly key: string;
}

/** How long changes are kept, in ms. A node that has not polled for longer clears its caches. */
const keptFor = 60 * 60_000;

/** How many changes one statement deletes. */
const deletedAtOnce = 1000;

/** How many changes one statement reads. A node that is further behind clears its caches, which is quicker than to read them all. */
const readAtOnce = 10_000;

/**
 * Records changes, as the last step of their transaction. The counter's row stays locked until the commit, so that the order of
 * numbers is the order of commits: a node that has read change n has missed none before it. With a sequence instead, numbers
 * could be committed in any order, and a reader would skip the late ones.
 */
export async function recordChanges(
  transaction: Transaction<Schema>,
  engine: Engine,
  changes: readonly Change[],
  now: number,
): Promise<void> {
  const { last } = await transaction
    .updateTable('change_counter')
    .set({ last: sql`last + ${sql.lit(changes.length)}` })
    .returning('last')
    .executeTakeFirstOrThrow();
  const first = last - changes.length + 1;
  await transaction
    .insertInto('changes')
    .values(changes.map(({ kind, key }, i) => ({ id: first + i, kind, key, created_at: now })))
    .execute();
  await engine.announceChanges(transaction);
}

/**
 * Deletes some of the changes that are no longer kept. Resolves with whether there may be more. This is apart from the transactions
 * of changes, because those wait for each other.
 */
export async function deleteOldChanges({ query, engine }: Db, now: number): Promise<boolean> {
  // Found by their numbers, which rise with time, because times have no index.
  const oldest = await query
    .selectFrom('changes')
    .select(['id', 'created_at'])
    .orderBy('id')
    .limit(deletedAtOnce)
    .execute();
  // A time far in the future is of a clock that was wrong, and must not keep what follows forever.
  const firstKept = oldest.findIndex(({ created_at: at }) => Math.abs(now - at) <= keptFor);
  const old = firstKept < 0 ? oldest : oldest.slice(0, firstKept);
  const last = old.at(-1);
  if (!last) return false;
  // Skips locked rows, because two nodes that delete the same rows in different orders would deadlock.
  const ids = sql<number>`(select id from changes where id <= ${last.id} ${engine.skipLocked})`;
  // The range as well, because PostgreSQL would look for the ids in the whole table.
  await query.deleteFrom('changes').where('id', '<=', last.id).where('id', 'in', ids).execute();
  return old.length === deletedAtOnce;
}

/** The number of the newest change. */
export async function readLastChange(db: Kysely<Schema>): Promise<number> {
  const { last } = await db.selectFrom('change_counter').select('last').executeTakeFirstOrThrow();
  return last;
}

/** The result of reading the log. */
export interface ReadChanges {
  /** The number of the newest change. */
  readonly last: number;
  /** In the order of their commits; `undefined` when some are no longer kept, or there are too many. */
  readonly changes: readonly Change[] | undefined;
}

/** Reads the changes after number `after`. */
export async function readChanges(db: Kysely<Schema>, after: number): Promise<ReadChanges> {
  // One statement, so that the counter and the changes are consistent.
  const rows = await db
    .selectFrom('change_counter')
    .leftJoin(
      (from) =>
        from
          .selectFrom('changes')
          .select(['id', 'kind', 'key'])
          .where('id', '>', after)
          .orderBy('id')
          .limit(readAtOnce)
          .as('newer'),
      (join) => join.onTrue(),
    )
    .select(['last', 'newer.id', 'kind', 'key'])
    .orderBy('newer.id')
    .execute();
  const last = rows[0]?.last ?? 0;
  const changes = rows.flatMap(({ id, kind, key }) =>
    id === null || kind === null || key === null ? [] : [{ id, kind: kind as ChangeKind, key }],
  );
  // Numbers have no gaps. A counter that went back is that of a database that was restored from a backup.
  const isComplete = last - after === changes.length;
  return { last, changes: isComplete ? changes : undefined };
}
