import type { PluginKey, TenantKey } from '../../plugins/plugin-key.ts';
import type { Db } from '../db.ts';

/*
 * Finds tenants and plugins by their names. Other rows refer to them by number, because a deleted tenant or plugin may be created
 * again under its name while the rows of the deleted one are still being erased.
 */

/** Selects the row of a tenant that was not deleted, as `tenants`. */
export const selectTenant = ({ query }: Db, { environment, tenant }: TenantKey) =>
  query
    .selectFrom('tenants')
    .where('tenants.environment', '=', environment)
    .where('tenants.name', '=', tenant)
    .where('tenants.deleted_at', 'is', null);

/** Selects the row of a plugin that was not deleted, nor its tenant, as `plugins`. */
export const selectPlugin = (db: Db, plugin: PluginKey) =>
  selectTenant(db, plugin)
    .innerJoin('plugins', 'plugins.tenant_id', 'tenants.id')
    .where('plugins.namespace', '=', plugin.namespace)
    .where('plugins.name', '=', plugin.pluginName)
    .where('plugins.deleted_at', 'is', null);

/** Selects the id of a plugin, to be compared with a column `plugin_id`. For a missing plugin it is null, which equals none. */
export const selectPluginId = (db: Db, plugin: PluginKey) => selectPlugin(db, plugin).select('plugins.id');

/** A tenant's key as one text, for caches and locks. */
export const tenantCacheKey = ({ environment, tenant }: TenantKey): string =>
  JSON.stringify([environment, tenant]);

/** A namespace's key as one text, for caches and locks. */
export const namespaceCacheKey = ({
  environment,
  namespace,
}: Pick<PluginKey, 'environment' | 'namespace'>): string => JSON.stringify([environment, namespace]);

/** A plugin's key as one text, for caches and locks. */
export const pluginCacheKey = ({ environment, tenant, namespace, pluginName }: PluginKey): string =>
  JSON.stringify([environment, tenant, namespace, pluginName]);

/** The common beginning of the {@link pluginCacheKey}s of all plugins of a tenant, by its {@link tenantCacheKey}. */
export const pluginKeysOfTenant = (tenantKey: string): string => `${tenantKey.slice(0, -1)},`;
