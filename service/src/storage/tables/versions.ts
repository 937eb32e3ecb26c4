import type { Kysely } from 'kysely';
import type { PluginKey } from '../../plugins/plugin-key.ts';
import type { StoredProgram } from '../../plugins/program.ts';
import type { PluginSource } from '../../plugins/records.ts';
import type { Change } from '../changes/change-log.ts';
import type { Schema } from '../schema.ts';
import { pluginCacheKey, pluginColumns } from './plugin-columns.ts';
import type { Programs } from './programs.ts';

const nameOf = (patch: number) => `v1.0.${patch}`;

/** The deployed versions of plugins. No operation changes one, and the database itself refuses to. */
export class Versions {
  protected readonly db: Kysely<Schema>;
  readonly #programs: Programs;

  constructor(db: Kysely<Schema>, programs: Programs) {
    this.db = db;
    this.#programs = programs;
  }

  /** What a version runs; `undefined` when there is no such version. */
  async find(plugin: PluginKey, version: string): Promise<StoredProgram | undefined> {
    const patch = /^v1\.0\.(0|[1-9]\d{0,14})$/.exec(version)?.[1];
    if (patch === undefined) return undefined;
    const row = await this.db
      .selectFrom('versions')
      .select('program_hash')
      .where((where) => where.and(pluginColumns(plugin)))
      .where('patch', '=', Number(patch))
      .executeTakeFirst();
    return row && this.#programs.reference(row.program_hash);
  }

  /** What the newest version runs; `undefined` when nothing was deployed yet. */
  async newest(plugin: PluginKey): Promise<StoredProgram | undefined> {
    const row = await this.#selectNewest(plugin).select('program_hash').executeTakeFirst();
    return row && this.#programs.reference(row.program_hash);
  }

  /** The newest version's name and the draft that it was made of. */
  async newestSource(plugin: PluginKey): Promise<{ version: string; source: PluginSource } | undefined> {
    const row = await this.#selectNewest(plugin).select(['patch', 'record']).executeTakeFirst();
    return row && { version: nameOf(row.patch), source: JSON.parse(row.record) as PluginSource };
  }

  #selectNewest(plugin: PluginKey) {
    return this.db
      .selectFrom('versions')
      .where((where) => where.and(pluginColumns(plugin)))
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
    return nameOf(patch);
  }
}
