import type { PluginKey, PluginScope } from '../../plugins/plugin-key.ts';
import type { Db } from '../db.ts';
import { draftEtag } from './drafts.ts';
import type { NamespaceDigests } from './digest.ts';
import { selectPlugin, selectTenant } from './names.ts';
import { versionName } from './versions.ts';

/** A plugin without its source. Times are in milliseconds since the epoch. */
export interface PluginRecord {
  readonly namespace: string;
  readonly name: string;
  /** The language of its draft. */
  readonly lang: string;
  readonly draft: { readonly etag: string; readonly savedAt: number; readonly actor?: string };
  /** Whether the current draft has a successful build with the current schemas and libraries of its namespace. */
  readonly isBuilt: boolean;
  /** The newest version; `undefined` before the first deploy. */
  readonly latest: string | undefined;
  /** The version that is live instead of the newest. */
  readonly pinned: { readonly version: string; readonly at: number; readonly actor?: string } | undefined;
  /** How many versions there are. */
  readonly versions: number;
  /** The version that the next deploy makes, unless nothing has changed. */
  readonly nextVersion: string;
  /** The digest that a version of the draft would have in a namespace without a record, and that of the newest version. */
  readonly digest: string;
  readonly latestDigest: string | undefined;
  /** Those of the current schemas and libraries of its namespace. */
  readonly digests: NamespaceDigests;
  /** Whether the live version was built with other schemas or libraries than the current ones of its namespace. */
  readonly isOutdated: boolean;
}

/** Which plugins to list: those after a name, in the byte order of namespace and name. */
export interface PluginPage {
  readonly after?: readonly [namespace: string, name: string] | undefined;
  readonly limit: number;
}

/** Finds the record of a plugin; `undefined` when it does not exist. */
export async function findPluginRecord(db: Db, plugin: PluginKey): Promise<PluginRecord | undefined> {
  const row = await selectRecords(selectPlugin(db, plugin)).executeTakeFirst();
  return row && toRecord(row);
}

/** Lists the records of the plugins of a scope. */
export async function listPluginRecords(
  db: Db,
  scope: PluginScope,
  { after, limit }: PluginPage,
): Promise<PluginRecord[]> {
  const { namespace, pluginName } = scope;
  const rows = await selectRecords(
    selectTenant(db, scope)
      .innerJoin('plugins', 'plugins.tenant_id', 'tenants.id')
      // Lets PostgreSQL read the index by name in its order. By the join alone it would read and sort all plugins of the tenant.
      .where('plugins.tenant_id', '=', selectTenant(db, scope).select('tenants.id'))
      .where('plugins.deleted_at', 'is', null)
      .$if(namespace !== undefined, (query) => query.where('plugins.namespace', '=', namespace ?? ''))
      .$if(pluginName !== undefined, (query) => query.where('plugins.name', '=', pluginName ?? ''))
      .$if(after !== undefined, (query) =>
        // As one comparison of tuples, for which the index by name can be used.
        query.where((eb) =>
          eb(eb.refTuple('plugins.namespace', 'plugins.name'), '>', eb.tuple(...(after ?? ['', '']))),
        ),
      ),
  )
    .orderBy('plugins.namespace')
    .orderBy('plugins.name')
    .limit(limit)
    .execute();
  return rows.map(toRecord);
}

/** Selects the columns of records. Every plugin has a draft, because saving the first one creates it. */
const selectRecords = (plugins: ReturnType<typeof selectPlugin>) =>
  plugins
    .innerJoin('drafts', 'drafts.plugin_id', 'plugins.id')
    .leftJoin('namespaces', (join) =>
      join
        .onRef('namespaces.environment', '=', 'tenants.environment')
        .onRef('namespaces.name', '=', 'plugins.namespace'),
    )
    .leftJoin('builds', (join) =>
      join
        .onRef('builds.plugin_id', '=', 'plugins.id')
        .onRef('builds.digest', '=', 'drafts.build_digest')
        .on((eb) => eb('builds.schemas_digest', '=', eb.fn.coalesce('namespaces.schemas_digest', eb.val(''))))
        .on((eb) =>
          eb('builds.libraries_digest', '=', eb.fn.coalesce('namespaces.libraries_digest', eb.val(''))),
        ),
    )
    // The live version, found as in `versions.ts`.
    .leftJoin('versions', (join) =>
      join
        .onRef('versions.plugin_id', '=', 'plugins.id')
        .on((eb) => eb('versions.patch', '=', eb.fn.coalesce('plugins.pinned_patch', 'plugins.last_patch'))),
    )
    .select([
      'plugins.namespace',
      'plugins.name',
      'plugins.last_patch',
      'plugins.pinned_patch',
      'plugins.pinned_at',
      'plugins.pinned_by',
      'drafts.lang',
      'drafts.revision',
      'drafts.tag',
      'drafts.source_digest',
      'drafts.updated_at',
      'drafts.actor',
      'builds.built_at',
      'namespaces.schemas_digest as namespace_digest',
      'namespaces.libraries_digest as namespace_libraries',
      'versions.schemas_digest as live_digest',
      'versions.libraries_digest as live_libraries',
    ])
    .select((eb) =>
      eb
        .selectFrom('versions as all_versions')
        .whereRef('all_versions.plugin_id', '=', 'plugins.id')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .as('version_count'),
    )
    .select((eb) =>
      eb
        .selectFrom('versions as latest')
        .whereRef('latest.plugin_id', '=', 'plugins.id')
        .whereRef('latest.patch', '=', 'plugins.last_patch')
        .select('latest.digest')
        .as('latest_digest'),
    );

type RecordRow = Awaited<ReturnType<ReturnType<typeof selectRecords>['execute']>>[number];

function toRecord(row: RecordRow): PluginRecord {
  const versions = row.version_count ?? 0;
  const digests = {
    schemasDigest: row.namespace_digest ?? '',
    librariesDigest: row.namespace_libraries ?? '',
  };
  return {
    namespace: row.namespace,
    name: row.name,
    lang: row.lang,
    draft: {
      etag: draftEtag(row),
      savedAt: row.updated_at,
      ...(row.actor !== null && { actor: row.actor }),
    },
    isBuilt: row.built_at !== null,
    latest: versions === 0 ? undefined : versionName(row.last_patch),
    pinned:
      row.pinned_patch === null
        ? undefined
        : {
            version: versionName(row.pinned_patch),
            at: row.pinned_at ?? 0,
            ...(row.pinned_by !== null && { actor: row.pinned_by }),
          },
    versions,
    nextVersion: versionName(row.last_patch + 1),
    digest: row.source_digest,
    latestDigest: row.latest_digest ?? undefined,
    digests,
    isOutdated:
      row.live_digest !== null &&
      (row.live_digest !== digests.schemasDigest || row.live_libraries !== digests.librariesDigest),
  };
}
