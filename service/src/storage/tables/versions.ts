import type { Kysely } from 'kysely';
import type { PluginKey } from '../../plugins/plugin-key.ts';
import type { StoredProgram, StoredVersion } from '../../plugins/program.ts';
import type { PluginSource } from '../../plugins/records.ts';
import type { Change } from '../changes/change-log.ts';
import type { Schema } from '../schema.ts';
import { sourceDigestOf } from './digest.ts';
import type { Writing } from './drafts.ts';
import { pluginCacheKey, pluginId } from './names.ts';
import type { Programs } from './programs.ts';

/** The name of the version with this number. */
export const versionName = (patch: number): string => `v1.0.${patch}`;

/** The number of a version, from its name; `undefined` when it names none. */
export function versionPatch(name: string): number | undefined {
  const patch = /^v1\.0\.(0|[1-9]\d{0,14})$/.exec(name)?.[1];
  return patch === undefined ? undefined : Number(patch);
}

/** A version to be added, when and in whose name. */
export interface VersionWriting extends Writing {
  /** What was said of it when it was deployed. */
  readonly message?: string | undefined;
}

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
      .select(['plugin_id', 'program_hash'])
      .where('plugin_id', '=', pluginId(this.db, plugin))
      .where('patch', '=', patch)
      .executeTakeFirst();
    return row && { ...this.#programs.reference(row.program_hash), version, pluginId: row.plugin_id };
  }

  /**
   * What the newest version runs, and the digest of what it was made of (see `digest.ts`); `undefined` when nothing was
   * deployed yet.
   */
  async newest(plugin: PluginKey): Promise<(StoredVersion & { readonly digest: string }) | undefined> {
    const row = await this.#selectNewest(plugin)
      .select(['plugin_id', 'patch', 'program_hash', 'digest'])
      .executeTakeFirst();
    return (
      row && {
        ...this.#programs.reference(row.program_hash),
        version: versionName(row.patch),
        pluginId: row.plugin_id,
        digest: row.digest,
      }
    );
  }

  /** The newest version's name and the draft that it was made of. */
  async newestSource(plugin: PluginKey): Promise<{ version: string; source: PluginSource } | undefined> {
    const row = await this.#selectNewest(plugin).select(['patch', 'record']).executeTakeFirst();
    return row && { version: versionName(row.patch), source: JSON.parse(row.record) as PluginSource };
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
   */
  async add(
    plugin: PluginKey,
    source: PluginSource,
    { hash }: StoredProgram,
    { now, actor, message }: VersionWriting,
  ): Promise<string> {
    const { id, last_patch: patch } = await this.db
      .updateTable('plugins')
      .set(({ eb }) => ({ last_patch: eb('last_patch', '+', 1) }))
      .where('id', '=', pluginId(this.db, plugin))
      .returning(['id', 'last_patch'])
      .executeTakeFirstOrThrow();
    await this.db
      .insertInto('versions')
      .values({
        plugin_id: id,
        patch,
        record: JSON.stringify(source),
        lang: source.lang,
        digest: sourceDigestOf(source),
        program_hash: hash,
        created_at: now,
        actor: actor ?? null,
        message: message ?? null,
      })
      .execute();
    this.#recordChange({ kind: 'newest-version', key: pluginCacheKey(plugin) });
    return versionName(patch);
  }
}
