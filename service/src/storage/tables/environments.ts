import type { ExpressionBuilder } from 'kysely';
import { v7 as createUuid } from 'uuid';
import { hashToken } from '../../tokens.ts';
import { scopes as allScopes, sortedScopes } from '../../plugins/permissions.ts';
import type { Scope } from '../../plugins/permissions.ts';
import type { Schema } from '../schema.ts';
import type { Db, Transaction } from '../db.ts';
import { lock } from '../db.ts';

/** A valid environment token. */
export interface EnvironmentToken {
  readonly id: string;
  readonly environment: string;
  /**
   * Who holds it, such as `owner`, who proved an e-mail address, `operator`, who ran a command, or `demo`, the vendor back
   * end that runs beside the service. A new token ends only those of its holder.
   */
  readonly holder: string;
  /** What it permits. */
  readonly scopes: readonly Scope[];
  /** In milliseconds since the epoch; `undefined` while nothing has replaced it. */
  readonly endsAt?: number;
}

/** A token as its environment's vendor sees it. Times are in milliseconds since the epoch. */
export interface ListedToken {
  readonly id: string;
  readonly holder: string;
  readonly scopes: readonly Scope[];
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
    .select(['id', 'environment', 'holder', 'scopes', 'ends_at'])
    .where('token_hash', '=', hashToken(token))
    .where((where) => isValidAt(where, now))
    .executeTakeFirst();
  if (!row) return undefined;
  const { id, environment, holder, scopes, ends_at: endsAt } = row;
  return { id, environment, holder, scopes: readScopes(scopes), ...(endsAt !== null && { endsAt }) };
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
    .select(['id', 'holder', 'scopes', 'created_at', 'ends_at'])
    .where('environment', '=', environment)
    .where((where) => isValidAt(where, now));
  if (after !== undefined) query = query.where('id', '>', after);
  const rows = await query.orderBy('id').limit(limit).execute();
  return rows.map(({ id, holder, scopes, created_at: createdAt, ends_at: endsAt }) => ({
    id,
    holder,
    scopes: readScopes(scopes),
    createdAt,
    ...(endsAt !== null && { endsAt }),
  }));
}

const isValidAt = (where: ExpressionBuilder<Schema, 'environment_tokens'>, now: number) =>
  where.or([where('ends_at', 'is', null), where('ends_at', '>', now)]);

/** The scopes of a token as they are stored: null for all, as tokens have them that were made before there were scopes. */
const storedScopes = (scopes: readonly Scope[]): string | null =>
  scopes.length === allScopes.length ? null : scopes.join();

const readScopes = (stored: string | null): readonly Scope[] =>
  stored === null ? allScopes : (stored.split(',') as Scope[]);

/** A token that has ended, or ends, because another one has taken its place. */
export interface EndedToken {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly endsAt: number;
}

export interface NewToken {
  readonly holder: string;
  readonly token: string;
  /** How long the former tokens of the holder with the same scopes stay valid at most, in ms (default 0). */
  readonly overlap?: number;
  /** What it permits (default: everything). */
  readonly scopes?: readonly Scope[];
}

/** Adds a token for a holder, and returns its id, and the former tokens that it ends. */
export async function setEnvironmentToken(
  db: Transaction,
  environment: string,
  { holder, token, overlap = 0, scopes: asked = allScopes }: NewToken,
  now: number,
): Promise<{ readonly id: string; readonly ended: readonly EndedToken[] }> {
  const scopes = storedScopes(sortedScopes(asked));
  // When two transactions replace the same token at once, the second has to find the token of the first.
  await lock(db, `environment tokens ${environment} ${holder}`);
  const ended = await endTokens(db, { environment, holder, scopes }, now, now + overlap);
  const id = createUuid();
  await db.query
    .insertInto('environment_tokens')
    .values({ id, environment, holder, scopes, token_hash: hashToken(token), created_at: now })
    .execute();
  db.changes.push({ kind: 'environment-tokens', key: environment });
  return { id, ended };
}

/** Finds a valid token of an environment by its id. */
export async function findEnvironmentTokenById(
  db: Db,
  environment: string,
  id: string,
  now: number,
): Promise<Pick<ListedToken, 'holder' | 'scopes'> | undefined> {
  const row = await db.query
    .selectFrom('environment_tokens')
    .select(['holder', 'scopes'])
    .where('environment', '=', environment)
    .where('id', '=', id)
    .where((where) => isValidAt(where, now))
    .executeTakeFirst();
  return row && { holder: row.holder, scopes: readScopes(row.scopes) };
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
  { environment, holder, scopes }: { environment: string; holder: string; scopes: string | null },
  now: number,
  endsAt: number,
): Promise<EndedToken[]> {
  const ofHolder = { environment, holder };
  const ended = await db.query
    .updateTable('environment_tokens')
    .set({ ends_at: endsAt })
    .where((where) => where.and(ofHolder))
    .where('scopes', scopes === null ? 'is' : '=', scopes)
    .where((where) => where.or([where('ends_at', 'is', null), where('ends_at', '>', endsAt)]))
    .returning('id')
    .execute();
  await db.query
    .deleteFrom('environment_tokens')
    .where((where) => where.and(ofHolder))
    .where('ends_at', '<=', now)
    .execute();
  return ended.map(({ id }) => ({ id, endsAt }));
}
