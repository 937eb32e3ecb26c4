import type { Kysely } from 'kysely';
import type { PluginKey } from '../../plugins/plugin-key.ts';
import type { StoredProgram, StoredVersion } from '../../plugins/program.ts';
import type { PluginSource } from '../../plugins/records.ts';
import type { Change } from '../changes/change-log.ts';
import type { Schema } from '../schema.ts';
import { pluginCacheKey, pluginColumns } from './plugin-columns.ts';
import type { Programs } from './programs.ts';
import { nameOfPatch, patchOfName } from './version-names.ts';

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
    const patch = patchOfName(version);
    if (patch === undefined) return undefined;
    const row = await this.#select(plugin)
      .select(['drafts.id', 'program_hash'])
      .where('patch', '=', patch)
      .executeTakeFirst();
    return row && { ...this.#programs.reference(row.program_hash), version, pluginId: row.id };
  }

  /** What the newest version runs; `undefined` when nothing was deployed yet. */
  async newest(plugin: PluginKey): Promise<StoredVersion | undefined> {
    const row = await this.#selectNewest(plugin)
      .select(['drafts.id', 'patch', 'program_hash'])
      .executeTakeFirst();
    return (
      row && {
        ...this.#programs.reference(row.program_hash),
        version: nameOfPatch(row.patch),
        pluginId: row.id,
      }
    );
  }

  /** The newest version's name and the draft that it was made of. */
  async newestSource(plugin: PluginKey): Promise<{ version: string; source: PluginSource } | undefined> {
    const row = await this.#selectNewest(plugin).select(['patch', 'versions.record']).executeTakeFirst();
    return row && { version: nameOfPatch(row.patch), source: JSON.parse(row.record) as PluginSource };
  }

  #select({ environment, tenant, namespace, pluginName }: PluginKey) {
    return this.db
      .selectFrom('versions')
      .innerJoin('drafts', (join) =>
        join
          .onRef('drafts.environment', '=', 'versions.environment')
          .onRef('drafts.tenant', '=', 'versions.tenant')
          .onRef('drafts.namespace', '=', 'versions.namespace')
          .onRef('drafts.plugin', '=', 'versions.plugin'),
      )
      .where('versions.environment', '=', environment)
      .where('versions.tenant', '=', tenant)
      .where('versions.namespace', '=', namespace)
      .where('versions.plugin', '=', pluginName);
  }

  #selectNewest(plugin: PluginKey) {
    return this.#select(plugin).orderBy('patch', 'desc').limit(1);
  }
}

export class VersionsInTransaction extends Versions {
  readonly #recordChange: (change: Change) => void;

  constructor(db: Kysely<Schema>, programs: Programs, recordChange: (change: Change) => void) {
    super(db, programs);
    this.#recordChange = recordChange;
  }

  /**
   * Adds the next version: `v1.0.0`, `v1.0.1`, … Returns its name. The transaction has to have locked the plugin, so that
   * no other takes the same number.
   */
  async add(plugin: PluginKey, source: PluginSource, { hash }: StoredProgram, now: number): Promise<string> {
    const { newest } = await this.db
      .selectFrom('versions')
      .select(({ fn }) => fn.max('patch').as('newest'))
      .where((where) => where.and(pluginColumns(plugin)))
      .executeTakeFirstOrThrow();
    // There is no newest one before the first.
    const patch = ((newest as number | null) ?? -1) + 1;
    await this.db
      .insertInto('versions')
      .values({
        ...pluginColumns(plugin),
        patch,
        record: JSON.stringify(source),
        program_hash: hash,
        created_at: now,
      })
      .execute();
    this.#recordChange({ kind: 'newest-version', key: pluginCacheKey(plugin) });
    return nameOfPatch(patch);
  }
}
