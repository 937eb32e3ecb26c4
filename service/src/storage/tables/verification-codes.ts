import { sql } from 'kysely';
import type { Db, Transaction } from '../db.ts';

export interface VerificationCode {
  readonly email: string;
  readonly environment: string;
  readonly salt: Uint8Array;
  readonly hash: Uint8Array;
  /** How many attempts were made to enter the code, a successful one included. */
  readonly tries: number;
  readonly used: boolean;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

type NewCode = Pick<VerificationCode, 'email' | 'environment' | 'salt' | 'hash' | 'expiresAt'>;

const columns = ['email', 'environment', 'salt', 'code_hash', 'tries', 'used', 'expires_at'] as const;

export async function deleteCode(db: Db, id: number): Promise<void> {
  await db.query.deleteFrom('verification_codes').where('id', '=', id).execute();
}

export async function findCode(db: Db, id: number): Promise<VerificationCode | undefined> {
  const row = await db.query
    .selectFrom('verification_codes')
    .select(columns)
    .where('id', '=', id)
    .executeTakeFirst();
  return row && codeOf(row);
}

/** Deletes the codes that were made at or before `until`. */
export async function pruneCodes(db: Db, until: number): Promise<void> {
  // Skips locked rows, because two nodes that delete the same rows in different orders would deadlock.
  const old = sql<number>`(select id from verification_codes where created_at <= ${until} ${db.engine.skipLocked})`;
  await db.query.deleteFrom('verification_codes').where('id', 'in', old).execute();
}

/** Adds a code and returns its id. The transaction must have locked the address before it counted its codes. */
export async function addCode(
  db: Transaction,
  { email, environment, salt, hash, expiresAt }: NewCode,
  now: number,
): Promise<number> {
  const { id } = await db.query
    .insertInto('verification_codes')
    .values({ email, environment, salt, code_hash: hash, created_at: now, expires_at: expiresAt })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

/** The times at which codes were made for an address after `since`, in ms since the epoch, the oldest first. */
export async function listCodeTimes(db: Db, email: string, since: number): Promise<number[]> {
  const rows = await db.query
    .selectFrom('verification_codes')
    .select('created_at')
    .where('email', '=', email)
    .where('created_at', '>', since)
    .orderBy('created_at')
    .execute();
  return rows.map((row) => row.created_at);
}

/**
 * Counts an attempt to enter a code, and returns the code; `undefined` when it has no attempts left, has expired or was used. In
 * one statement, so that attempts on several nodes are all counted. The code stays locked until the transaction ends, so that
 * only one of several right attempts can use it.
 */
export async function takeTry(
  db: Transaction,
  id: number,
  max: number,
  now: number,
): Promise<VerificationCode | undefined> {
  const row = await db.query
    .updateTable('verification_codes')
    .set(({ eb }) => ({ tries: eb('tries', '+', 1) }))
    .where('id', '=', id)
    .where('used', '=', 0)
    .where('tries', '<', max)
    .where('expires_at', '>', now)
    .returning(columns)
    .executeTakeFirst();
  return row && codeOf(row);
}

export async function markCodeUsed(db: Transaction, id: number): Promise<void> {
  await db.query.updateTable('verification_codes').set({ used: 1 }).where('id', '=', id).execute();
}

interface Row {
  email: string;
  environment: string;
  salt: Uint8Array;
  code_hash: Uint8Array;
  tries: number;
  used: 0 | 1;
  expires_at: number;
}

function codeOf({ code_hash: hash, used, expires_at: expiresAt, ...rest }: Row): VerificationCode {
  return { ...rest, hash, used: used === 1, expiresAt };
}
