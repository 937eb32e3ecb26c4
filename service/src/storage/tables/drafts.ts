import { createHash } from 'node:crypto';
import type { Kysely } from 'kysely';
import type { PluginKey } from '../../plugins/plugin-key.ts';
import type { PluginSource } from '../../plugins/records.ts';
import type { Schema } from '../schema.ts';
import { digestOf } from './digest.ts';
import { pluginColumns } from './plugin-columns.ts';

export interface Draft {
  readonly source: PluginSource;
  /** Counts the saves, from 1. */
  readonly revision: number;
  /** Names this very state of the draft, as an HTTP entity tag with its quotes. */
  readonly etag: string;
  /** Milliseconds since the epoch. */
  readonly updatedAt: number;
}

export class Drafts {
  readonly #db: Kysely<Schema>;

  constructor(db: Kysely<Schema>) {
    this.#db = db;
  }

  /** Whether there is a draft, without reading it. */
  async exists(plugin: PluginKey): Promise<boolean> {
    const row = await this.#db
      .selectFrom('drafts')
      .select('revision')
      .where((where) => where.and(pluginColumns(plugin)))
      .executeTakeFirst();
    return row !== undefined;
  }

  async find(plugin: PluginKey): Promise<Draft | undefined> {
    const row = await this.#db
      .selectFrom('drafts')
      .select(['record', 'revision', 'updated_at'])
      .where((where) => where.and(pluginColumns(plugin)))
      .executeTakeFirst();
    return row && draftOf(row, JSON.parse(row.record) as PluginSource);
  }

  /** Saves a draft, whatever it was before, and returns it as saved. */
  async save(plugin: PluginKey, source: PluginSource, now: number): Promise<Draft> {
    const changed = toColumns(source, now);
    const row = await this.#db
      .insertInto('drafts')
      .values({ ...pluginColumns(plugin), ...changed, revision: 1, created_at: now })
      .onConflict((conflict) =>
        conflict
          .columns(['environment', 'tenant', 'namespace', 'plugin'])
          .doUpdateSet(({ eb }) => ({ ...changed, revision: eb('drafts.revision', '+', 1) })),
      )
      .returning('revision')
      .executeTakeFirstOrThrow();
    return draftOf({ ...row, ...changed }, source);
  }

  /**
   * Saves what `change` makes of the draft as it is, and returns it as saved. Needs no lock: where another save comes
   * between reading and writing, nothing is written and `change` is asked again. It keeps the save from happening by
   * throwing, or by returning the very source that it got.
   */
  async update(
    plugin: PluginKey,
    now: number,
    change: (current: Draft | undefined) => PluginSource,
  ): Promise<Draft> {
    for (;;) {
      const current = await this.find(plugin);
      const source = change(current);
      if (current && source === current.source) return current;
      const saved = current
        ? await this.#replace(plugin, current, source, now)
        : await this.#insert(plugin, source, now);
      if (saved) return saved;
    }
  }

  /** Saves the first draft of a plugin; `undefined` when there is one already. */
  async #insert(plugin: PluginKey, source: PluginSource, now: number): Promise<Draft | undefined> {
    const changed = toColumns(source, now);
    const row = await this.#db
      .insertInto('drafts')
      .values({ ...pluginColumns(plugin), ...changed, revision: 1, created_at: now })
      .onConflict((conflict) =>
        conflict.columns(['environment', 'tenant', 'namespace', 'plugin']).doNothing(),
      )
      .returning('revision')
      .executeTakeFirst();
    return row && draftOf({ ...row, ...changed }, source);
  }

  /** Saves a draft in the place of `current`; `undefined` when that is not the draft any more. */
  async #replace(
    plugin: PluginKey,
    current: Draft,
    source: PluginSource,
    now: number,
  ): Promise<Draft | undefined> {
    const changed = { ...toColumns(source, now), revision: current.revision + 1 };
    const row = await this.#db
      .updateTable('drafts')
      .set(changed)
      .where((where) => where.and(pluginColumns(plugin)))
      .where('revision', '=', current.revision)
      .where('updated_at', '=', current.updatedAt)
      .returning('revision')
      .executeTakeFirst();
    return row && draftOf(changed, source);
  }
}

const toColumns = (source: PluginSource, now: number) => ({
  record: JSON.stringify(source),
  digest: digestOf(source),
  updated_at: now,
});

function draftOf(
  { record, revision, updated_at: updatedAt }: { record: string; revision: number; updated_at: number },
  source: PluginSource,
): Draft {
  // The revision alone would come again, for other text, after starting afresh with a new database.
  const digest = createHash('sha256').update(record).digest('base64url').slice(0, 16);
  return { source, revision, etag: `"${revision}-${digest}"`, updatedAt };
}
