import type { PluginKey } from '../../plugins/plugin-key.ts';

/** A plugin's key as the columns of a row. */
export const pluginColumns = ({ environment, tenant, namespace, pluginName }: PluginKey) => ({
  environment,
  tenant,
  namespace,
  plugin: pluginName,
});

/** A plugin's key as one text, for caches and locks. */
export const pluginCacheKey = ({ environment, tenant, namespace, pluginName }: PluginKey): string =>
  JSON.stringify([environment, tenant, namespace, pluginName]);
