import { type Operation, type Segments, pathOf, queryOf } from '../core/client/operation.ts';
import type { PageOptions, PluginListOptions } from '../core/client/pages.ts';
import { type CallOptions, PluginClient } from '../core/client/plugin-client.ts';
import { type PluginPage, pluginPageSchema } from '../core/client/records.ts';
import { DEFAULT_NAMESPACE } from '../core/editor-url.ts';
import type { SendOptions } from '../core/request.ts';
import { httpUrl } from '../core/url.ts';
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
import {
  type EnvironmentToken,
  checkEnvironmentToken,
  checkNotSecret,
  sendWithEnvironmentToken,
} from './environment-token.ts';
import { checkActor, checkGranted, checkKeys } from './permissions.ts';
import { type SessionRequest, readSessionRequest } from './session-request.ts';

export interface EnvironmentClientOptions extends SendOptions {
  /** Base address of the builder interface, http or https; a path in it is kept. */
  builderUrl: string;
  /** Environment token, or a function that gives one for each call (rotation). */
  environmentToken: EnvironmentToken;
  /**
   * How often to try again after a lost connection or a transient status (408, 429, 500, 502, 503, 504); 0 for never. By
   * default 2 for what reads, and 0 for what changes anything. Once set, it holds for changes too, other than those by
   * `POST`, which are never tried again: creating a tenant, a session or a token.
   */
  retry?: number | undefined;
}

/** What you can set for a tenant. */
export interface TenantDetails {
  description?: string;
  /** `true`: no tokens are given or taken, and nothing new runs. */
  suspended?: boolean;
  /** Limits for this customer, which override those in the service's settings; `null` to return to these. */
  limits?: { plugins?: number | null; runsPerMinute?: number | null };
}

/** Which days are listed, as `YYYY-MM-DD` (UTC), both included; by default the last 30. */
export interface UsageOptions extends PageOptions {
  from?: string | undefined;
  to?: string | undefined;
  /** Those of this tenant alone: the part of the ident after its last period. */
  tenant?: string | undefined;
}

/** For a new environment token. */
export interface TokenDetails {
  /** Who it is for; by default the holder of the token that this is requested with. */
  holder?: string;
  /** How long the holder's other tokens stay valid, in seconds: 3600 by default, at most 86400. */
  overlap?: number;
}

/**
 * The types of the input and output of a namespace's plugins. `input` and `output` are JSON Schemas (2020-12); a missing one is
 * any JSON.
 */
export interface NamespaceDetails {
  description?: string;
  input?: unknown;
  output?: unknown;
  samples?: readonly { name: string; description?: string; input: unknown; output?: unknown }[];
  /** Source for new plugins, by language. */
  templates?: Readonly<Record<string, string>>;
}

/** Your environment. */
export interface EnvironmentLocation {
  /** Its name, such as `com.acme`. */
  environment: string;
}

/** A customer of yours. */
export interface IdentifierLocation {
  /** Environment, a period, tenant: `joinIdent` makes it, and refuses a tenant with a period. */
  identifier: string;
}

/** A customer's plugin. */
export interface PluginLocation extends IdentifierLocation {
  /** Default: `default`. */
  namespace?: string | undefined;
  /** Plugin name. */
  pluginName: string;
}

/** A namespace of your environment. */
export interface NamespaceLocation extends EnvironmentLocation {
  namespace: string;
}

/**
 * A client of the environment interface: a vendor's customers, their plugins, what is live and what ran. For servers only,
 * because it needs the environment token. Before any request, every method rejects with a `TypeError` for arguments that
 * cannot be sent. After that, it rejects with `HttpError` (also for a redirect, which is not followed), `TimeoutError`,
 * `NetworkError` or `SchemaError`; and with the signal's reason when aborted. None of these errors holds the environment
 * token. Lists come in pages; `eachPage` iterates over all of them. Records keep the fields that are not named here.
 */
export class EnvironmentClient extends PluginClient<PluginLocation> {
  #base: URL;
  #options: EnvironmentClientOptions;

