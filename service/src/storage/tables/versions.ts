import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { PluginKey } from '../../plugins/plugin-key.ts';
import type { StoredProgram, StoredVersion } from '../../plugins/program.ts';
import type { Change } from '../changes/change-log.ts';
import { DeletedError } from '../errors.ts';
import type { Schema } from '../schema.ts';
import type { WriteStamp } from './drafts.ts';
import { pluginCacheKey, selectPluginId, selectPlugin } from './names.ts';
import type { Programs, ProgramsInTransaction } from './programs.ts';

/** The name of a version, by its number. */
export const versionName = (patch: number): string => `v1.0.${patch}`;

/** The number of a version, by its name; `undefined` for a text that is not the name of a version. */
export function versionPatch(name: string): number | undefined {
  const patch = /^v1\.0\.(0|[1-9]\d{0,14})$/.exec(name)?.[1];
  return patch === undefined ? undefined : Number(patch);
}

/** A version to be added: when, by whom, and with which message. */
export interface NewVersion extends WriteStamp {
  /** The hash of its program. */
  readonly program: string;
  /** The digest of what it is made of; see `digest.ts`. */
  readonly digest: string;
  /** The digest of the schemas of its build; see `digest.ts` (default: none). */
  readonly schemasDigest?: string | undefined;
  /** The message of the deploy. */
  readonly message?: string | undefined;
}

/** The program of the live version of a plugin. */
export interface LiveVersion extends StoredVersion {
  /** Whether the version is pinned, so that a deploy does not change which one is live. */
  readonly isPinned: boolean;
}

/** A version without its source and program. */
export interface VersionRecord {
  readonly version: string;
  /** Counts the versions, from 0 for `v1.0.0`. */
  readonly patch: number;
  /** Milliseconds since the epoch. */
  readonly deployedAt: number;
  readonly actor?: string;
  readonly message?: string;
  readonly lang: string;
  /** The digest of what it was made of; see `digest.ts`. */
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

/** The columns that a version's program is found by. */
interface ProgramColumns {
  readonly program_hash: string;
  readonly schemas_digest: string;
}

/** The deployed versions of plugins. No operation changes one, and the database refuses updates of the table. */
export class Versions {
  protected readonly db: Kysely<Schema>;
  readonly #programs: Programs;

  constructor(db: Kysely<Schema>, programs: Programs) {
    this.db = db;
    this.#programs = programs;
  }

  /** Finds the program of a version; `undefined` when there is no such version. */
  async find(plugin: PluginKey, version: string): Promise<StoredVersion | undefined> {
    const patch = versionPatch(version);
    if (patch === undefined) return undefined;
    const row = await this.db
      .selectFrom('versions')
      .select(['plugin_id', 'program_hash', 'schemas_digest'])
      .where('plugin_id', '=', selectPluginId(this.db, plugin))
      .where('patch', '=', patch)
      .executeTakeFirst();
    return row && this.#toStored({ ...row, patch });
  }

  /**
   * Finds the program of the newest version, and the digest of what it was made of (see `digest.ts`); `undefined` when nothing was
   * deployed yet.
   */
  async newest(plugin: PluginKey): Promise<(StoredVersion & { readonly digest: string }) | undefined> {
    const row = await this.#selectNewest(plugin)
      .select(['plugin_id', 'patch', 'program_hash', 'digest', 'schemas_digest'])
      .executeTakeFirst();
    return row && { ...this.#toStored(row), digest: row.digest };
  }

  /** Finds the program of the live version: the pinned one, else the newest; `undefined` when nothing was deployed yet. */
  async live(plugin: PluginKey): Promise<LiveVersion | undefined> {
    const row = await selectPlugin(this.db, plugin)
      .innerJoin('versions', 'versions.plugin_id', 'plugins.id')
      // A plugin that was created again has the number of the last version before its deletion, and no version of that number.
      .whereRef('versions.patch', '=', ({ fn }) => fn.coalesce('plugins.pinned_patch', 'plugins.last_patch'))
      .select([
        'versions.plugin_id',
        'versions.patch',
        'versions.program_hash',
        'versions.schemas_digest',
        'plugins.pinned_patch',
      ])
      .executeTakeFirst();
    return row && { ...this.#toStored(row), isPinned: row.pinned_patch !== null };
  }

  /** Lists versions, the newest first, before the number `before`, without their sources. */
  async list(
    plugin: PluginKey,
    { before, limit }: { readonly before?: number | undefined; readonly limit: number },
  ): Promise<VersionRecord[]> {
    const rows = await this.db
      .selectFrom('versions')
      .select(recordColumns)
      .where('plugin_id', '=', selectPluginId(this.db, plugin))
      .$if(before !== undefined, (query) => query.where('patch', '<', before ?? 0))
      .orderBy('patch', 'desc')
      .limit(limit)
      .execute();
    return rows.map(toRecord);
  }

  /** Finds a version with its source, as JSON, and its program; `undefined` when there is no such version. */
  async findRecord(
    plugin: PluginKey,
    version: string,
  ): Promise<
    { readonly record: VersionRecord; readonly source: string; readonly program: StoredProgram } | undefined
  > {
    const patch = versionPatch(version);
    if (patch === undefined) return undefined;
    const row = await this.db
      .selectFrom('versions')
      .select([...recordColumns, 'record', 'program_hash', 'schemas_digest'])
      .where('plugin_id', '=', selectPluginId(this.db, plugin))
      .where('patch', '=', patch)
      .executeTakeFirst();
    return (
      row && {
        record: toRecord(row),
        source: row.record,
        program: this.#programOf(row),
      }
    );
  }

  #toStored(row: ProgramColumns & { readonly plugin_id: number; readonly patch: number }): StoredVersion {
    return { ...this.#programOf(row), version: versionName(row.patch), pluginId: row.plugin_id };
  }

  #programOf({ program_hash: hash, schemas_digest: schemasDigest }: ProgramColumns): StoredProgram {
    return this.#programs.reference(hash, schemasDigest !== '');
  }

  #selectNewest(plugin: PluginKey) {
    return this.db
      .selectFrom('versions')
      .where('plugin_id', '=', selectPluginId(this.db, plugin))
      .orderBy('patch', 'desc')
      .limit(1);
  }
}

export class VersionsInTransaction extends Versions {
  readonly #programs: ProgramsInTransaction;
  readonly #recordChange: (change: Change) => void;

