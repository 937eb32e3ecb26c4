/** The names that identify a tenant. */
export interface TenantKey {
  readonly environment: string;
  readonly tenant: string;
}

/** The names that identify a plugin. */
export interface PluginKey extends TenantKey {
  readonly namespace: string;
  readonly pluginName: string;
}

/** The plugins that a token is for: one plugin; without `pluginName` all of a namespace; without both all of a tenant. */
export interface PluginScope extends TenantKey {
  readonly namespace?: string;
  readonly pluginName?: string;
}

/**
 * Splits `{environment}.{tenant}` at its last period: an environment may hold periods, a tenant none.
 * `undefined` when either side would be empty.
 */
export function splitIdentifier(identifier: string): TenantKey | undefined {
  const period = identifier.lastIndexOf('.');
  if (period < 1 || period === identifier.length - 1) return undefined;
  return { environment: identifier.slice(0, period), tenant: identifier.slice(period + 1) };
}

/** Joins the names of a tenant to `{environment}.{tenant}`. */
export const joinIdentifier = ({ environment, tenant }: TenantKey): string => `${environment}.${tenant}`;

/**
 * Whether a plugin, or what a path names of one, agrees with a scope in every part that both of them name. The path of a list
 * names fewer parts than a token does, and a token for a whole namespace names no plugin.
 */
export const isInScope = (target: Partial<PluginKey>, scope: PluginScope): boolean =>
  (['environment', 'tenant', 'namespace', 'pluginName'] as const).every(
    (key) => target[key] === undefined || scope[key] === undefined || target[key] === scope[key],
  );
