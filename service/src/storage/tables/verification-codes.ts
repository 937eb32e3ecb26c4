import type { DatabaseSync, StatementSync } from 'node:sqlite';

export interface VerificationCode {
  readonly email: string;
  readonly environment: string;
  readonly salt: Uint8Array;
  readonly hash: Uint8Array;
  /** Wrong answers so far. */
  readonly tries: number;
  readonly used: boolean;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

interface Row {
  email: string;
  environment: string;
  salt: Uint8Array;
  code_hash: Uint8Array;
  tries: number;
  used: number;
  expires_at: number;
}

type NewCode = Pick<VerificationCode, 'email' | 'environment' | 'salt' | 'hash' | 'expiresAt'>;

/** Verification codes, hashed; kept for as long as they count towards an address's limit. */
export class VerificationCodes {
  readonly #insert: StatementSync;
  readonly #delete: StatementSync;
  readonly #find: StatementSync;
  readonly #times: StatementSync;
  readonly #miss: StatementSync;
  readonly #use: StatementSync;
  readonly #prune: StatementSync;

  constructor(db: DatabaseSync) {
    this.#insert = db.prepare(
      `INSERT INTO verification_codes (email, environment, salt, code_hash, created_at, expires_at)
       VALUES (?, ?, ?, ?, ?, ?)`,
    );
    this.#delete = db.prepare('DELETE FROM verification_codes WHERE id = ?');
    this.#find = db.prepare(
      'SELECT email, environment, salt, code_hash, tries, used, expires_at FROM verification_codes WHERE id = ?',
    );
    this.#times = db.prepare(
      'SELECT created_at FROM verification_codes WHERE email = ? AND created_at > ? ORDER BY created_at',
    );
    this.#miss = db.prepare('UPDATE verification_codes SET tries = tries + 1 WHERE id = ?');
    this.#use = db.prepare('UPDATE verification_codes SET used = 1 WHERE id = ?');
    this.#prune = db.prepare('DELETE FROM verification_codes WHERE created_at <= ?');
  }

  /** Returns the code's id. */
  add({ email, environment, salt, hash, expiresAt }: NewCode, now: number): number {
    return Number(this.#insert.run(email, environment, salt, hash, now, expiresAt).lastInsertRowid);
  }

  delete(id: number): void {
    this.#delete.run(id);
  }

  find(id: number): VerificationCode | undefined {
    const row = this.#find.get(id);
    if (!row) return undefined;
    const { code_hash: hash, used, expires_at: expiresAt, ...rest } = row as unknown as Row;
    return { ...rest, hash, used: used === 1, expiresAt };
  }

  /** When codes were made for an address after `since`, the oldest first. */
  timesFor(email: string, since: number): number[] {
    return this.#times.all(email, since).map((row) => Number(row['created_at']));
  }

  countMiss(id: number): void {
    this.#miss.run(id);
  }

  markUsed(id: number): void {
    this.#use.run(id);
  }

  /** Forgets the codes made at or before `until`. */
  prune(until: number): void {
    this.#prune.run(until);
  }
}
