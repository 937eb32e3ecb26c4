import type { Kysely } from 'kysely';
import type { PluginKey } from '../../plugins/plugin-key.ts';
import type { StoredProgram, StoredVersion } from '../../plugins/program.ts';
import type { PluginSource } from '../../plugins/records.ts';
import type { Change } from '../changes/change-log.ts';
import { DeletedError } from '../deleted.ts';
import type { Schema } from '../schema.ts';
import { sourceDigestOf, versionDigestOf } from './digest.ts';
import type { WriteStamp } from './drafts.ts';
import { pluginCacheKey, pluginId, selectPlugin } from './names.ts';
import type { Programs } from './programs.ts';

/** The name of the version with this number. */
export const versionName = (patch: number): string => `v1.0.${patch}`;

/** The number of a version, from its name; `undefined` when it names none. */
export function versionPatch(name: string): number | undefined {
  const patch = /^v1\.0\.(0|[1-9]\d{0,14})$/.exec(name)?.[1];
  return patch === undefined ? undefined : Number(patch);
}

/** A version to be added, when and in whose name. */
export interface NewVersion extends WriteStamp {
  /** What was said of it when it was deployed. */
  readonly message?: string | undefined;
  /** Of the schemas that its build was made with; see `digest.ts` (default: of none). */
  readonly schemasDigest?: string | undefined;
}

/** What the live version of a plugin runs. */
export interface LiveVersion extends StoredVersion {
  /** It was made live, so that a deploy changes nothing. */
  readonly isPinned: boolean;
}

/** What is known of a version without what it was made of. */
export interface VersionRecord {
  readonly version: string;
  /** Counts the versions, from 0 for `v1.0.0`. */
  readonly patch: number;
  /** Milliseconds since the epoch. */
  readonly deployedAt: number;
  readonly actor?: string;
  readonly message?: string;
  readonly lang: string;
  /** Of what it was made of; see `digest.ts`. */
  readonly digest: string;
}

const recordColumns = ['patch', 'lang', 'digest', 'created_at', 'actor', 'message'] as const;

const toRecord = (row: {
  readonly patch: number;
  readonly lang: string;
  readonly digest: string;
  readonly created_at: number;
  readonly actor: string | null;
  readonly message: string | null;
}): VersionRecord => ({
  version: versionName(row.patch),
  patch: row.patch,
  deployedAt: row.created_at,
  ...(row.actor !== null && { actor: row.actor }),
  ...(row.message !== null && { message: row.message }),
  lang: row.lang,
  digest: row.digest,
});

/** The deployed versions of plugins. No operation changes one, and the database itself refuses to. */
export class Versions {
  protected readonly db: Kysely<Schema>;
  readonly #programs: Programs;

  constructor(db: Kysely<Schema>, programs: Programs) {
    this.db = db;
    this.#programs = programs;
  }

  /** What a version runs; `undefined` when there is no such version. */
  async find(plugin: PluginKey, version: string): Promise<StoredVersion | undefined> {
    const patch = versionPatch(version);
    if (patch === undefined) return undefined;
    const row = await this.db
      .selectFrom('versions')
      .select(['plugin_id', 'program_hash', 'schemas_digest'])
      .where('plugin_id', '=', pluginId(this.db, plugin))
      .where('patch', '=', patch)
      .executeTakeFirst();
    return (
      row && {
        ...this.#programs.reference(row.program_hash, row.schemas_digest !== ''),
        version,
        pluginId: row.plugin_id,
      }
    );
  }

  /**
   * What the newest version runs, and the digest of what it was made of (see `digest.ts`); `undefined` when nothing was
   * deployed yet.
   */
  async newest(plugin: PluginKey): Promise<(StoredVersion & { readonly digest: string }) | undefined> {
    const row = await this.#selectNewest(plugin)
      .select(['plugin_id', 'patch', 'program_hash', 'digest', 'schemas_digest'])
      .executeTakeFirst();
    return (
      row && {
        ...this.#programs.reference(row.program_hash, row.schemas_digest !== ''),
        version: versionName(row.patch),
        pluginId: row.plugin_id,
        digest: row.digest,
      }
    );
  }

