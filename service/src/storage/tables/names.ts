import type { Kysely } from 'kysely';
import type { PluginKey, TenantKey } from '../../plugins/plugin-key.ts';
import type { Schema } from '../schema.ts';

/*
 * Tenants and plugins by their names. Rows hang on numbers, as what was deleted may be made anew under its name while what
 * it had is still being erased.
 */

/** Selects the row of a tenant that was not deleted, as `tenants`. */
export const selectTenant = (db: Kysely<Schema>, { environment, tenant }: TenantKey) =>
  db
    .selectFrom('tenants')
    .where('tenants.environment', '=', environment)
    .where('tenants.name', '=', tenant)
    .where('tenants.deleted_at', 'is', null);

/** Selects the row of a plugin that was not deleted, nor its tenant, as `plugins`. */
export const selectPlugin = (db: Kysely<Schema>, plugin: PluginKey) =>
  selectTenant(db, plugin)
    .innerJoin('plugins', 'plugins.tenant_id', 'tenants.id')
    .where('plugins.namespace', '=', plugin.namespace)
    .where('plugins.name', '=', plugin.pluginName)
    .where('plugins.deleted_at', 'is', null);

/** The number of a plugin, to be compared with a column `plugin_id`; of one that is not there it is null, and equal to none. */
export const pluginId = (db: Kysely<Schema>, plugin: PluginKey) =>
  selectPlugin(db, plugin).select('plugins.id');

/** A tenant's key as one text, for caches and locks. */
export const tenantCacheKey = ({ environment, tenant }: TenantKey): string =>
  JSON.stringify([environment, tenant]);

/** A plugin's key as one text, for caches and locks. */
export const pluginCacheKey = ({ environment, tenant, namespace, pluginName }: PluginKey): string =>
  JSON.stringify([environment, tenant, namespace, pluginName]);

/** The lock of a plugin; see `lockPlugin` of the transaction's tables. */
export const pluginLock = (plugin: PluginKey): string => `plugin ${pluginCacheKey(plugin)}`;

/** What the {@link pluginCacheKey} of all plugins of a tenant begin with, by its {@link tenantCacheKey}. */
export const pluginKeysOfTenant = (tenantKey: string): string => `${tenantKey.slice(0, -1)},`;
