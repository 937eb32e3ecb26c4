import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import { hashToken } from '../../accounts/tokens.ts';
import type { Change } from '../changes/change-log.ts';
import type { Schema } from '../schema.ts';

/** Whose a token is and until when. */
export interface EnvironmentToken {
  readonly environment: string;
  /**
   * Who holds it, such as `owner`, who proved an e-mail address, `operator`, who ran a command, or `demo`, the vendor back
   * end beside the service. Each holder has tokens of its own, so that nobody's new token ends another's.
   */
  readonly holder: string;
  /** In milliseconds since the epoch; `undefined` while nothing has replaced it. */
  readonly endsAt?: number;
}

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

  /** What a token is for, as the database knows it at this moment; `undefined` when it is unknown or has ended. */
  async findToken(token: string, now: number): Promise<EnvironmentToken | undefined> {
    const hash = hashToken(token);
    const row = await this.db
      .selectFrom('environment_tokens')
      .select(['environment', 'holder', sql<number | null>`null`.as('ends_at')])
      .where('token_hash', '=', hash)
      .unionAll((query) =>
        query
          .selectFrom('former_environment_tokens')
          .select(['environment', 'holder', 'ends_at'])
          .where('token_hash', '=', hash)
          .where('ends_at', '>', now),
      )
      .executeTakeFirst();
    if (!row) return undefined;
    const { environment, holder, ends_at: endsAt } = row;
    return { environment, holder, ...(endsAt !== null && { endsAt }) };
  }
}

export class EnvironmentsInTransaction extends Environments {
  readonly #recordChange: (change: Change) => void;
  readonly #lock: (name: string) => Promise<void>;

  constructor(
    db: Kysely<Schema>,
    recordChange: (change: Change) => void,
    lock: (name: string) => Promise<void>,
  ) {
    super(db);
    this.#recordChange = recordChange;
    this.#lock = lock;
  }

  /**
   * Sets the token of one holder.
   * @param overlap for how long, in ms, those it had stay good; none is prolonged by it
   */
  async setToken(
    environment: string,
    holder: string,
    token: string,
    now: number,
    overlap = 0,
  ): Promise<void> {
    // Of two that replace one token at once, the second has to find the first one's.
    await this.#lock(`environment tokens ${environment} ${holder}`);
    await this.#endTokens(environment, holder, now, now + overlap);
    const changed = { token_hash: hashToken(token), created_at: now };
    await this.db
      .insertInto('environment_tokens')
      .values({ environment, holder, ...changed })
      .onConflict((conflict) => conflict.columns(['environment', 'holder']).doUpdateSet(changed))
      .execute();
    this.#recordChange({ kind: 'environment-tokens', key: environment });
  }

  async #endTokens(environment: string, holder: string, now: number, endsAt: number): Promise<void> {
    const ofHolder = { environment, holder };
    await this.db
      .deleteFrom('former_environment_tokens')
      .where((where) => where.and([where.and(ofHolder), where('ends_at', '<=', now)]))
      .execute();
    await this.db
      .updateTable('former_environment_tokens')
      .set({ ends_at: endsAt })
      .where((where) => where.and(ofHolder))
      .where('ends_at', '>', endsAt)
      .execute();
    if (endsAt <= now) return;
    await this.db
      .insertInto('former_environment_tokens')
      .columns(['token_hash', 'environment', 'holder', 'created_at', 'ends_at'])
      .expression((query) =>
        query
          .selectFrom('environment_tokens')
          .select(['token_hash', 'environment', 'holder', 'created_at', sql<number>`${endsAt}`.as('ends_at')])
          .where((where) => where.and(ofHolder)),
      )
      .execute();
  }
}
