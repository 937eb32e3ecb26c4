import type { Kysely } from 'kysely';
import type { PluginKey } from '../../plugins/plugin-key.ts';
import type { PluginSource } from '../../plugins/records.ts';
import type { Program, StoredProgram } from '../../plugins/program.ts';
import type { Schema } from '../schema.ts';
import { digestOf } from './digest.ts';
import { pluginColumns } from './plugin-columns.ts';
import type { Programs, ProgramsInTransaction } from './programs.ts';

/** The last successful build of each draft. */
export class Builds {
  protected readonly db: Kysely<Schema>;
  readonly #programs: Programs;

  constructor(db: Kysely<Schema>, programs: Programs) {
    this.db = db;
    this.#programs = programs;
  }

  /** What this very source was built to; `undefined` when the last successful build was of another. */
  async find(plugin: PluginKey, source: PluginSource): Promise<StoredProgram | undefined> {
    const row = await this.db
      .selectFrom('builds')
      .select('program_hash')
      .where((where) => where.and(pluginColumns(plugin)))
      .where('digest', '=', digestOf(source))
      .executeTakeFirst();
    return row && this.#programs.reference(row.program_hash);
  }

  /** What the draft as it is was built to; `undefined` when its last successful build was of another text. */
  async findCurrent(plugin: PluginKey): Promise<StoredProgram | undefined> {
    const row = await this.db
      .selectFrom('builds')
      .innerJoin('drafts', (join) =>
        join
          .onRef('drafts.environment', '=', 'builds.environment')
          .onRef('drafts.tenant', '=', 'builds.tenant')
          .onRef('drafts.namespace', '=', 'builds.namespace')
          .onRef('drafts.plugin', '=', 'builds.plugin')
          .onRef('drafts.digest', '=', 'builds.digest'),
      )
      .select('program_hash')
      .where('builds.environment', '=', plugin.environment)
      .where('builds.tenant', '=', plugin.tenant)
      .where('builds.namespace', '=', plugin.namespace)
      .where('builds.plugin', '=', plugin.pluginName)
      .executeTakeFirst();
    return row && this.#programs.reference(row.program_hash);
  }
}

export class BuildsInTransaction extends Builds {
  readonly #programs: ProgramsInTransaction;

  constructor(db: Kysely<Schema>, programs: ProgramsInTransaction) {
    super(db, programs);
    this.#programs = programs;
  }

  /**
   * Remembers what a source was built to, in the place of what was built before, which is removed unless something else
   * refers to it. The transaction has to have locked the plugin.
   */
  async save(plugin: PluginKey, source: PluginSource, program: Program, now: number): Promise<void> {
    const before = await this.db
      .selectFrom('builds')
      .select('program_hash')
      .where((where) => where.and(pluginColumns(plugin)))
      .executeTakeFirst();
    const hash = await this.#programs.add(program, before?.program_hash);
    const changed = { digest: digestOf(source), program_hash: hash, built_at: now };
    await this.db
      .insertInto('builds')
      .values({ ...pluginColumns(plugin), ...changed })
      .onConflict((conflict) =>
        conflict.columns(['environment', 'tenant', 'namespace', 'plugin']).doUpdateSet(changed),
      )
      .execute();
    if (before) await this.#programs.removeUnused(before.program_hash);
  }
}
