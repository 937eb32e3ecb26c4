import { sql } from 'kysely';
import type { PluginKey } from '../../plugins/plugin-key.ts';
import type { StoredProgram } from '../../plugins/program.ts';
import { noDigests } from './digest.ts';
import type { NamespaceDigests } from './digest.ts';
import { digestOfNamespace } from './namespaces.ts';
import { selectPluginId, selectPlugin } from './names.ts';
import type { Db, Transaction } from '../db.ts';
import { addProgram, removeUnusedPrograms, storedProgram } from './programs.ts';
import type { PackedProgram } from './programs.ts';

/**
 * The program that the source with this digest was built to, with schemas and libraries of these digests (default: none);
 * `undefined` when the last successful build was of another source or with others.
 */
export async function findBuild(
  db: Db,
  plugin: PluginKey,
  buildDigest: string,
  { schemasDigest, librariesDigest }: NamespaceDigests = noDigests,
): Promise<StoredProgram | undefined> {
  const row = await db.query
    .selectFrom('builds')
    .select('program_hash')
    .where('plugin_id', '=', selectPluginId(db, plugin))
    .where('digest', '=', buildDigest)
    .where('schemas_digest', '=', schemasDigest)
    .where('libraries_digest', '=', librariesDigest)
    .executeTakeFirst();
  return row && storedProgram(db, row.program_hash, schemasDigest !== '');
}

/**
 * The program that the current draft was built to; `undefined` when its last successful build was of another source, or with
 * other schemas or libraries than those of its namespace.
 */
export async function findCurrentBuild(db: Db, plugin: PluginKey): Promise<StoredProgram | undefined> {
  const row = await db.query
    .selectFrom('builds')
    .innerJoin('drafts', (join) =>
      join
        .onRef('drafts.plugin_id', '=', 'builds.plugin_id')
        .onRef('drafts.build_digest', '=', 'builds.digest'),
    )
    .select(['program_hash', 'schemas_digest'])
    .where('builds.plugin_id', '=', selectPluginId(db, plugin))
    .where('schemas_digest', '=', digestOfNamespace(db, plugin, 'schemas_digest'))
    .where('libraries_digest', '=', digestOfNamespace(db, plugin, 'libraries_digest'))
    .executeTakeFirst();
  return row && storedProgram(db, row.program_hash, row.schemas_digest !== '');
}

export interface NewBuild {
  readonly program: PackedProgram;
  /** That of the source and its language. */
  readonly digest: string;
  /** Those of the schemas and libraries of the build (default: of none). */
  readonly digests?: NamespaceDigests;
  readonly now: number;
}

/**
 * Replaces the plugin's build, and removes the former program unless something else refers to it. The transaction must have locked
 * the plugin.
 */
export async function saveBuild(
  db: Transaction,
  plugin: PluginKey,
  { program, digest, digests = noDigests, now }: NewBuild,
): Promise<void> {
  const before = await db.query
    .selectFrom('builds')
    .select('program_hash')
    .where('plugin_id', '=', selectPluginId(db, plugin))
    .executeTakeFirst();
  const { hash } = program;
  await addProgram(db, program, before?.program_hash);
  const changed = {
    digest,
    program_hash: hash,
    built_at: now,
    schemas_digest: digests.schemasDigest,
    libraries_digest: digests.librariesDigest,
  };
  const saved = await db.query
    .insertInto('builds')
    .columns(['plugin_id', 'digest', 'program_hash', 'built_at', 'schemas_digest', 'libraries_digest'])
    // Selects nothing where the plugin was deleted meanwhile.
    .expression(
      selectPlugin(db, plugin).select([
        'plugins.id',
        sql<string>`${changed.digest}`.as('digest'),
        sql<string>`${changed.program_hash}`.as('program_hash'),
        sql<number>`${changed.built_at}`.as('built_at'),
        sql<string>`${changed.schemas_digest}`.as('schemas_digest'),
        sql<string>`${changed.libraries_digest}`.as('libraries_digest'),
      ]),
    )
    .onConflict((conflict) => conflict.column('plugin_id').doUpdateSet(changed))
    .returning('plugin_id')
    .executeTakeFirst();
  if (!saved) await removeUnusedPrograms(db, new Set([hash]));
  if (before) await removeUnusedPrograms(db, new Set([before.program_hash]));
}
