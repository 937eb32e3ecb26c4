import type { PluginKey } from '../../plugins/plugin-key.ts';
import type { WriteStamp } from './drafts.ts';
import { pluginCacheKey, selectPluginId, selectTenant } from './names.ts';
import { versionPatch } from './versions.ts';
import type { Db, Transaction } from '../db.ts';

export async function pluginExists(db: Db, plugin: PluginKey): Promise<boolean> {
  return (await selectPluginId(db, plugin).executeTakeFirst()) !== undefined;
}

/**
 * Creates a plugin and returns its id; `undefined` when its tenant no longer exists. Where a plugin of this name was deleted
 * before, the versions are numbered on from its last one. The transaction must have locked the tenant.
 */
export async function createPlugin(
  db: Transaction,
  plugin: PluginKey,
  now: number,
): Promise<number | undefined> {
  const tenant = await selectTenant(db, plugin).select('tenants.id').executeTakeFirst();
  if (!tenant) return undefined;
  const names = { namespace: plugin.namespace, name: plugin.pluginName };
  const { last } = await db.query
    .selectFrom('plugins')
    .select(({ fn }) => fn.max('last_patch').as('last'))
    .where('tenant_id', '=', tenant.id)
    .where((where) => where.and(names))
    .executeTakeFirstOrThrow();
  const { id } = await db.query
    .insertInto('plugins')
    // A new name has no last version.
    .values({ tenant_id: tenant.id, ...names, created_at: now, last_patch: (last as number | null) ?? -1 })
    .returning('id')
    .executeTakeFirstOrThrow();
  // Rows of erased plugins were only kept for the number of the last version, which is in the new row now.
  await db.query
    .deleteFrom('plugins')
    .where('tenant_id', '=', tenant.id)
    .where((where) => where.and(names))
    .where('erased_at', 'is not', null)
    .execute();
  return id;
}

/**
 * Pins a version, so that it is live instead of the newest; `undefined` removes the pin. Resolves with false when there is no
 * such version. The transaction must have locked the plugin.
 */
export async function pinVersion(
  db: Transaction,
  plugin: PluginKey,
  version: string | undefined,
  { now, actor }: WriteStamp,
): Promise<boolean> {
  const patch = version === undefined ? undefined : versionPatch(version);
  if (version !== undefined && patch === undefined) return false;
  const columns =
    patch === undefined
      ? { pinned_patch: null, pinned_at: null, pinned_by: null }
      : { pinned_patch: patch, pinned_at: now, pinned_by: actor ?? null };
  const row = await db.query
    .updateTable('plugins')
    .set(columns)
    .where('id', '=', selectPluginId(db, plugin))
    .$if(patch !== undefined, (query) =>
      query.where((where) =>
        where.exists(
          where
            .selectFrom('versions')
            .select('versions.patch')
            .whereRef('versions.plugin_id', '=', 'plugins.id')
            .where('versions.patch', '=', patch ?? -1),
        ),
      ),
    )
    .returning('id')
    .executeTakeFirst();
  if (!row) return false;
  db.changes.push({ kind: 'live-version', key: pluginCacheKey(plugin) });
  return true;
}

/**
 * Deletes a plugin, and the tokens that are only for it. From the commit on its rows cannot be found, and the eraser deletes
 * them. Resolves with false when there is no such plugin. The transaction must have locked the plugin, so that no version is
 * added.
 */
export async function deletePlugin(db: Transaction, plugin: PluginKey, now: number): Promise<boolean> {
  const row = await db.query
    .updateTable('plugins')
    .set({ deleted_at: now })
    .where('id', '=', selectPluginId(db, plugin))
    .returning('tenant_id')
    .executeTakeFirst();
  if (!row) return false;
  await db.query
    .deleteFrom('editor_tokens')
    .where('tenant_id', '=', row.tenant_id)
    .where('namespace', '=', plugin.namespace)
    .where('plugin_name', '=', plugin.pluginName)
    .execute();
  db.changes.push({ kind: 'plugin', key: pluginCacheKey(plugin) });
  return true;
}
