import { sql } from 'kysely';
import type { PluginKey } from '../../plugins/plugin-key.ts';
import type { StoredProgram, StoredVersion } from '../../plugins/program.ts';
import { DeletedError } from '../errors.ts';
import { noDigests } from './digest.ts';
import type { NamespaceDigests } from './digest.ts';
import type { WriteStamp } from './drafts.ts';
import { pluginCacheKey, selectPluginId, selectPlugin } from './names.ts';
import type { RolloutShare } from '../../plugins/rollout.ts';
import type { Db, Transaction } from '../db.ts';
import { lockPrograms, removeUnusedPrograms, storedProgram } from './programs.ts';

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
  /** Those of the schemas and libraries of its build (default: none). */
  readonly digests?: NamespaceDigests | undefined;
  /** The message of the deploy. */
  readonly message?: string | undefined;
}

/** The program of the live version of a plugin. */
export interface LiveVersion extends StoredVersion {
  /** Whether the version is pinned, so that a deploy does not change which one is live. */
  readonly isPinned: boolean;
  /** The version that some of the runs get instead. */
  readonly rollout?: RolloutShare & { readonly version: StoredVersion };
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

/** Finds the program of a version; `undefined` when there is no such version. */
export async function findVersion(
  db: Db,
  plugin: PluginKey,
  version: string,
): Promise<StoredVersion | undefined> {
  const patch = versionPatch(version);
  if (patch === undefined) return undefined;
  const row = await db.query
    .selectFrom('versions')
    .select(['plugin_id', 'program_hash', 'schemas_digest'])
    .where('plugin_id', '=', selectPluginId(db, plugin))
    .where('patch', '=', patch)
    .executeTakeFirst();
  return row && toStored(db, { ...row, patch });
}

/**
 * Finds the program of the newest version, and the digest of what it was made of (see `digest.ts`); `undefined` when nothing was
 * deployed yet.
 */
export async function findNewestVersion(
  db: Db,
  plugin: PluginKey,
): Promise<(StoredVersion & { readonly digest: string }) | undefined> {
  const row = await selectNewest(db, plugin)
    .select(['plugin_id', 'patch', 'program_hash', 'digest', 'schemas_digest'])
    .executeTakeFirst();
  return row && { ...toStored(db, row), digest: row.digest };
}

/** Finds the program of the live version: the pinned one, else the newest; `undefined` when nothing was deployed yet. */
export async function findLiveVersion(db: Db, plugin: PluginKey): Promise<LiveVersion | undefined> {
  const row = await selectPlugin(db, plugin)
    .innerJoin('versions', 'versions.plugin_id', 'plugins.id')
    // A plugin that was created again has the number of the last version before its deletion, and no version of that number.
    .whereRef('versions.patch', '=', ({ fn }) => fn.coalesce('plugins.pinned_patch', 'plugins.last_patch'))
    .leftJoin('rollouts', (join) =>
      join
        .onRef('rollouts.plugin_id', '=', 'plugins.id')
        .on('rollouts.ended_at', 'is', null)
        .onRef('rollouts.live_patch', '=', 'plugins.pinned_patch')
        .onRef('rollouts.pinned_at', '=', 'plugins.pinned_at'),
    )
    .leftJoin('versions as candidate', (join) =>
      join
        .onRef('candidate.plugin_id', '=', 'rollouts.plugin_id')
        .onRef('candidate.patch', '=', 'rollouts.patch'),
    )
    .select([
      'versions.plugin_id',
      'versions.patch',
      'versions.program_hash',
      'versions.schemas_digest',
      'plugins.pinned_patch',
      'rollouts.number',
      'rollouts.percent',
      'candidate.patch as candidate_patch',
      'candidate.program_hash as candidate_hash',
      'candidate.schemas_digest as candidate_digest',
    ])
    .executeTakeFirst();
  if (!row) return undefined;
  const { number, percent, candidate_patch: patch, candidate_hash: hash, candidate_digest: digest } = row;
  const live = { ...toStored(db, row), isPinned: row.pinned_patch !== null };
  if (number === null || percent === null || patch === null || hash === null) return live;
  const columns = { plugin_id: row.plugin_id, patch, program_hash: hash, schemas_digest: digest ?? '' };
  return { ...live, rollout: { number, percent, version: toStored(db, columns) } };
}

/** Lists versions, the newest first, before the number `before`, without their sources. */
export async function listVersions(
  db: Db,
  plugin: PluginKey,
  { before, limit }: { readonly before?: number | undefined; readonly limit: number },
): Promise<VersionRecord[]> {
  const rows = await db.query
    .selectFrom('versions')
    .select(recordColumns)
    .where('plugin_id', '=', selectPluginId(db, plugin))
    .$if(before !== undefined, (query) => query.where('patch', '<', before ?? 0))
    .orderBy('patch', 'desc')
    .limit(limit)
    .execute();
  return rows.map(toRecord);
}

/** Finds a version with its source, as JSON, and its program; `undefined` when there is no such version. */
export async function findVersionRecord(
  db: Db,
  plugin: PluginKey,
  version: string,
): Promise<
  { readonly record: VersionRecord; readonly source: string; readonly program: StoredProgram } | undefined
> {
  const patch = versionPatch(version);
  if (patch === undefined) return undefined;
  const row = await db.query
    .selectFrom('versions')
    .select([...recordColumns, 'record', 'program_hash', 'schemas_digest'])
    .where('plugin_id', '=', selectPluginId(db, plugin))
    .where('patch', '=', patch)
    .executeTakeFirst();
  return (
    row && {
      record: toRecord(row),
      source: row.record,
      program: programOf(db, row),
    }
  );
}

function toStored(
  db: Db,
  row: ProgramColumns & { readonly plugin_id: number; readonly patch: number },
): StoredVersion {
  return { ...programOf(db, row), version: versionName(row.patch), pluginId: row.plugin_id };
}

function programOf(
  db: Db,
  { program_hash: hash, schemas_digest: schemasDigest }: ProgramColumns,
): StoredProgram {
  return storedProgram(db, hash, schemasDigest !== '');
}

function selectNewest(db: Db, plugin: PluginKey) {
  return db.query
    .selectFrom('versions')
    .where('plugin_id', '=', selectPluginId(db, plugin))
    .orderBy('patch', 'desc')
    .limit(1);
}

/**
 * Adds the current draft as the next version, `v1.0.0`, `v1.0.1` and so on, and returns its name. The transaction must have
 * locked the plugin, and its draft.
 * @throws DeletedError when its tenant was deleted meanwhile, which the lock of the plugin does not prevent
 */
export async function addVersion(
  db: Transaction,
  plugin: PluginKey,
  { program, digest, digests = noDigests, now, actor, message }: NewVersion,
): Promise<string> {
  const { id, last_patch: patch } = await db.query
    .updateTable('plugins')
    .set(({ eb }) => ({ last_patch: eb('last_patch', '+', 1) }))
    .where('id', '=', selectPluginId(db, plugin))
    .returning(['id', 'last_patch'])
    .executeTakeFirstOrThrow(() => new DeletedError());
  await db.query
    .insertInto('versions')
    .columns([
      'plugin_id',
      'patch',
      'record',
      'lang',
      'digest',
      'program_hash',
      'schemas_digest',
      'libraries_digest',
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
          sql<string>`${digests.schemasDigest}`.as('schemas_digest'),
          sql<string>`${digests.librariesDigest}`.as('libraries_digest'),
          sql<number>`${now}`.as('created_at'),
          sql<string | null>`${actor ?? null}`.as('actor'),
          sql<string | null>`${message ?? null}`.as('message'),
        ]),
    )
    .execute();
  db.changes.push({ kind: 'live-version', key: pluginCacheKey(plugin) });
  return versionName(patch);
}
/**
 * Deletes a version. Its number is not used again, because the newest one cannot be deleted. The transaction must have locked
 * the plugin.
 */
