import { sql } from 'kysely';
import type { PluginKey, TenantKey } from '../../plugins/plugin-key.ts';
import type { RolloutStop, SideCounts } from '../../plugins/rollout.ts';
import type { Db, Transaction } from '../db.ts';
import { pluginCacheKey, selectPlugin, selectPluginId, selectTenant } from './names.ts';
import type { WriteStamp } from './drafts.ts';
import { pinVersion } from './plugins.ts';
import { findLiveVersion, findVersion, versionName, versionPatch } from './versions.ts';

/** Why a rollout has ended: by `DELETE`, by making a version live, or by its failures. */
export type RolloutEnd = 'ended' | 'live-set' | 'failures';

/** The last rollout of a plugin. Times are milliseconds since the epoch. */
export interface RolloutRecord extends SideCounts {
  readonly version: string;
  readonly percent: number;
  readonly startedAt: number;
  readonly actor?: string;
  readonly stop?: RolloutStop;
  readonly live: SideCounts & { readonly version: string };
  readonly stopped?: { readonly at: number; readonly reason: RolloutEnd };
}

/** What a rollout is to be. */
export interface RolloutPlan {
  readonly version: string;
  readonly percent: number;
  readonly stop?: RolloutStop | undefined;
}

/** Runs of one side of a rollout, to be added to those that are counted. */
export interface RolloutCount extends SideCounts {
  readonly pluginId: number;
  /** That of the rollout. */
  readonly number: number;
  readonly isCandidate: boolean;
}

/** Finds the last rollout of a plugin; `undefined` where there never was one. */
export async function findRollout(db: Db, plugin: PluginKey): Promise<RolloutRecord | undefined> {
  const row = await selectPlugin(db, plugin)
    .innerJoin('rollouts', 'rollouts.plugin_id', 'plugins.id')
    .selectAll('rollouts')
    .select(['plugins.pinned_patch', 'plugins.pinned_at as plugin_pinned_at'])
    .executeTakeFirst();
  if (!row) return undefined;
  const counts = await db.query
    .selectFrom('rollout_counts')
    .select(['is_candidate', 'runs', 'failures'])
    .where('plugin_id', '=', row.plugin_id)
    .where('number', '=', row.number)
    .execute();
  const side = (isCandidate: 0 | 1) => {
    const found = counts.find((one) => one.is_candidate === isCandidate);
    return { runs: found?.runs ?? 0, failures: found?.failures ?? 0 };
  };
  // A release before may have moved the pin, which is the end without saying so.
  const hasMoved = row.pinned_patch !== row.live_patch || row.plugin_pinned_at !== row.pinned_at;
  const end: { at: number; reason: RolloutEnd } | undefined =
    row.ended_at !== null
      ? { at: row.ended_at, reason: (row.end_reason ?? 'ended') as RolloutEnd }
      : hasMoved
        ? { at: row.plugin_pinned_at ?? row.started_at, reason: 'live-set' }
        : undefined;
  return {
    version: versionName(row.patch),
    percent: row.percent,
    startedAt: row.started_at,
    ...(row.actor !== null && { actor: row.actor }),
    ...(row.stop !== null && { stop: JSON.parse(row.stop) as RolloutStop }),
    ...side(1),
    live: { version: versionName(row.live_patch), ...side(0) },
    ...(end && { stopped: end }),
  };
}

/** How {@link setRollout} ended; a text other than `started` and `changed` says why there is no such rollout. */
export type SetRollout = 'started' | 'changed' | 'version-missing' | 'nothing-live' | 'is-live' | 'another';

/**
 * Starts a rollout of a version, and pins what is live, or changes that of the same version. The transaction must have locked the
 * plugin and its tenant.
 */
export async function setRollout(
  db: Transaction,
  plugin: PluginKey,
  { version, percent, stop }: RolloutPlan,
  { now, actor }: WriteStamp,
): Promise<SetRollout> {
  const candidate = await findVersion(db, plugin, version);
  if (!candidate) return 'version-missing';
  const { pluginId } = candidate;
  const live = await findLiveVersion(db, plugin);
  if (!live) return 'nothing-live';
  const terms = { percent, stop: stop ? JSON.stringify({ runs: stop.runs, failures: stop.failures }) : null };
  if (live.rollout) {
    if (live.rollout.version.version !== version) return 'another';
    await db.query.updateTable('rollouts').set(terms).where('plugin_id', '=', pluginId).execute();
    db.changes.push({ kind: 'live-version', key: pluginCacheKey(plugin) });
    return 'changed';
  }
  if (live.version === version) return 'is-live';
  await start(db, plugin, { pluginId, candidate: version, live: live.version, terms, now, actor });
  return 'started';
}

interface Start extends WriteStamp {
  readonly pluginId: number;
  readonly candidate: string;
  readonly live: string;
  readonly terms: { readonly percent: number; readonly stop: string | null };
}

