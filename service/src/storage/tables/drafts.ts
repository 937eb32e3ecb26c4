import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import type { PluginKey } from '../../plugins/plugin-key.ts';
import type { PluginSource } from '../../plugins/records.ts';
import { serializeSource } from './digest.ts';
import type { SerializedSource } from './digest.ts';
import { selectPluginId } from './names.ts';
import { roomOf, StorageFullError } from './tenant-storage.ts';
import type { Db, Transaction } from '../db.ts';
import { createPlugin } from './plugins.ts';

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

/** Finds what is known of a draft without its source. */
export async function readDraftState(db: Db, plugin: PluginKey): Promise<DraftState | undefined> {
  const row = await selectDraft(db, plugin).select(stateColumns).executeTakeFirst();
  return row && toState(row);
}

export async function readDraft(db: Db, plugin: PluginKey): Promise<Draft | undefined> {
  const row = await selectDraft(db, plugin)
    .select([...stateColumns, 'record'])
    .executeTakeFirst();
  return row && toDraft(row);
}

/**
 * Overwrites a draft; `undefined` when there is none, or where `current` is given and it was saved again since it was in that state.
 * @throws StorageFullError when it is longer than before, and the tenant has no room for that
 */
export async function overwriteDraft(
  db: Db,
  plugin: PluginKey,
  source: PluginSource,
  writing: DraftWrite,
  current?: DraftState,
): Promise<Draft | undefined> {
  const serialized = await serializeSource(source);
  for (;;) {
    const saved = await saveDraft(db, plugin, serialized, writing, current);
    if (saved) return saved;
    const state = await readDraftState(db, plugin);
    if (!state || (current && state.etag !== current.etag)) return undefined;
    await requireRoom(db, plugin, serialized, writing);
  }
}

/** Saves a draft where there is one, in the state `current` if that is given, and where the tenant has room for it. */
async function saveDraft(
  db: Db,
  plugin: PluginKey,
  serialized: SerializedSource,
  { now, actor, allowed }: DraftWrite,
  current?: DraftState,
): Promise<Draft | undefined> {
  const changed = toColumns(serialized, { now, actor });
  const row = await db.query
    .updateTable('drafts')
    .set(({ eb }) => ({ ...changed, revision: eb('revision', '+', 1) }))
    .where('plugin_id', '=', selectPluginId(db, plugin))
    .$if(current !== undefined, (query) =>
      query.where('revision', '=', current?.revision ?? 0).where('updated_at', '=', current?.updatedAt ?? 0),
    )
    // The room first, because reading it locks the tenant's counter: all writers take the two locks in this order.
    .$if(allowed !== undefined, (query) =>
      query.where((where) =>
        where.or([
          where(roomOf(db, plugin, allowed ?? 0), '>=', growth(serialized)),
          where(growth(serialized), '<=', sql.lit(0)),
        ]),
      ),
    )
    .returning('revision')
    .executeTakeFirst();
  return row && toDraft({ ...row, ...changed });
}

/** Throws where a draft is longer than before and the tenant has no room for that. */
async function requireRoom(
  db: Db,
  plugin: PluginKey,
  serialized: SerializedSource,
  { allowed }: DraftWrite,
): Promise<void> {
  if (allowed === undefined) return;
  const row = await selectDraft(db, plugin)
    .innerJoin('plugins', 'plugins.id', 'drafts.plugin_id')
    .innerJoin('tenant_storage', 'tenant_storage.tenant_id', 'plugins.tenant_id')
    .select(['tenant_storage.bytes', 'tenant_storage.is_exempt', growth(serialized).as('growth')])
    .executeTakeFirst();
  if (!row) return;
  const isExempt = row.is_exempt === 1 && row.bytes > allowed;
  if (row.growth > 0 && row.bytes + row.growth > allowed && !isExempt)
    throw new StorageFullError(row.bytes, allowed);
}

function selectDraft(db: Db, plugin: PluginKey) {
  return db.query.selectFrom('drafts').where('plugin_id', '=', selectPluginId(db, plugin));
}

/** As {@link readDraftState}. The draft stays as it is until the transaction ends. */
export async function lockDraftState(db: Transaction, plugin: PluginKey): Promise<DraftState | undefined> {
  const row = await db.query
    .selectFrom('drafts')
    .select(stateColumns)
    .where('plugin_id', '=', selectPluginId(db, plugin))
    .modifyEnd(db.engine.forUpdate)
    .executeTakeFirst();
  return row && toState(row);
}

/**
 * Creates a plugin with its first draft; `undefined` when its tenant no longer exists. The transaction must have locked the
 * tenant, and found that there is no draft.
 */
export async function createDraft(
  db: Transaction,
  plugin: PluginKey,
  source: PluginSource,
  writing: WriteStamp,
): Promise<Draft | undefined> {
  const serialized = await serializeSource(source);
  const id = await createPlugin(db, plugin, writing.now);
  if (id === undefined) return undefined;
  const row = { ...toColumns(serialized, writing), revision: 1 };
  await db.query
    .insertInto('drafts')
    .values({ plugin_id: id, ...row })
    .execute();
  return toDraft(row);
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
