import type { Kysely } from 'kysely';
import { hashToken } from '../../accounts/tokens.ts';
import type { Change } from '../changes/change-log.ts';
import type { Schema } from '../schema.ts';

/**
 * Who holds an environment's token: its `owner`, who proved an e-mail address, or the vendor back end of the
 * `demo`, which runs beside the service. Each has one of its own, so that neither's new token stops the other's.
 */
export type TokenHolder = 'owner' | 'demo';

export class Environments {
  protected readonly db: Kysely<Schema>;

  constructor(db: Kysely<Schema>) {
    this.db = db;
  }

  /** Makes an environment known, if it is not yet. */
  async add(environment: string, now: number): Promise<void> {
    await this.db
      .insertInto('environments')
      .values({ name: environment, created_at: now })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }

  /** The address that owns an environment; `undefined` when there is none or it belongs to nobody. */
  async owner(environment: string): Promise<string | undefined> {
    const row = await this.db
      .selectFrom('environments')
      .select('owner_email')
      .where('name', '=', environment)
      .executeTakeFirst();
    return row?.owner_email ?? undefined;
  }

  /** Gives an environment that belongs to nobody to `email`. Says whether it is `email`'s now. */
  async claim(environment: string, email: string): Promise<boolean> {
    await this.db
      .updateTable('environments')
      .set({ owner_email: email })
      .where('name', '=', environment)
      .where('owner_email', 'is', null)
      .execute();
    return (await this.owner(environment)) === email;
  }

  /** The environment that a token is for, as the database knows it at this moment; `undefined` when it is unknown. */
  async findByToken(token: string): Promise<string | undefined> {
    const row = await this.db
      .selectFrom('environment_tokens')
      .select('environment')
      .where('token_hash', '=', hashToken(token))
      .executeTakeFirst();
    return row?.environment;
  }
}

export class EnvironmentsInTransaction extends Environments {
  readonly #recordChange: (change: Change) => void;

  constructor(db: Kysely<Schema>, recordChange: (change: Change) => void) {
    super(db);
    this.#recordChange = recordChange;
  }

  /** Sets the token of one holder; the one it had stops working. */
  async setToken(environment: string, holder: TokenHolder, token: string, now: number): Promise<void> {
    const changed = { token_hash: hashToken(token), created_at: now };
    await this.db
      .insertInto('environment_tokens')
      .values({ environment, holder, ...changed })
      .onConflict((conflict) => conflict.columns(['environment', 'holder']).doUpdateSet(changed))
      .execute();
    this.#recordChange({ kind: 'environment-tokens', key: environment });
  }
}
