import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { PluginKey } from '../../plugins/plugin-key.ts';
import { hashToken } from '../../accounts/tokens.ts';

/** Editor tokens by hash: each opens one plugin until it expires. */
export class EditorTokens {
  readonly #insert: StatementSync;
  readonly #find: StatementSync;
  readonly #prune: StatementSync;

  constructor(db: DatabaseSync) {
    this.#insert = db.prepare(
      `INSERT INTO editor_tokens (token_hash, environment, tenant, namespace, plugin, expires_at)
       VALUES (?, ?, ?, ?, ?, ?)`,
    );
    this.#find = db.prepare(
      `SELECT environment, tenant, namespace, plugin AS pluginName FROM editor_tokens
       WHERE token_hash = ? AND expires_at > ?`,
    );
    this.#prune = db.prepare('DELETE FROM editor_tokens WHERE expires_at <= ?');
  }

  /** Remembers a token, and forgets those that have expired by `now`. */
  add(token: string, plugin: PluginKey, now: number, expiresAt: number): void {
    const { environment, tenant, namespace, pluginName } = plugin;
    this.#prune.run(now);
    this.#insert.run(hashToken(token), environment, tenant, namespace, pluginName, expiresAt);
  }

  /** The plugin that a token opens; `undefined` when it is unknown or has expired. */
  find(token: string, now: number): PluginKey | undefined {
    const row = this.#find.get(hashToken(token), now);
    return row && (row as unknown as PluginKey);
  }
}