  constructor(db: Kysely<Schema>, programs: ProgramsInTransaction, recordChange: (change: Change) => void) {
    super(db, programs);
    this.#programs = programs;
    this.#recordChange = recordChange;
  }

  /**
   * Adds the current draft as the next version, `v1.0.0`, `v1.0.1` and so on, and returns its name. The transaction must have
   * locked the plugin, and its draft.
   * @throws DeletedError when its tenant was deleted meanwhile, which the lock of the plugin does not prevent
   */
  async add(
    plugin: PluginKey,
    { program, digest, schemasDigest = '', now, actor, message }: NewVersion,
  ): Promise<string> {
    const { id, last_patch: patch } = await this.db
      .updateTable('plugins')
      .set(({ eb }) => ({ last_patch: eb('last_patch', '+', 1) }))
      .where('id', '=', selectPluginId(this.db, plugin))
      .returning(['id', 'last_patch'])
      .executeTakeFirstOrThrow(() => new DeletedError());
    await this.db
      .insertInto('versions')
      .columns([
        'plugin_id',
        'patch',
        'record',
        'lang',
        'digest',
        'program_hash',
        'schemas_digest',
        'created_at',
        'actor',
        'message',
      ])
      // Copied within the database: a source may have megabytes.
      .expression((eb) =>
        eb
          .selectFrom('drafts')
          .where('plugin_id', '=', id)
          .select([
            'plugin_id',
            sql<number>`${patch}`.as('patch'),
            'record',
            'lang',
            sql<string>`${digest}`.as('digest'),
            sql<string>`${program}`.as('program_hash'),
            sql<string>`${schemasDigest}`.as('schemas_digest'),
            sql<number>`${now}`.as('created_at'),
            sql<string | null>`${actor ?? null}`.as('actor'),
            sql<string | null>`${message ?? null}`.as('message'),
          ]),
      )
      .execute();
    this.#recordChange({ kind: 'live-version', key: pluginCacheKey(plugin) });
    return versionName(patch);
  }
  /**
   * Deletes a version. Its number is not used again, because the newest one cannot be deleted. The transaction must have locked
   * the plugin.
   */
  async delete(plugin: PluginKey, version: string): Promise<'deleted' | 'in-use' | 'missing'> {
    const patch = versionPatch(version);
    if (patch === undefined) return 'missing';
    const row = await selectPlugin(this.db, plugin)
      .innerJoin('versions', 'versions.plugin_id', 'plugins.id')
      .where('versions.patch', '=', patch)
      .select(['plugins.id', 'plugins.last_patch', 'plugins.pinned_patch', 'versions.program_hash'])
      .executeTakeFirst();
    if (!row) return 'missing';
    if (patch === row.last_patch || patch === row.pinned_patch) return 'in-use';
    const programs = new Set([row.program_hash]);
    await this.#programs.lockAll(programs);
    await this.db.deleteFrom('versions').where('plugin_id', '=', row.id).where('patch', '=', patch).execute();
    await this.#programs.removeUnused(programs);
    this.#recordChange({ kind: 'plugin', key: pluginCacheKey(plugin) });
    return 'deleted';
  }
}