  /** What the live version runs: the one that was made live, else the newest; `undefined` when nothing was deployed yet. */
  async live(plugin: PluginKey): Promise<LiveVersion | undefined> {
    const row = await selectPlugin(this.db, plugin)
      .innerJoin('versions', 'versions.plugin_id', 'plugins.id')
      // A plugin that was made anew goes on from an older number, and has no version yet.
      .whereRef('versions.patch', '=', ({ fn }) => fn.coalesce('plugins.pinned_patch', 'plugins.last_patch'))
      .select([
        'versions.plugin_id',
        'versions.patch',
        'versions.program_hash',
        'versions.schemas_digest',
        'plugins.pinned_patch',
      ])
      .executeTakeFirst();
    return (
      row && {
        ...this.#programs.reference(row.program_hash, row.schemas_digest !== ''),
        version: versionName(row.patch),
        pluginId: row.plugin_id,
        isPinned: row.pinned_patch !== null,
      }
    );
  }

  /** Versions from the newest on, those before `before`, without what they were made of. */
  async list(
    plugin: PluginKey,
    { before, limit }: { readonly before?: number | undefined; readonly limit: number },
  ): Promise<VersionRecord[]> {
    const rows = await this.db
      .selectFrom('versions')
      .select(recordColumns)
      .where('plugin_id', '=', pluginId(this.db, plugin))
      .$if(before !== undefined, (query) => query.where('patch', '<', before ?? 0))
      .orderBy('patch', 'desc')
      .limit(limit)
      .execute();
    return rows.map(toRecord);
  }

  /** A version with what it was made of; `undefined` when there is no such version. */
  async findRecord(
    plugin: PluginKey,
    version: string,
  ): Promise<
    | { readonly record: VersionRecord; readonly source: PluginSource; readonly program: StoredProgram }
    | undefined
  > {
    const patch = versionPatch(version);
    if (patch === undefined) return undefined;
    const row = await this.db
      .selectFrom('versions')
      .select([...recordColumns, 'record', 'program_hash', 'schemas_digest'])
      .where('plugin_id', '=', pluginId(this.db, plugin))
      .where('patch', '=', patch)
      .executeTakeFirst();
    return (
      row && {
        record: toRecord(row),
        source: JSON.parse(row.record) as PluginSource,
        program: this.#programs.reference(row.program_hash, row.schemas_digest !== ''),
      }
    );
  }

  #selectNewest(plugin: PluginKey) {
    return this.db
      .selectFrom('versions')
      .where('plugin_id', '=', pluginId(this.db, plugin))
      .orderBy('patch', 'desc')
      .limit(1);
  }
}

export class VersionsInTransaction extends Versions {
  readonly #recordChange: (change: Change) => void;

  constructor(db: Kysely<Schema>, programs: Programs, recordChange: (change: Change) => void) {
    super(db, programs);
    this.#recordChange = recordChange;
  }

  /**
   * Adds the next version: `v1.0.0`, `v1.0.1`, … Returns its name. The transaction has to have locked the plugin, which has to
   * be there.
   * @throws DeletedError when its tenant was deleted meanwhile, which no lock of the plugin keeps off
   */
  async add(
    plugin: PluginKey,
    source: PluginSource,
    { hash }: StoredProgram,
    { now, actor, message, schemasDigest = '' }: NewVersion,
  ): Promise<string> {
    const { id, last_patch: patch } = await this.db
      .updateTable('plugins')
      .set(({ eb }) => ({ last_patch: eb('last_patch', '+', 1) }))
      .where('id', '=', pluginId(this.db, plugin))
      .returning(['id', 'last_patch'])
      .executeTakeFirstOrThrow(() => new DeletedError());
    await this.db
      .insertInto('versions')
      .values({
        plugin_id: id,
        patch,
        record: JSON.stringify(source),
        lang: source.lang,
        digest: versionDigestOf(sourceDigestOf(source), schemasDigest),
        program_hash: hash,
        schemas_digest: schemasDigest,
        created_at: now,
        actor: actor ?? null,
        message: message ?? null,
      })
      .execute();
    this.#recordChange({ kind: 'live-version', key: pluginCacheKey(plugin) });
    return versionName(patch);
  }
}