  /** @throws TypeError when `builderUrl` is not an http or https address, or `environmentToken` cannot be sent. */
  constructor(options: EnvironmentClientOptions) {
    super(segmentsOf, (operation, callOptions) => this.#send(operation, callOptions));
    this.#base = httpUrl('builderUrl', options.builderUrl);
    checkEnvironmentToken(options.environmentToken);
    this.#options = options;
  }

  /** Lists your customers by name, and resolves with one page of them. */
  async listTenants(
    { environment }: EnvironmentLocation,
    { signal, ...page }: PageOptions & CallOptions = {},
  ): Promise<TenantPage> {
    const path = environmentPath(environment) + queryOf(page);
    return this.#send({ path, schema: tenantPageSchema }, { signal });
  }

  /** Gets a customer: whether it is suspended, and how many plugins it has. */
  async getTenant({ identifier }: IdentifierLocation, options?: CallOptions): Promise<Tenant> {
    return this.#send({ path: tenantPath(identifier), schema: tenantSchema }, options);
  }

  /**
   * Creates a tenant. One that was deleted is created anew, without plugins. For one that exists, rejects with an `HttpError`
   * of status 409.
   */
  async createTenant(
    { identifier }: IdentifierLocation,
    details: TenantDetails = {},
    options?: CallOptions,
  ): Promise<Tenant> {
    return this.#send(
      { method: 'POST', path: tenantPath(identifier), json: details, schema: tenantSchema },
      options,
    );
  }

