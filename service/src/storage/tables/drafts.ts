import { createHash } from 'node:crypto';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { PluginKey } from '../../plugins/plugin-key.ts';
import type { PluginSource } from '../../plugins/records.ts';
import { transaction } from '../transaction.ts';
import { digestOf } from './builds.ts';

export interface Draft {
  readonly source: PluginSource;
  /** Counts the saves, from 1. */
  readonly revision: number;
  /** Names this very state of the draft, as an HTTP entity tag with its quotes. */
  readonly etag: string;
  /** Milliseconds since the epoch. */
  readonly updatedAt: number;
}

interface Row {
  record: string;
  revision: number;
  updated_at: number;
}

const keyOf = ({ environment, tenant, namespace, pluginName }: PluginKey) =>
  [environment, tenant, namespace, pluginName] as const;

export class Drafts {
  readonly #db: DatabaseSync;
  readonly #find: StatementSync;
  readonly #exists: StatementSync;
  readonly #save: StatementSync;

  constructor(db: DatabaseSync) {
    this.#db = db;
    this.#find = db.prepare(
      `SELECT record, revision, updated_at FROM drafts
       WHERE environment = ? AND tenant = ? AND namespace = ? AND plugin = ?`,
    );
    this.#exists = db.prepare(
      'SELECT 1 FROM drafts WHERE environment = ? AND tenant = ? AND namespace = ? AND plugin = ?',
    );
    this.#save = db.prepare(
      `INSERT INTO drafts (environment, tenant, namespace, plugin, record, digest, revision, created_at, updated_at)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6, 1, ?7, ?7)
       ON CONFLICT (environment, tenant, namespace, plugin)
       DO UPDATE SET record = ?5, digest = ?6, revision = revision + 1, updated_at = ?7
       RETURNING record, revision, updated_at`,
    );
  }

  /** Whether there is a draft, without reading it. */
  exists(plugin: PluginKey): boolean {
    return this.#exists.get(...keyOf(plugin)) !== undefined;
  }

  find(plugin: PluginKey): Draft | undefined {
    return draftOf(this.#find.get(...keyOf(plugin)));
  }

  /**
   * Saves a draft and returns it as saved. `check` gets the draft as it was, in the same transaction, and keeps
   * the save from happening by throwing.
   */
  save(
    plugin: PluginKey,
    source: PluginSource,
    now: number,
    check?: (current: Draft | undefined) => void,
  ): Draft {
    return transaction(this.#db, () => {
      check?.(this.find(plugin));
      return this.saveWithin(plugin, source, now);
    });
  }

  /** Saves a draft inside the caller's transaction. */
  saveWithin(plugin: PluginKey, source: PluginSource, now: number): Draft {
    const saved = draftOf(this.#save.get(...keyOf(plugin), JSON.stringify(source), digestOf(source), now));
    if (!saved) throw new Error('The database gave no row for a saved draft.');
    return saved;
  }
}

function draftOf(row: object | undefined): Draft | undefined {
  if (!row) return undefined;
  const { record, revision, updated_at } = row as Row;
  // The revision alone would come again, for other text, after starting afresh with a new data folder.
  const digest = createHash('sha256').update(record).digest('base64url').slice(0, 16);
  const source = JSON.parse(record) as PluginSource;
  return { source, revision, etag: `"${revision}-${digest}"`, updatedAt: updated_at };
}
