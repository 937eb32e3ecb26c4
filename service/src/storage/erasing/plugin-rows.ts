import type { Transaction } from 'kysely';
import type { Engine } from '../engine.ts';
import type { Schema } from '../schema.ts';
import type { ProgramsInTransaction } from '../tables/programs.ts';
import { eraseRuns } from './run-rows.ts';

/** The parameters of a step of erasing plugins. */
export interface PluginErasing {
  readonly db: Transaction<Schema>;
  readonly engine: Pick<Engine, 'forUpdate'>;
  readonly programs: ProgramsInTransaction;
  /** The deleted plugins, at least one. */
  readonly pluginIds: readonly number[];
  /** How many rows of some kilobytes may be deleted from a table in one transaction. Of smaller rows, many more may be. */
  readonly limit: number;
}

/** Deletes up to `limit` rows of deleted plugins from one table. Resolves with whether those were all. */
type ErasingStep = (erasing: PluginErasing) => Promise<boolean>;

/**
 * Deletes versions, then builds, and the programs that nothing else refers to. In one step, because all programs have to be locked
 * at once; see `programs.ts`.
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

/** How many records of runs are deleted at once, whatever the limit. */
const maxRuns = 2000;

/** Deletes many more records of runs at once than versions: most have a few hundred bytes, where a source has thousands. */
const eraseRunsOfPlugins: ErasingStep = ({ db, engine, pluginIds, limit }) =>
  eraseRuns(db, engine, pluginIds, Math.min(50 * limit, maxRuns));

/**
 * The steps of erasing plugins, in their order. A new table whose rows refer to plugins needs a step here, and nothing else for
 * the deletion of plugins and tenants.
 */
export const pluginSteps: readonly ErasingStep[] = [eraseRunsOfPlugins, eraseVersionsAndBuilds, eraseDrafts];
