import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { PluginKey } from '../../plugins/plugin-key.ts';
import { hashToken } from '../../accounts/tokens.ts';
import type { Engine } from '../engine.ts';
import type { Schema } from '../schema.ts';
import { pluginColumns } from './plugin-columns.ts';

/** Editor tokens by hash: each opens one plugin until it expires. */
export class EditorTokens {
  readonly #db: Kysely<Schema>;
  readonly #engine: Engine;

  constructor(db: Kysely<Schema>, engine: Engine) {
    this.#db = db;
    this.#engine = engine;
  }

  /** Remembers a token, and forgets those that have expired by `now`. */
  async add(token: string, plugin: PluginKey, now: number, expiresAt: number): Promise<void> {
    await this.#prune(now);
    await this.#db
      .insertInto('editor_tokens')
      .values({ token_hash: hashToken(token), ...pluginColumns(plugin), expires_at: expiresAt })
      .execute();
  }

  /** The plugin that a token opens; `undefined` when it is unknown or has expired. */
  async find(token: string, now: number): Promise<PluginKey | undefined> {
    const row = await this.#db
      .selectFrom('editor_tokens')
      .select(['environment', 'tenant', 'namespace', 'plugin as pluginName'])
      .where('token_hash', '=', hashToken(token))
      .where('expires_at', '>', now)
      .executeTakeFirst();
    // Rows of node:sqlite have no prototype, and would not be equal to other keys.
    return row && { ...row };
  }

  async #prune(now: number): Promise<void> {
    // Two nodes that delete the same rows, each in its own order, would wait for each other for ever.
    const expired = sql<Uint8Array>`(select token_hash from editor_tokens where expires_at <= ${now} ${this.#engine.skipLocked})`;
    await this.#db.deleteFrom('editor_tokens').where('token_hash', 'in', expired).execute();
  }
}
