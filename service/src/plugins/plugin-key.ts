/** What names one plugin. */
export interface PluginKey {
  readonly environment: string;
  readonly tenant: string;
  readonly namespace: string;
  readonly pluginName: string;
}

/**
 * Splits `{environment}.{tenant}` at its last period: an environment may hold periods, a tenant none.
 * `undefined` when either side would be empty.
 */
export function splitIdentifier(identifier: string): { environment: string; tenant: string } | undefined {
  const period = identifier.lastIndexOf('.');
  if (period < 1 || period === identifier.length - 1) return undefined;
  return { environment: identifier.slice(0, period), tenant: identifier.slice(period + 1) };
}

export const samePlugin = (a: PluginKey, b: PluginKey): boolean =>
  a.environment === b.environment &&
  a.tenant === b.tenant &&
  a.namespace === b.namespace &&
  a.pluginName === b.pluginName;
