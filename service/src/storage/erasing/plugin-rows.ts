import type { Transaction } from 'kysely';
import type { Engine } from '../engine.ts';
import type { Schema } from '../schema.ts';
import type { ProgramsInTransaction } from '../tables/programs.ts';
import { eraseRuns } from './run-rows.ts';

/** What a step of erasing a plugin works with. */
export interface PluginErasing {
  readonly db: Transaction<Schema>;
  readonly engine: Pick<Engine, 'lockRows'>;
  readonly programs: ProgramsInTransaction;
  readonly pluginId: number;
}

/**
 * Takes away some of what a deleted plugin had in one table, and says whether that was all. As others wait for the database
 * meanwhile, one call should take no more than some 20 ms.
 */
type ErasingStep = (erasing: PluginErasing) => Promise<boolean>;

/** Versions have up to a megabyte each, and programs several. */
const mostVersions = 10;

/**
 * Versions, and then the build, with the programs that nothing else refers to. In one step, because all programs have to be
 * locked in one go, in the order of their hashes: see `programs.ts`.
 */
const eraseVersionsAndBuild: ErasingStep = async ({ db, programs, pluginId }) => {
  const versions = await db
    .selectFrom('versions')
    .select(['patch', 'program_hash'])
    .where('plugin_id', '=', pluginId)
    .orderBy('patch')
    .limit(mostVersions)
    .execute();
  const areLast = versions.length < mostVersions;
  const build = areLast
    ? await db
        .selectFrom('builds')
        .select('program_hash')
        .where('plugin_id', '=', pluginId)
        .executeTakeFirst()
    : undefined;
  const hashes = new Set([...versions, ...(build ? [build] : [])].map((row) => row.program_hash));
  await programs.lockAll(hashes);
  const last = versions.at(-1);
  if (last) {
    await db
      .deleteFrom('versions')
      .where('plugin_id', '=', pluginId)
      .where('patch', '<=', last.patch)
      .execute();
  }
  if (build) await db.deleteFrom('builds').where('plugin_id', '=', pluginId).execute();
  for (const hash of hashes) await programs.removeUnused(hash);
  return areLast;
};

const eraseDraft: ErasingStep = async ({ db, pluginId }) => {
  await db.deleteFrom('drafts').where('plugin_id', '=', pluginId).execute();
  return true;
};

/** A record is short, but for those with payloads. */
const mostRuns = 500;

const eraseRunsOfPlugin: ErasingStep = ({ db, engine, pluginId }) =>
  eraseRuns(db, engine, [pluginId], mostRuns);

/**
 * All that hangs on a plugin, in the order in which it goes. A new table whose rows hang on a plugin has its step here, which
 * is all that deleting plugins and tenants needs to know of it.
 */
export const pluginSteps: readonly ErasingStep[] = [eraseRunsOfPlugin, eraseVersionsAndBuild, eraseDraft];
