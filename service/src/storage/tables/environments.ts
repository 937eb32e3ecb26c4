import type { ExpressionBuilder } from 'kysely';
import { v7 as createUuid } from 'uuid';
import { hashToken } from '../../accounts/tokens.ts';
import type { Schema } from '../schema.ts';
import type { Db, Transaction } from '../db.ts';
import { lock } from '../db.ts';

/** A valid environment token. */
export interface EnvironmentToken {
  readonly environment: string;
  /**
   * Who holds it, such as `owner`, who proved an e-mail address, `operator`, who ran a command, or `demo`, the vendor back
   * end beside the service. A new token ends only those of its holder.
   */
  readonly holder: string;
  /** In milliseconds since the epoch; `undefined` while nothing has replaced it. */
  readonly endsAt?: number;
}

/** A token as its environment's vendor sees it. Times are in milliseconds since the epoch. */
export interface ListedToken {
  readonly id: string;
  readonly holder: string;
  readonly createdAt: number;
  readonly endsAt?: number;
}

/** Adds an environment, unless it exists. */
export async function addEnvironment(db: Db, environment: string, now: number): Promise<void> {
  await db.query
    .insertInto('environments')
    .values({ name: environment, created_at: now })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** The e-mail address that owns an environment; `undefined` when it does not exist or has no owner. */
export async function findOwner(db: Db, environment: string): Promise<string | undefined> {
  const row = await db.query
    .selectFrom('environments')
    .select('owner_email')
    .where('name', '=', environment)
    .executeTakeFirst();
  return row?.owner_email ?? undefined;
}

/** Makes `email` the owner of an environment that has none. Resolves with whether `email` owns it now. */
export async function claimEnvironment(db: Db, environment: string, email: string): Promise<boolean> {
  await db.query
    .updateTable('environments')
    .set({ owner_email: email })
    .where('name', '=', environment)
    .where('owner_email', 'is', null)
    .execute();
  return (await findOwner(db, environment)) === email;
}

/** Finds a valid token; `undefined` when it is unknown or has ended. */
export async function findEnvironmentToken(
  db: Db,
  token: string,
  now: number,
): Promise<EnvironmentToken | undefined> {
  const row = await db.query
    .selectFrom('environment_tokens')
    .select(['environment', 'holder', 'ends_at'])
    .where('token_hash', '=', hashToken(token))
    .where((where) => isValidAt(where, now))
    .executeTakeFirst();
  if (!row) return undefined;
  const { environment, holder, ends_at: endsAt } = row;
  return { environment, holder, ...(endsAt !== null && { endsAt }) };
}

/** Lists the valid tokens of an environment, the oldest first, after the one with the id `after`. */
export async function listEnvironmentTokens(
  db: Db,
  environment: string,
  now: number,
  { after, limit }: { after?: string | undefined; limit: number },
): Promise<ListedToken[]> {
  let query = db.query
    .selectFrom('environment_tokens')
    .select(['id', 'holder', 'created_at', 'ends_at'])
    .where('environment', '=', environment)
    .where((where) => isValidAt(where, now));
  if (after !== undefined) query = query.where('id', '>', after);
  const rows = await query.orderBy('id').limit(limit).execute();
  return rows.map(({ id, holder, created_at: createdAt, ends_at: endsAt }) => ({
    id,
    holder,
    createdAt,
    ...(endsAt !== null && { endsAt }),
  }));
}

const isValidAt = (where: ExpressionBuilder<Schema, 'environment_tokens'>, now: number) =>
  where.or([where('ends_at', 'is', null), where('ends_at', '>', now)]);

/**
 * Adds a token for a holder, and returns its id.
 * @param overlap how long the holder's former tokens stay valid at most, in ms (default 0)
 */
export async function setEnvironmentToken(
  db: Transaction,
  environment: string,
  holder: string,
  token: string,
  now: number,
  overlap = 0,
): Promise<string> {
  // When two transactions replace the same token at once, the second has to find the token of the first.
  await lock(db, `environment tokens ${environment} ${holder}`);
  await endTokens(db, environment, holder, now, now + overlap);
  const id = createUuid();
  await db.query
    .insertInto('environment_tokens')
    .values({ id, environment, holder, token_hash: hashToken(token), created_at: now })
    .execute();
  db.changes.push({ kind: 'environment-tokens', key: environment });
  return id;
}

/** Ends a token at once. Resolves with false when the environment has no valid token with this id. */
export async function deleteEnvironmentToken(
  db: Transaction,
  environment: string,
  id: string,
  now: number,
): Promise<boolean> {
  const row = await db.query
    .deleteFrom('environment_tokens')
    .where('environment', '=', environment)
    .where('id', '=', id)
    .where((where) => isValidAt(where, now))
    .returning('id')
    .executeTakeFirst();
  if (row) db.changes.push({ kind: 'environment-tokens', key: environment });
  return row !== undefined;
}

async function endTokens(
  db: Transaction,
  environment: string,
  holder: string,
  now: number,
  endsAt: number,
): Promise<void> {
  const ofHolder = { environment, holder };
  await db.query
    .updateTable('environment_tokens')
    .set({ ends_at: endsAt })
    .where((where) => where.and(ofHolder))
    .where((where) => where.or([where('ends_at', 'is', null), where('ends_at', '>', endsAt)]))
    .execute();
  await db.query
    .deleteFrom('environment_tokens')
    .where((where) => where.and(ofHolder))
    .where('ends_at', '<=', now)
    .execute();
}
