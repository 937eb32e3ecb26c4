import type { Kysely } from 'kysely';
import type { PluginKey } from '../../plugins/plugin-key.ts';
import type { PluginSource } from '../../plugins/records.ts';
import type { Schema } from '../schema.ts';
import { buildDigestOf, sourceDigestOf, tagOf } from './digest.ts';
import { selectPluginId } from './names.ts';
import type { PluginsInTransaction } from './plugins.ts';

export interface Draft {
  readonly source: PluginSource;
  /** The digest that a version of it would have without schemas; see `digest.ts`. */
  readonly digest: string;
  /** Counts the saves, from 1. */
  readonly revision: number;
  /** The HTTP entity tag of this state of the draft, with its quotes. */
  readonly etag: string;
  /** Milliseconds since the epoch. */
  readonly updatedAt: number;
  /** The vendor's id for the person who saved it. */
  readonly actor?: string;
}

/** When a row is written, in milliseconds since the epoch, and by whom. */
export interface WriteStamp {
  readonly now: number;
  readonly actor?: string | undefined;
}

export class Drafts {
  protected readonly db: Kysely<Schema>;

  constructor(db: Kysely<Schema>) {
    this.db = db;
  }

  /** Whether there is a draft, without reading it. */
  async exists(plugin: PluginKey): Promise<boolean> {
    const row = await this.db
      .selectFrom('drafts')
      .select('revision')
      .where('plugin_id', '=', selectPluginId(this.db, plugin))
      .executeTakeFirst();
    return row !== undefined;
  }

  async find(plugin: PluginKey): Promise<Draft | undefined> {
    const row = await this.db
      .selectFrom('drafts')
      .select(['record', 'tag', 'source_digest', 'revision', 'updated_at', 'actor'])
      .where('plugin_id', '=', selectPluginId(this.db, plugin))
      .executeTakeFirst();
    return row && toDraft(row, JSON.parse(row.record) as PluginSource);
  }

  /** Overwrites a draft, whatever it is; `undefined` when there is none. */
  async overwrite(plugin: PluginKey, source: PluginSource, writing: WriteStamp): Promise<Draft | undefined> {
    const changed = toColumns(source, writing);
    const row = await this.db
      .updateTable('drafts')
      .set(({ eb }) => ({ ...changed, revision: eb('revision', '+', 1) }))
      .where('plugin_id', '=', selectPluginId(this.db, plugin))
      .returning('revision')
      .executeTakeFirst();
    return row && toDraft({ ...row, ...changed }, source);
  }

  /**
   * Saves what `change` makes of the current draft, and returns it as saved; `undefined` when there is none. It needs no lock: when
   * another save comes between the read and the write, nothing is written and `change` is called again. `change` prevents the save
   * by throwing, or by returning the very `source` of the draft that it got.
   */
  async update(
    plugin: PluginKey,
    writing: WriteStamp,
    change: (current: Draft) => PluginSource,
  ): Promise<Draft | undefined> {
    for (;;) {
      const current = await this.find(plugin);
      if (!current) return undefined;
      const source = change(current);
      if (source === current.source) return current;
      const saved = await this.#replace(plugin, current, source, writing);
      if (saved) return saved;
    }
  }

  /** Replaces the draft `current`; `undefined` when that is no longer the draft. */
  async #replace(
    plugin: PluginKey,
    current: Draft,
    source: PluginSource,
    writing: WriteStamp,
  ): Promise<Draft | undefined> {
    const changed = { ...toColumns(source, writing), revision: current.revision + 1 };
    const row = await this.db
      .updateTable('drafts')
      .set(changed)
      .where('plugin_id', '=', selectPluginId(this.db, plugin))
      .where('revision', '=', current.revision)
      .where('updated_at', '=', current.updatedAt)
      .returning('revision')
      .executeTakeFirst();
    return row && toDraft(changed, source);
  }
}

export class DraftsInTransaction extends Drafts {
  readonly #plugins: PluginsInTransaction;

  constructor(db: Kysely<Schema>, plugins: PluginsInTransaction) {
    super(db);
    this.#plugins = plugins;
  }

  /**
   * Creates a plugin with its first draft; `undefined` when its tenant no longer exists. The transaction must have locked the
   * tenant, and found that there is no draft.
   */
  async create(plugin: PluginKey, source: PluginSource, writing: WriteStamp): Promise<Draft | undefined> {
    const id = await this.#plugins.create(plugin, writing.now);
    if (id === undefined) return undefined;
    const row = { ...toColumns(source, writing), revision: 1 };
    await this.db
      .insertInto('drafts')
      .values({ plugin_id: id, ...row })
      .execute();
    return toDraft(row, source);
  }
}

function toColumns(source: PluginSource, { now, actor }: WriteStamp) {
  const record = JSON.stringify(source);
  return {
    record,
    lang: source.lang,
    // A new database counts revisions from 1 again, so that a revision alone could be that of another text.
    tag: tagOf(record),
    build_digest: buildDigestOf(source),
    source_digest: sourceDigestOf(source),
    updated_at: now,
    actor: actor ?? null,
  };
}

/** The entity tag of a draft, with its quotes. */
export const draftEtag = ({ revision, tag }: { revision: number; tag: string }): string =>
  `"${revision}-${tag}"`;

interface DraftRow {
  readonly tag: string;
  readonly source_digest: string;
  readonly revision: number;
  readonly updated_at: number;
  readonly actor: string | null;
}

const toDraft = (row: DraftRow, source: PluginSource): Draft => ({
  source,
  digest: row.source_digest,
  revision: row.revision,
  etag: draftEtag(row),
  updatedAt: row.updated_at,
  ...(row.actor !== null && { actor: row.actor }),
});