  /** Changes the fields that are given, such as `{ suspended: true }`, and no others. */
  async updateTenant(
    { identifier }: IdentifierLocation,
    changes: TenantDetails,
    options?: CallOptions,
  ): Promise<Tenant> {
    // JSON leaves out a field that is `undefined`, so that it would silently change nothing.
    for (const [name, value] of [...Object.entries(changes), ...Object.entries(changes.limits ?? {})]) {
      if (value === undefined) throw new TypeError(`${name} must have a value, or be left out`);
    }
    return this.#send(
      { method: 'PATCH', path: tenantPath(identifier), json: changes, schema: tenantSchema },
      options,
    );
  }

  /** Deletes a tenant with its plugins, versions and runs. Its usage stays. */
  async deleteTenant({ identifier }: IdentifierLocation, options?: CallOptions): Promise<void> {
    await this.#send({ method: 'DELETE', path: tenantPath(identifier) }, options);
  }

  /**
   * Creates an editor token for one plugin, for those of a namespace, or for all of a tenant, as `scope` says. Without
   * `permissions` it allows to read, write and deploy. Rejects with a `SchemaError` if the record does not have the
   * permissions and the actor that were asked for.
   */
  async createSession(
    { identifier }: IdentifierLocation,
    session: SessionRequest,
    options?: CallOptions,
  ): Promise<CreatedSession> {
    const { body, grant } = readSessionRequest(session);
    const path = tenantPath(identifier, 'session');
    return this.#send(
      { method: 'POST', path, json: body, schema: createdSessionSchema },
      options,
      (record, token) => {
        checkNotSecret(record.token, token, 'createSession');
        checkGranted(grant, record, 'createSession');
      },
    );
  }

  /** Ends a tenant's editor tokens, or those of one actor, which are refused from then on. */
  async endSessions(
    { identifier }: IdentifierLocation,
    { signal, ...who }: { actor?: string } & CallOptions = {},
  ): Promise<void> {
    // Without an actor, the sessions of all would end.
    checkKeys(who, ['actor']);
    const actor = Object.hasOwn(who, 'actor') ? checkActor(who.actor) : undefined;
    const path = tenantPath(identifier, 'sessions') + queryOf({ actor });
    await this.#send({ method: 'DELETE', path }, { signal });
  }

  /** Lists a tenant's plugins by name, and resolves with one page of them. */
  async listPlugins(
    { identifier }: IdentifierLocation,
    { signal, ...list }: PluginListOptions & CallOptions = {},
  ): Promise<PluginPage> {
    const path = tenantPath(identifier, 'plugins') + queryOf(list);
    return this.#send({ path, schema: pluginPageSchema }, { signal });
  }

  /** Deletes a plugin with its draft, versions and runs. The numbers of its versions are never used again. */
  async deletePlugin(location: PluginLocation, options?: CallOptions): Promise<void> {
    await this.#send({ method: 'DELETE', path: pathOf('v1/plugin', segmentsOf(location)) }, options);
  }

  /** Lists what was used, by day and then by tenant, and resolves with one page. */
  async getUsage(
    { environment }: EnvironmentLocation,
    { signal, ...list }: UsageOptions & CallOptions = {},
  ): Promise<UsagePage> {
    const path = environmentPath(environment, 'usage') + queryOf(list);
    return this.#send({ path, schema: usagePageSchema }, { signal });
  }

  /** Lists your environment's tokens by their ids, and resolves with one page. Only `createToken` gets a token itself. */
  async listTokens(
    { environment }: EnvironmentLocation,
    { signal, ...page }: PageOptions & CallOptions = {},
  ): Promise<EnvironmentTokens> {
    const path = environmentPath(environment, 'tokens') + queryOf(page);
    return this.#send({ path, schema: environmentTokensSchema }, { signal });
  }

  /** Creates an environment token. Its holder's other tokens, including the one of this client, end after `overlap`. */
  async createToken(
    { environment }: EnvironmentLocation,
    details: TokenDetails = {},
    options?: CallOptions,
  ): Promise<CreatedToken> {
    const path = environmentPath(environment, 'tokens');
    return this.#send({ method: 'POST', path, json: details, schema: createdTokenSchema }, options);
  }

  /** Ends an environment token at once. */
  async deleteToken(
    { environment, id }: EnvironmentLocation & { id: string },
    options?: CallOptions,
  ): Promise<void> {
    await this.#send({ method: 'DELETE', path: environmentPath(environment, 'tokens', { id }) }, options);
  }

  /** Lists your namespaces with types by name, and resolves with one page. */
  async listNamespaces(
    { environment }: EnvironmentLocation,
    { signal, ...page }: PageOptions & CallOptions = {},
  ): Promise<NamespacePage> {
    const path = environmentPath(environment, 'namespaces') + queryOf(page);
    return this.#send({ path, schema: namespacePageSchema }, { signal });
  }

  /** Gets the types of the input and output of a namespace's plugins. */
  async getNamespace(
    { environment, namespace }: NamespaceLocation,
    options?: CallOptions,
  ): Promise<Namespace> {
    const path = environmentPath(environment, 'namespaces', { namespace });
    return this.#send({ path, schema: namespaceSchema }, options);
  }

  /** Sets the types of the input and output of a namespace's plugins. Replaces the whole record. */
  async setNamespace(
    { environment, namespace }: NamespaceLocation,
    details: NamespaceDetails,
    options?: CallOptions,
  ): Promise<Namespace> {
    const path = environmentPath(environment, 'namespaces', { namespace });
    return this.#send({ method: 'PUT', path, json: details, schema: namespaceSchema }, options);
  }

  /** Removes the types of a namespace, and nothing else. */
  async deleteNamespace({ environment, namespace }: NamespaceLocation, options?: CallOptions): Promise<void> {
    const path = environmentPath(environment, 'namespaces', { namespace });
    await this.#send({ method: 'DELETE', path }, options);
  }

  async #send<T>(
    operation: Operation<T>,
    { signal }: CallOptions = {},
    check?: (record: T, token: string) => void,
  ): Promise<T> {
    const { environmentToken, fetch, timeout, retry } = this.#options;
    const { data } = await sendWithEnvironmentToken(operation, {
      base: this.#base,
      environmentToken,
      fetch,
      timeout,
      retry: operation.method === 'POST' ? 0 : retry,
      signal,
      check,
    });
    return data;
  }
}

const segmentsOf = ({ identifier, namespace = DEFAULT_NAMESPACE, pluginName }: PluginLocation): Segments => ({
  identifier,
  namespace,
  pluginName,
});

const tenantPath = (identifier: string, ...more: string[]) => pathOf('v1/tenant', { identifier }, ...more);

const environmentPath = (environment: string, ...more: (string | Segments)[]) =>
  pathOf('v1/environment', { environment }, ...more);
