import { sql } from 'kysely';
import type { Kysely, RawBuilder } from 'kysely';
import type { PluginKey } from '../../plugins/plugin-key.ts';
import type { PluginSource } from '../../plugins/records.ts';
import type { Engine } from '../engine.ts';
import type { Schema } from '../schema.ts';
import { serializeSource } from './digest.ts';
import type { SerializedSource } from './digest.ts';
import { selectPluginId } from './names.ts';
import type { PluginsInTransaction } from './plugins.ts';
import { roomOf, StorageFullError } from './tenant-storage.ts';

/** What is known of a draft without reading its source. */
export interface DraftState {
  /** The digest that a version of it would have without schemas; see `digest.ts`. */
  readonly digest: string;
  /** The digest of what a build of it depends on. */
  readonly buildDigest: string;
  /** Counts the saves, from 1. */
  readonly revision: number;
  /** The HTTP entity tag of this state of the draft, with its quotes. */
  readonly etag: string;
  /** Milliseconds since the epoch. */
  readonly updatedAt: number;
  /** The vendor's id for the person who saved it. */
  readonly actor?: string;
}

export interface Draft extends DraftState {
  /** The source as JSON. */
  readonly record: string;
  /** The same, parsed anew at each access. */
  readonly source: PluginSource;
}

/** When a row is written, in milliseconds since the epoch, and by whom. */
export interface WriteStamp {
  readonly now: number;
  readonly actor?: string | undefined;
}

/** The write of a draft. */
export interface DraftWrite extends WriteStamp {
  /** How many bytes the tenant may store (default: any number). */
  readonly allowed?: number | undefined;
}

const stateColumns = ['tag', 'source_digest', 'build_digest', 'revision', 'updated_at', 'actor'] as const;

export class Drafts {
  protected readonly db: Kysely<Schema>;
  protected readonly engine: Engine;

  constructor(db: Kysely<Schema>, engine: Engine) {
    this.db = db;
    this.engine = engine;
  }

  /** Finds what is known of a draft without its source. */
  async state(plugin: PluginKey): Promise<DraftState | undefined> {
    const row = await this.#select(plugin).select(stateColumns).executeTakeFirst();
    return row && toState(row);
  }

  async find(plugin: PluginKey): Promise<Draft | undefined> {
    const row = await this.#select(plugin)
      .select([...stateColumns, 'record'])
      .executeTakeFirst();
    return row && toDraft(row);
  }

  /**
   * Overwrites a draft, whatever it is; `undefined` when there is none.
   * @throws StorageFullError when it is longer than before, and the tenant has no room for that
   */
  async overwrite(plugin: PluginKey, source: PluginSource, writing: DraftWrite): Promise<Draft | undefined> {
    const serialized = await serializeSource(source);
    for (;;) {
      const saved = await this.#save(plugin, serialized, writing);
      if (saved) return saved;
      if (!(await this.state(plugin))) return undefined;
      await this.#requireRoom(plugin, serialized, writing);
    }
  }

  /**
   * Replaces a draft; `undefined` when it was saved again since it was in the state `current`, or is not there.
   * @throws StorageFullError as {@link overwrite}
   */
  async replace(
    plugin: PluginKey,
    current: DraftState,
    source: PluginSource,
    writing: DraftWrite,
  ): Promise<Draft | undefined> {
    const serialized = await serializeSource(source);
    for (;;) {
      const saved = await this.#save(plugin, serialized, writing, current);
      if (saved) return saved;
      if ((await this.state(plugin))?.etag !== current.etag) return undefined;
      await this.#requireRoom(plugin, serialized, writing);
    }
  }

