import { httpUrl } from '../core/address.ts';
import type { PageOptions, PluginListOptions } from '../core/client/list-options.ts';
import type { Operation, Segments } from '../core/client/operation.ts';
import { type CallOptions, PluginClient } from '../core/client/plugin-client.ts';
import * as plugins from '../core/client/plugin-operations.ts';
import type { PluginPage } from '../core/client/plugin-records.ts';
import { DEFAULT_NAMESPACE } from '../core/editor-url.ts';
import type { SendOptions } from '../core/request.ts';
import type { NamespaceDetails, TenantDetails, TokenDetails, UsageOptions } from './environment-details.ts';
import * as environments from './environment-operations.ts';
import type {
  CreatedSession,
  CreatedToken,
  EnvironmentTokens,
  Namespace,
  NamespacePage,
  Tenant,
  TenantPage,
  UsagePage,
} from './environment-records.ts';
import { type EnvironmentToken, checkEnvironmentToken, checkNotSecret } from './environment-token.ts';
import { checkGranted } from './permissions.ts';
import { sendWithEnvironmentToken } from './send-with-environment-token.ts';
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
    return this.#send(environments.listTenants(environment, page), { signal });
  }

  /** Gets a customer: whether it is suspended, and how many plugins it has. */
  async getTenant({ identifier }: IdentifierLocation, options?: CallOptions): Promise<Tenant> {
    return this.#send(environments.getTenant(identifier), options);
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
    return this.#send(environments.createTenant(identifier, details), options);
  }

  /** Changes the fields that are given, such as `{ suspended: true }`, and no others. */
  async updateTenant(
    { identifier }: IdentifierLocation,
    changes: TenantDetails,
    options?: CallOptions,
  ): Promise<Tenant> {
    return this.#send(environments.updateTenant(identifier, changes), options);
  }

  /** Deletes a tenant with its plugins, versions and runs. Its usage stays. */
  async deleteTenant({ identifier }: IdentifierLocation, options?: CallOptions): Promise<void> {
    await this.#send(environments.deleteTenant(identifier), options);
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
    return this.#send(environments.createSession(identifier, body), options, (record, token) => {
      checkNotSecret(record.token, token, 'createSession');
      checkGranted(grant, record, 'createSession');
    });
  }

  /** Ends a tenant's editor tokens, or those of one actor, which are refused from then on. */
  async endSessions(
    { identifier }: IdentifierLocation,
    { signal, ...who }: { actor?: string } & CallOptions = {},
  ): Promise<void> {
    await this.#send(environments.endSessions(identifier, who), { signal });
  }

  /** Lists a tenant's plugins by name, and resolves with one page of them. */
  async listPlugins(
    { identifier }: IdentifierLocation,
    { signal, ...list }: PluginListOptions & CallOptions = {},
  ): Promise<PluginPage> {
    return this.#send(plugins.listPlugins({ identifier }, list), { signal });
  }

  /** Deletes a plugin with its draft, versions and runs. The numbers of its versions are never used again. */
  async deletePlugin(location: PluginLocation, options?: CallOptions): Promise<void> {
    await this.#send(environments.deletePlugin(segmentsOf(location)), options);
  }

  /** Lists what was used, by day and then by tenant, and resolves with one page. */
  async getUsage(
    { environment }: EnvironmentLocation,
    { signal, ...list }: UsageOptions & CallOptions = {},
  ): Promise<UsagePage> {
    return this.#send(environments.getUsage(environment, list), { signal });
  }

  /** Lists your environment's tokens by their ids, and resolves with one page. Only `createToken` gets a token itself. */
  async listTokens(
    { environment }: EnvironmentLocation,
    { signal, ...page }: PageOptions & CallOptions = {},
  ): Promise<EnvironmentTokens> {
    return this.#send(environments.listTokens(environment, page), { signal });
  }

  /** Creates an environment token. Its holder's other tokens, including the one of this client, end after `overlap`. */
  async createToken(
    { environment }: EnvironmentLocation,
    details: TokenDetails = {},
    options?: CallOptions,
  ): Promise<CreatedToken> {
    return this.#send(environments.createToken(environment, details), options);
  }

  /** Ends an environment token at once. */
  async deleteToken(
    { environment, id }: EnvironmentLocation & { id: string },
    options?: CallOptions,
  ): Promise<void> {
    await this.#send(environments.deleteToken(environment, id), options);
  }

  /** Lists your namespaces with types by name, and resolves with one page. */
  async listNamespaces(
    { environment }: EnvironmentLocation,
    { signal, ...page }: PageOptions & CallOptions = {},
  ): Promise<NamespacePage> {
    return this.#send(environments.listNamespaces(environment, page), { signal });
  }

  /** Gets the types of the input and output of a namespace's plugins. */
  async getNamespace(
    { environment, namespace }: NamespaceLocation,
    options?: CallOptions,
  ): Promise<Namespace> {
    return this.#send(environments.getNamespace(environment, namespace), options);
  }

  /** Sets the types of the input and output of a namespace's plugins. Replaces the whole record. */
  async setNamespace(
    { environment, namespace }: NamespaceLocation,
    details: NamespaceDetails,
    options?: CallOptions,
  ): Promise<Namespace> {
    return this.#send(environments.setNamespace(environment, namespace, details), options);
  }

  /** Removes the types of a namespace, and nothing else. */
  async deleteNamespace({ environment, namespace }: NamespaceLocation, options?: CallOptions): Promise<void> {
    await this.#send(environments.deleteNamespace(environment, namespace), options);
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
