import { sql } from 'kysely';
import type { Kysely, Transaction } from 'kysely';
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
  await transaction
    .deleteFrom('changes')
    .where('created_at', '<', now - keptFor)
    .execute();
  await engine.announceChanges(transaction);
}

/** The result of reading the log. */
export interface ReadChanges {
  /** The number of the newest change. */
  readonly last: number;
  /** In the order of their commits; `undefined` when some are no longer kept. */
  readonly changes: readonly Change[] | undefined;
}

/** Reads the changes after number `after`. */
export async function readChanges(db: Kysely<Schema>, after: number): Promise<ReadChanges> {
  // One statement, so that the counter and the changes are consistent.
  const rows = await db
    .selectFrom('change_counter')
    .leftJoin('changes', (join) => join.on('changes.id', '>', after))
    .select(['last', 'changes.id', 'kind', 'key'])
    .orderBy('changes.id')
    .execute();
  const last = rows[0]?.last ?? 0;
  const changes = rows.flatMap(({ id, kind, key }) =>
    id === null || kind === null || key === null ? [] : [{ id, kind: kind as ChangeKind, key }],
  );
  // Numbers have no gaps. A counter that went back is that of a database that was restored from a backup.
  const isComplete = last - after === changes.length;
  return { last, changes: isComplete ? changes : undefined };
}
