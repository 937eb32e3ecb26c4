import { type Operation, pathOf, queryOf } from '../core/client/operation.ts';
import type { PageOptions } from '../core/client/list-options.ts';
import type { NamespaceDetails, TenantDetails, TokenDetails, UsageOptions } from './environment-details.ts';
import {
  type CreatedSession,
  type CreatedToken,
  type EnvironmentTokens,
  type Namespace,
  type NamespacePage,
  type Tenant,
  type TenantPage,
  type UsagePage,
  createdSessionSchema,
  createdTokenSchema,
  environmentTokensSchema,
  namespacePageSchema,
  namespaceSchema,
  tenantPageSchema,
  tenantSchema,
  usagePageSchema,
} from './environment-records.ts';
import { checkActor, checkKeys } from './permissions.ts';

// The operations that take an environment token alone. Each function describes a request, and sends nothing.

const tenantPath = (identifier: string, ...more: string[]) => pathOf('v1/tenant', { identifier }, ...more);
const environmentPath = (environment: string, ...more: string[]) =>
  pathOf('v1/environment', { environment }, ...more);
const namespacePath = (environment: string, namespace: string) =>
  pathOf('v1/environment', { environment }, 'namespaces', { namespace });

export const listTenants = (environment: string, options: PageOptions): Operation<TenantPage> => ({
  path: environmentPath(environment) + queryOf(options),
  schema: tenantPageSchema,
});

export const getTenant = (identifier: string): Operation<Tenant> => ({
  path: tenantPath(identifier),
  schema: tenantSchema,
});

export const createTenant = (identifier: string, json: TenantDetails): Operation<Tenant> => ({
  method: 'POST',
  path: tenantPath(identifier),
  json,
  schema: tenantSchema,
});

/** @throws TypeError for a field that is `undefined`: JSON leaves it out, so that it would silently change nothing. */
export function updateTenant(identifier: string, json: TenantDetails): Operation<Tenant> {
  for (const [name, value] of [...Object.entries(json), ...Object.entries(json.limits ?? {})]) {
    if (value === undefined) throw new TypeError(`${name} must have a value, or be left out`);
  }
  return { method: 'PATCH', path: tenantPath(identifier), json, schema: tenantSchema };
}

export const deleteTenant = (identifier: string): Operation => ({
  method: 'DELETE',
  path: tenantPath(identifier),
});

export const createSession = (identifier: string, json: object): Operation<CreatedSession> => ({
  method: 'POST',
  path: tenantPath(identifier, 'session'),
  json,
  schema: createdSessionSchema,
});

/**
 * @throws TypeError for an `actor` that is `undefined` or of no use, and for another key: without an actor, the sessions of all
 * would end.
 */
export function endSessions(identifier: string, options: { actor?: string }): Operation {
  checkKeys(options, ['actor']);
  const actor = Object.hasOwn(options, 'actor') ? checkActor(options.actor) : undefined;
  return { method: 'DELETE', path: tenantPath(identifier, 'sessions') + queryOf({ actor }) };
}

/** @param plugin three segments: ident, namespace and name */
export const deletePlugin = (plugin: Readonly<Record<string, string>>): Operation => ({
  method: 'DELETE',
  path: pathOf('v1/plugin', plugin),
});

export const getUsage = (environment: string, options: UsageOptions): Operation<UsagePage> => ({
  path: environmentPath(environment, 'usage') + queryOf(options),
  schema: usagePageSchema,
});

export const listTokens = (environment: string, options: PageOptions): Operation<EnvironmentTokens> => ({
  path: environmentPath(environment, 'tokens') + queryOf(options),
  schema: environmentTokensSchema,
});

export const createToken = (environment: string, json: TokenDetails): Operation<CreatedToken> => ({
  method: 'POST',
  path: environmentPath(environment, 'tokens'),
  json,
  schema: createdTokenSchema,
});

export const deleteToken = (environment: string, id: string): Operation => ({
  method: 'DELETE',
  path: pathOf('v1/environment', { environment }, 'tokens', { id }),
});

export const listNamespaces = (environment: string, options: PageOptions): Operation<NamespacePage> => ({
  path: environmentPath(environment, 'namespaces') + queryOf(options),
  schema: namespacePageSchema,
});

export const getNamespace = (environment: string, namespace: string): Operation<Namespace> => ({
  path: namespacePath(environment, namespace),
  schema: namespaceSchema,
});

export const setNamespace = (
  environment: string,
  namespace: string,
  json: NamespaceDetails,
): Operation<Namespace> => ({
  method: 'PUT',
  path: namespacePath(environment, namespace),
  json,
  schema: namespaceSchema,
});

export const deleteNamespace = (environment: string, namespace: string): Operation => ({
  method: 'DELETE',
  path: namespacePath(environment, namespace),
});