export async function deleteVersion(
  db: Transaction,
  plugin: PluginKey,
  version: string,
): Promise<'deleted' | 'in-use' | 'missing'> {
  const patch = versionPatch(version);
  if (patch === undefined) return 'missing';
  const row = await selectPlugin(db, plugin)
    .innerJoin('versions', 'versions.plugin_id', 'plugins.id')
    .leftJoin('rollouts', (join) =>
      join.onRef('rollouts.plugin_id', '=', 'plugins.id').on('rollouts.ended_at', 'is', null),
    )
    .where('versions.patch', '=', patch)
    .select([
      'plugins.id',
      'plugins.last_patch',
      'plugins.pinned_patch',
      'rollouts.patch as rollout_patch',
      'versions.program_hash',
    ])
    .executeTakeFirst();
  if (!row) return 'missing';
  if ([row.last_patch, row.pinned_patch, row.rollout_patch].includes(patch)) return 'in-use';
  const programs = new Set([row.program_hash]);
  await lockPrograms(db, programs);
  await db.query.deleteFrom('versions').where('plugin_id', '=', row.id).where('patch', '=', patch).execute();
  await removeUnusedPrograms(db, programs);
  db.changes.push({ kind: 'plugin', key: pluginCacheKey(plugin) });
  return 'deleted';
}