  /** Saves a draft where there is one, in the state `current` if that is given, and where the tenant has room for it. */
  async #save(
    plugin: PluginKey,
    serialized: SerializedSource,
    { now, actor, allowed }: DraftWrite,
    current?: DraftState,
  ): Promise<Draft | undefined> {
    const changed = toColumns(serialized, { now, actor });
    const row = await this.db
      .updateTable('drafts')
      .set(({ eb }) => ({ ...changed, revision: eb('revision', '+', 1) }))
      .where('plugin_id', '=', selectPluginId(this.db, plugin))
      .$if(current !== undefined, (query) =>
        query
          .where('revision', '=', current?.revision ?? 0)
          .where('updated_at', '=', current?.updatedAt ?? 0),
      )
      // The room first, because reading it locks the tenant's counter: all writers take the two locks in this order.
      .$if(allowed !== undefined, (query) =>
        query.where((where) =>
          where.or([
            where(roomOf(this.db, this.engine, plugin, allowed ?? 0), '>=', growth(serialized)),
            where(growth(serialized), '<=', sql.lit(0)),
          ]),
        ),
      )
      .returning('revision')
      .executeTakeFirst();
    return row && toDraft({ ...row, ...changed });
  }

  /** Throws where a draft is longer than before and the tenant has no room for that. */
  async #requireRoom(
    plugin: PluginKey,
    serialized: SerializedSource,
    { allowed }: DraftWrite,
  ): Promise<void> {
    if (allowed === undefined) return;
    const row = await this.#select(plugin)
      .innerJoin('plugins', 'plugins.id', 'drafts.plugin_id')
      .innerJoin('tenant_storage', 'tenant_storage.tenant_id', 'plugins.tenant_id')
      .select(['tenant_storage.bytes', 'tenant_storage.is_exempt', growth(serialized).as('growth')])
      .executeTakeFirst();
    if (!row) return;
    const isExempt = row.is_exempt === 1 && row.bytes > allowed;
    if (row.growth > 0 && row.bytes + row.growth > allowed && !isExempt)
      throw new StorageFullError(row.bytes, allowed);
  }

  #select(plugin: PluginKey) {
    return this.db.selectFrom('drafts').where('plugin_id', '=', selectPluginId(this.db, plugin));
  }
}

export class DraftsInTransaction extends Drafts {
  readonly #plugins: PluginsInTransaction;

  constructor(db: Kysely<Schema>, engine: Engine, plugins: PluginsInTransaction) {
    super(db, engine);
    this.#plugins = plugins;
  }

  /** As {@link state}. The draft stays as it is until the transaction ends. */
  async lockState(plugin: PluginKey): Promise<DraftState | undefined> {
    const row = await this.db
      .selectFrom('drafts')
      .select(stateColumns)
      .where('plugin_id', '=', selectPluginId(this.db, plugin))
      .modifyEnd(this.engine.forUpdate)
      .executeTakeFirst();
    return row && toState(row);
  }

  /**
   * Creates a plugin with its first draft; `undefined` when its tenant no longer exists. The transaction must have locked the
   * tenant, and found that there is no draft.
   */
  async create(plugin: PluginKey, source: PluginSource, writing: WriteStamp): Promise<Draft | undefined> {
    const serialized = await serializeSource(source);
    const id = await this.#plugins.create(plugin, writing.now);
    if (id === undefined) return undefined;
    const row = { ...toColumns(serialized, writing), revision: 1 };
    await this.db
      .insertInto('drafts')
      .values({ plugin_id: id, ...row })
      .execute();
    return toDraft(row);
  }
}

/** By how many bytes the stored record would grow. */
const growth = ({ record }: SerializedSource): RawBuilder<number> =>
  sql<number>`(cast(${Buffer.byteLength(record)} as integer) - octet_length(drafts.record))`;

const toColumns = (
  { record, lang, tag, buildDigest, sourceDigest }: SerializedSource,
  { now, actor }: WriteStamp,
) => ({
  record,
  lang,
  tag,
  build_digest: buildDigest,
  source_digest: sourceDigest,
  updated_at: now,
  actor: actor ?? null,
});

/** The entity tag of a draft, with its quotes. */
export const draftEtag = ({ revision, tag }: { revision: number; tag: string }): string =>
  `"${revision}-${tag}"`;

interface StateRow {
  readonly tag: string;
  readonly source_digest: string;
  readonly build_digest: string;
  readonly revision: number;
  readonly updated_at: number;
  readonly actor: string | null;
}

const toDraft = ({ record, ...row }: StateRow & { readonly record: string }): Draft => ({
  ...toState(row),
  record,
  get source() {
    return JSON.parse(record) as PluginSource;
  },
});

const toState = (row: StateRow): DraftState => ({
  digest: row.source_digest,
  buildDigest: row.build_digest,
  revision: row.revision,
  etag: draftEtag(row),
  updatedAt: row.updated_at,
  ...(row.actor !== null && { actor: row.actor }),
});
