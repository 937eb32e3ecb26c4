import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { hashToken } from '../../accounts/tokens.ts';

/**
 * Who holds an environment's token: its `owner`, who proved an e-mail address, or the vendor back end of the
 * `demo`, which runs beside the service. Each has one of its own, so that neither's new token stops the other's.
 */
export type TokenHolder = 'owner' | 'demo';

export class Environments {
  readonly #add: StatementSync;
  readonly #claim: StatementSync;
  readonly #owner: StatementSync;
  readonly #setToken: StatementSync;
  readonly #byToken: StatementSync;

  constructor(db: DatabaseSync) {
    this.#add = db.prepare(
      'INSERT INTO environments (name, created_at) VALUES (?, ?) ON CONFLICT DO NOTHING',
    );
    this.#claim = db.prepare(
      'UPDATE environments SET owner_email = ? WHERE name = ? AND owner_email IS NULL',
    );
    this.#owner = db.prepare('SELECT owner_email FROM environments WHERE name = ?');
    this.#setToken = db.prepare(
      `INSERT INTO environment_tokens (environment, holder, token_hash, created_at) VALUES (?1, ?2, ?3, ?4)
       ON CONFLICT (environment, holder) DO UPDATE SET token_hash = ?3, created_at = ?4`,
    );
    this.#byToken = db.prepare('SELECT environment FROM environment_tokens WHERE token_hash = ?');
  }

  /** Makes an environment known, if it is not yet. */
  add(environment: string, now: number): void {
    this.#add.run(environment, now);
  }

  /** The address that owns an environment; `undefined` when there is none or it belongs to nobody. */
  owner(environment: string): string | undefined {
    const email = this.#owner.get(environment)?.['owner_email'];
    return typeof email === 'string' ? email : undefined;
  }

  /** Gives an environment that belongs to nobody to `email`. Says whether it is `email`'s now. */
  claim(environment: string, email: string): boolean {
    this.#claim.run(email, environment);
    return this.owner(environment) === email;
  }

  /** Sets the token of one holder; the one it had stops working. */
  setToken(environment: string, holder: TokenHolder, token: string, now: number): void {
    this.#setToken.run(environment, holder, hashToken(token), now);
  }

  /** The environment that a token is for; `undefined` when it is unknown. */
  findByToken(token: string): string | undefined {
    const environment = this.#byToken.get(hashToken(token))?.['environment'];
    return typeof environment === 'string' ? environment : undefined;
  }
}