async function start(db: Transaction, plugin: PluginKey, started: Start): Promise<void> {
  const { pluginId, candidate, live, terms, now, actor } = started;
  const { query } = db;
  const pin = await selectPlugin(db, plugin).select('plugins.pinned_at').executeTakeFirstOrThrow();
  if (pin.pinned_at === null) await pinVersion(db, plugin, live, { now, actor });
  const columns = {
    patch: patchOf(candidate),
    live_patch: patchOf(live),
    pinned_at: pin.pinned_at ?? now,
    ...terms,
    started_at: now,
    actor: actor ?? null,
    ended_at: null,
    end_reason: null,
  };
  await query.deleteFrom('rollout_counts').where('plugin_id', '=', pluginId).execute();
  await query
    .insertInto('rollouts')
    .values({ plugin_id: pluginId, number: 1, ...columns })
    .onConflict((conflict) =>
      // Another number, so that runs of the former rollout that are counted late do not count for this one.
      conflict.column('plugin_id').doUpdateSet({ ...columns, number: sql`rollouts.number + 1` }),
    )
    .execute();
  db.changes.push({ kind: 'live-version', key: pluginCacheKey(plugin) });
}

function patchOf(version: string): number {
  const patch = versionPatch(version);
  if (patch === undefined) throw new Error(`${version} is not the name of a version`);
  return patch;
}

/**
 * Ends the rollout of a plugin; the pin stays. Resolves with the version that was rolled out, or `undefined` where no rollout is
 * running. The transaction must have locked the plugin.
 */
export async function endRollout(
  db: Transaction,
  plugin: PluginKey,
  reason: RolloutEnd | 'deleted',
  now: number,
): Promise<string | undefined> {
  const row = await db.query
    .updateTable('rollouts')
    .set({ ended_at: now, end_reason: reason })
    .where('plugin_id', '=', selectPluginId(db, plugin))
    .where('ended_at', 'is', null)
    .returning('patch')
    .executeTakeFirst();
  if (!row) return undefined;
  db.changes.push({ kind: 'live-version', key: pluginCacheKey(plugin) });
  return versionName(row.patch);
}

/**
 * Ends the rollouts of a tenant that is about to be deleted. Resolves with their plugins and the versions that were rolled out. The
 * transaction must have locked the tenant, so that none is started meanwhile.
 */
export async function endRolloutsOf(
  db: Transaction,
  tenant: TenantKey,
  now: number,
): Promise<{ readonly plugin: PluginKey; readonly version: string }[]> {
  const plugins = selectTenant(db, tenant)
    .innerJoin('plugins', 'plugins.tenant_id', 'tenants.id')
    .where('plugins.deleted_at', 'is', null);
  const ended = await db.query
    .updateTable('rollouts')
    .set({ ended_at: now, end_reason: 'deleted' })
    .where('plugin_id', 'in', plugins.select('plugins.id'))
    .where('ended_at', 'is', null)
    .returning(['plugin_id', 'patch'])
    .execute();
  if (!ended.length) return [];
  const versions = new Map(ended.map(({ plugin_id: id, patch }) => [id, versionName(patch)]));
  const names = await plugins
    .select(['plugins.id', 'plugins.namespace', 'plugins.name'])
    .orderBy('plugins.namespace')
    .orderBy('plugins.name')
    .execute();
  return names.flatMap(({ id, namespace, name }) => {
    const version = versions.get(id);
    return version === undefined ? [] : [{ plugin: { ...tenant, namespace, pluginName: name }, version }];
  });
}

/** Adds runs of rollouts that are still the last ones of their plugins, in one statement. Each side may occur once. */
export async function addRolloutCounts(db: Db, counts: readonly RolloutCount[]): Promise<void> {
  const rows = counts.map(({ pluginId, number, isCandidate, runs, failures }) => ({
    plugin_id: pluginId,
    number,
    is_candidate: isCandidate ? 1 : 0,
    runs,
    failures,
  }));
  const given = db.engine.jsonRows(JSON.stringify(rows), {
    plugin_id: 'integer',
    number: 'integer',
    is_candidate: 'integer',
    runs: 'integer',
    failures: 'integer',
  });
  await db.query
    .insertInto('rollout_counts')
    .columns(['plugin_id', 'number', 'is_candidate', 'runs', 'failures'])
    .expression(
      // Sorted, because two nodes that lock the same rows in different orders would deadlock.
      sql`select given.plugin_id, given.number, given.is_candidate, given.runs, given.failures
        from ${given} as given
        join rollouts on rollouts.plugin_id = given.plugin_id and rollouts.number = given.number
        where true order by given.plugin_id, given.is_candidate`,
    )
    .onConflict((conflict) =>
      conflict.columns(['plugin_id', 'number', 'is_candidate']).doUpdateSet({
        runs: sql`rollout_counts.runs + excluded.runs`,
        failures: sql`rollout_counts.failures + excluded.failures`,
      }),
    )
    .execute();
}

/** Lists those of the plugins that have a rollout that may end by itself. */
export async function listStoppable(
  db: Db,
  pluginIds: readonly number[],
): Promise<(PluginKey & { readonly pluginId: number })[]> {
  return db.query
    .selectFrom('rollouts')
    .innerJoin('plugins', 'plugins.id', 'rollouts.plugin_id')
    .innerJoin('tenants', 'tenants.id', 'plugins.tenant_id')
    .select([
      'plugins.id as pluginId',
      'tenants.environment',
      'tenants.name as tenant',
      'plugins.namespace',
      'plugins.name as pluginName',
    ])
    .where('rollouts.plugin_id', 'in', pluginIds)
    .where('rollouts.ended_at', 'is', null)
    .where('rollouts.stop', 'is not', null)
    .execute();
}
