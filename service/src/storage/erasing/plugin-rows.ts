import type { Transaction } from 'kysely';
import type { Engine } from '../engine.ts';
import type { Schema } from '../schema.ts';
import type { ProgramsInTransaction } from '../tables/programs.ts';
import { eraseRuns } from './run-rows.ts';

/** What a step of erasing plugins works with. */
export interface PluginErasing {
  readonly db: Transaction<Schema>;
  readonly engine: Pick<Engine, 'lockRows'>;
  readonly programs: ProgramsInTransaction;
  /** The deleted plugins, at least one. */
  readonly pluginIds: readonly number[];
  /** How many rows may go in one transaction, if each has some kilobytes; of smaller ones it may be a multiple. */
  readonly limit: number;
}

/**
 * Takes away what deleted plugins had in one table, up to `limit` rows, and says whether that was all. Others wait for the
 * database meanwhile, and how long they do decides on the next `limit`.
 */
type ErasingStep = (erasing: PluginErasing) => Promise<boolean>;

/**
 * Versions, and then builds, with the programs that nothing else refers to. In one step, because all programs have to be
 * locked in one go, in the order of their hashes: see `programs.ts`.
 */
const eraseVersionsAndBuilds: ErasingStep = async ({ db, programs, pluginIds, limit }) => {
  const versions = await db
    .selectFrom('versions')
    .select(['plugin_id', 'patch', 'program_hash'])
    .where('plugin_id', 'in', pluginIds)
    .orderBy('plugin_id')
    .orderBy('patch')
    .limit(limit)
    .execute();
  const areAll = versions.length < limit;
  const builds = areAll
    ? await db.selectFrom('builds').select('program_hash').where('plugin_id', 'in', pluginIds).execute()
    : [];
  const hashes = new Set([...versions, ...builds].map((row) => row.program_hash));
  await programs.lockAll(hashes);
  const last = versions.at(-1);
  if (last) {
    await db
      .deleteFrom('versions')
      .where('plugin_id', 'in', pluginIds)
      .where((eb) =>
        eb.or([
          eb('plugin_id', '<', last.plugin_id),
          eb.and([eb('plugin_id', '=', last.plugin_id), eb('patch', '<=', last.patch)]),
        ]),
      )
      .execute();
  }
  if (builds.length) await db.deleteFrom('builds').where('plugin_id', 'in', pluginIds).execute();
  await programs.removeUnused(hashes);
  return areAll;
};

const eraseDrafts: ErasingStep = async ({ db, pluginIds }) => {
  await db.deleteFrom('drafts').where('plugin_id', 'in', pluginIds).execute();
  return true;
};

/** How many records go at once, whatever the limit. */
const maxRuns = 2000;

/** Most records have a few hundred bytes, where a source has thousands. */
const eraseRunsOfPlugins: ErasingStep = ({ db, engine, pluginIds, limit }) =>
  eraseRuns(db, engine, pluginIds, Math.min(50 * limit, maxRuns));

/**
 * All that hangs on plugins, in the order in which it goes. A new table whose rows hang on a plugin has its step here, which is
 * all that deleting plugins and tenants needs to know of it.
 */
export const pluginSteps: readonly ErasingStep[] = [eraseRunsOfPlugins, eraseVersionsAndBuilds, eraseDrafts];
