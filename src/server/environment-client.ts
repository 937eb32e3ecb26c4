import { type Operation, type Segments, pathOf, queryOf } from '../core/client/operation.ts';
import type { PageOptions, PluginListOptions } from '../core/client/pages.ts';
import { type CallOptions, PluginClient } from '../core/client/plugin-client.ts';
import { type PluginPage, pluginPageSchema } from '../core/client/records.ts';
import { DEFAULT_NAMESPACE, httpUrl } from '../core/url.ts';
import type { SendOptions } from '../core/request.ts';
import {
  type AuditPage,
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
  auditPageSchema,
  usagePageSchema,
} from './environment-records.ts';
import {
  type ConnectionLocation,
  type ConnectionOwner,
  type ConnectionValue,
  type ConnectionValuePage,
  type NamespaceDetails,
  connectionPath,
  connectionsPath,
  connectionValuePageSchema,
} from './connection-records.ts';
import {
  type Library,
  type LibraryDetails,
  type LibraryLocation,
  type LibraryPage,
  type LibraryRecord,
  libraryPageSchema,
  libraryPath,
  libraryRecordSchema,
  librarySchema,
} from './library-records.ts';
import {
  type CreatedWebhook,
  type Webhook,
  type WebhookDetails,
  type WebhookDeliveryPage,
  type WebhookPage,
  type WebhookSecret,
  createdWebhookSchema,
  deliveryPageSchema,
  webhookPageSchema,
  webhookSchema,
  webhookSecretSchema,
} from './webhook-records.ts';
import {
  type EnvironmentToken,
  checkEnvironmentToken,
  checkNotSecret,
  sendWithEnvironmentToken,
} from './environment-token.ts';
import { checkActor, checkGranted, checkKeys, checkValues } from './permissions.ts';
import { type SessionRequest, readSessionRequest } from './session-request.ts';

export interface EnvironmentClientOptions extends SendOptions {
  /** Base address of the builder interface, http or https; a path in it is kept. */
  builderUrl: string;
  /** Environment token, or a function that returns one for each call (rotation). */
  environmentToken: EnvironmentToken;
  /**
   * For one try, from sending to the last byte of the response, in ms. By default 600000 for a replay, 60000 for `setNamespace` and
   * `putLibrary`, which the service compiles first, and 15000 for all else. Once set, it holds for all.
   */
  timeout?: number | undefined;
  /**
   * How often to try again after a lost connection or a transient status (408, 429, 500, 502, 503, 504); 0 for never. By
   * default 2 for reads, and 0 for changes. Once set, it holds for changes too, except for requests by `POST`, which are never tried
   * again: those that create something, `rotateWebhookSecret`, `resendDelivery` and `replay`.
   */
  retry?: number | undefined;
  /** Your id for the person on whose behalf you ask, such as a member of your staff. Pins, tenants and the audit log keep it. */
  actor?: string | undefined;
}

/** What can be set for a single call. */
export interface EnvironmentCallOptions extends CallOptions {
  /** Your id for the person on whose behalf you ask; replaces the `actor` of the client. */
  actor?: string | undefined;
}

/** Which entries of the audit log are listed. `from` and `to` are as in {@link UsageOptions}. */
export interface AuditOptions extends PageOptions {
  from?: string | undefined;
  to?: string | undefined;
  /** Only those about this tenant: the part of the ident after its last period. */
  tenant?: string | undefined;
  /** Only those of this action, such as `plugin.live`. */
  action?: string | undefined;
  /** Only what this actor did. */
  actor?: string | undefined;
}

/** The fields of a tenant that you can set. */
export interface TenantDetails {
  description?: string;
  /** `true`: the service refuses its tokens, gives it no new ones, and starts no runs. */
  suspended?: boolean;
  /**
   * Limits of this tenant, which replace the settings of the service; `null` restores the setting. `storageMb` and `runMemoryMb` are in
   * MiB, `runTimeoutMs` in ms. `plugins` and `runsPerMinute` may be above the setting, the others may not.
   */
  limits?: {
    plugins?: number | null;
    runsPerMinute?: number | null;
    storageMb?: number | null;
    callsPerMinute?: number | null;
    runTimeoutMs?: number | null;
    runMemoryMb?: number | null;
    records?: 'outcome' | 'logs' | 'payloads' | null;
  };
}

/** Which days are listed, as `YYYY-MM-DD` (UTC), both included; by default the last 30. */
export interface UsageOptions extends PageOptions {
  from?: string | undefined;
  to?: string | undefined;
  /** Only those of this tenant: the part of the ident after its last period. */
  tenant?: string | undefined;
  /** `plugin`: what each plugin used, with its `namespace` and `name`. */
  by?: 'plugin' | undefined;
}

/**
 * What an environment token permits: `run` to run plugins; `access` to make editor tokens with `read` and `write`; `access-deploy` to
 * make them with `deploy`, too; `read` to read lists, records of runs, usage and the audit log, and with either of the two before, to
 * make editor tokens with `runs`; `manage` for the rest.
 */
export type Scope = 'run' | 'access' | 'access-deploy' | 'read' | 'manage';

/** The terms of a new environment token. */
export interface TokenDetails {
  /** The name of the program that holds it; by default the holder of the client's own token. */
  holder?: string;
  /** How long the holder's earlier tokens with the same scopes stay valid, in seconds: 3600 by default, at most 86400. */
  overlap?: number;
  /** What it permits; by default what the client's own token permits. */
  scopes?: readonly Scope[];
}

/** A webhook of your environment. */
export interface WebhookLocation extends EnvironmentLocation {
  /** Its id. */
  webhook: string;
}

/** Your environment. */
export interface EnvironmentLocation {
  /** Its name, such as `com.acme`. */
  environment: string;
}

/** A tenant: a customer of yours. */
export interface IdentifierLocation {
  /** Environment, a period, tenant: `joinIdent` makes it, and refuses a tenant with a period. */
  identifier: string;
}

/** A plugin of a tenant. */
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

/** How long what the service compiles and tries first may take, in ms: it may wait for others, and for a compiler to start. */
const CHECK_TIMEOUT = 60_000;

/**
 * A client of the environment interface: a vendor's tenants, their plugins, what is live and what ran. For servers only,
 * because it needs the environment token. Before any request, every method rejects with a `TypeError` for arguments that
 * cannot be sent, and with an `Error` whose `cause` is what the function `environmentToken` threw. After that, it rejects with
 * `HttpError` (also for a redirect, which is not followed), `TimeoutError`, `NetworkError` or `SchemaError`; and with the
 * signal's reason when aborted. None of these errors holds the environment token. Lists come in pages; `eachPage` iterates over
 * all of them. Records keep the fields that are not named here.
 */
export class EnvironmentClient extends PluginClient<PluginLocation, { actor?: string | undefined }> {
  #base: URL;
  #options: EnvironmentClientOptions;

  /** @throws TypeError when `builderUrl` is not an http or https address, or `environmentToken` or `actor` cannot be sent. */
  constructor(options: EnvironmentClientOptions) {
    super(segmentsOf, (operation, callOptions) => this.#send(operation, callOptions));
    this.#base = httpUrl('builderUrl', options.builderUrl);
    checkEnvironmentToken(options.environmentToken);
    if (options.actor !== undefined) checkActor(options.actor);
    this.#options = options;
  }

  /** Lists your tenants by name, and resolves with one page of them. */
  async listTenants(
    { environment }: EnvironmentLocation,
    { signal, actor, ...page }: PageOptions & EnvironmentCallOptions = {},
  ): Promise<TenantPage> {
    const path = environmentPath(environment) + queryOf(page);
    return this.#send({ path, schema: tenantPageSchema }, { signal, actor });
  }

  /** Gets a tenant: whether it is suspended, how many plugins it has, and what it stores. */
  async getTenant({ identifier }: IdentifierLocation, options?: EnvironmentCallOptions): Promise<Tenant> {
    return this.#send({ path: tenantPath(identifier), schema: tenantSchema }, options);
  }

  /**
   * Creates a tenant. One that was deleted is created anew, without plugins. If it exists, rejects with an `HttpError` of status
   * 409. A field that is `undefined` is a `TypeError`.
   */
  async createTenant(
    { identifier }: IdentifierLocation,
    details: TenantDetails = {},
    options?: EnvironmentCallOptions,
  ): Promise<Tenant> {
    checkValues(details);
    checkValues(details.limits ?? {});
    return this.#send(
      { method: 'POST', path: tenantPath(identifier), json: details, schema: tenantSchema },
      options,
    );
  }

  /** Changes only the given fields, such as `{ suspended: true }`. A field that is `undefined` is a `TypeError`. */
  async updateTenant(
    { identifier }: IdentifierLocation,
    changes: TenantDetails,
    options?: EnvironmentCallOptions,
  ): Promise<Tenant> {
    checkValues(changes);
    checkValues(changes.limits ?? {});
    return this.#send(
      { method: 'PATCH', path: tenantPath(identifier), json: changes, schema: tenantSchema },
      options,
    );
  }

  /** Deletes a tenant with its plugins, versions and runs. Its usage and its entries in the audit log stay. */
  async deleteTenant({ identifier }: IdentifierLocation, options?: EnvironmentCallOptions): Promise<void> {
    await this.#send({ method: 'DELETE', path: tenantPath(identifier) }, options);
  }

  /**
   * Creates an editor token for one plugin, for the plugins of a namespace, or for all plugins of a tenant, as `scope` says. Rejects
   * with a `SchemaError` if the response does not have the requested permissions and actor.
   */
  async createSession(
    { identifier }: IdentifierLocation,
    session: SessionRequest,
    options?: EnvironmentCallOptions,
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

  /**
   * Ends a tenant's editor tokens, or only those of `actor`: the service refuses them from then on. The call has no `actor` of its
   * own: the audit log has the client's.
   */
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

  /** Lists a tenant's plugins by namespace and name, and resolves with one page of them. */
  async listPlugins(
    { identifier }: IdentifierLocation,
    { signal, actor, ...list }: PluginListOptions & EnvironmentCallOptions = {},
  ): Promise<PluginPage> {
    const path = tenantPath(identifier, 'plugins') + queryOf(list);
    return this.#send({ path, schema: pluginPageSchema }, { signal, actor });
  }

  /** Deletes a plugin with its draft, versions and runs. The numbers of its versions are never used again. */
  async deletePlugin(location: PluginLocation, options?: EnvironmentCallOptions): Promise<void> {
    await this.#send({ method: 'DELETE', path: pathOf('v1/plugin', segmentsOf(location)) }, options);
  }

  /** Lists what tenants used, by day and then by tenant, and resolves with one page. */
  async getUsage(
    { environment }: EnvironmentLocation,
    { signal, actor, ...list }: UsageOptions & EnvironmentCallOptions = {},
  ): Promise<UsagePage> {
    const path = environmentPath(environment, 'usage') + queryOf(list);
    return this.#send({ path, schema: usagePageSchema }, { signal, actor });
  }

  /** Lists the entries of the audit log, the newest first, and resolves with one page. `actor` filters the entries. */
  async listAudit(
    { environment }: EnvironmentLocation,
    { signal, ...list }: AuditOptions & CallOptions = {},
  ): Promise<AuditPage> {
    const path = environmentPath(environment, 'audit') + queryOf(list);
    return this.#send({ path, schema: auditPageSchema }, { signal });
  }

  /** Lists your valid environment tokens, the oldest first, and resolves with one page. Only `createToken` gets a token itself. */
  async listTokens(
    { environment }: EnvironmentLocation,
    { signal, actor, ...page }: PageOptions & EnvironmentCallOptions = {},
  ): Promise<EnvironmentTokens> {
    const path = environmentPath(environment, 'tokens') + queryOf(page);
    return this.#send({ path, schema: environmentTokensSchema }, { signal, actor });
  }

  /**
   * Creates an environment token. Its holder's earlier tokens with the same scopes end after `overlap`. A field of `details` that is
   * unknown or `undefined` is a `TypeError`, because misspelt `scopes` would limit nothing. More scopes than the client's own token
   * has reject with an `HttpError` of status 403.
   */
  async createToken(
    { environment }: EnvironmentLocation,
    details: TokenDetails = {},
    options?: EnvironmentCallOptions,
  ): Promise<CreatedToken> {
    checkKeys(details, ['holder', 'overlap', 'scopes']);
    checkValues(details);
    const path = environmentPath(environment, 'tokens');
    return this.#send({ method: 'POST', path, json: details, schema: createdTokenSchema }, options);
  }

  /** Ends an environment token at once: the client's own, or one with no more scopes. */
  async deleteToken(
    { environment, id }: EnvironmentLocation & { id: string },
    options?: EnvironmentCallOptions,
  ): Promise<void> {
    await this.#send({ method: 'DELETE', path: environmentPath(environment, 'tokens', { id }) }, options);
  }

  /** Lists your namespaces with types by name, and resolves with one page. */
  async listNamespaces(
    { environment }: EnvironmentLocation,
    { signal, actor, ...page }: PageOptions & EnvironmentCallOptions = {},
  ): Promise<NamespacePage> {
    const path = environmentPath(environment, 'namespaces') + queryOf(page);
    return this.#send({ path, schema: namespacePageSchema }, { signal, actor });
  }

  /** Gets the types of the input and output of a namespace's plugins. */
  async getNamespace(
    { environment, namespace }: NamespaceLocation,
    options?: EnvironmentCallOptions,
  ): Promise<Namespace> {
    const path = environmentPath(environment, 'namespaces', { namespace });
    return this.#send({ path, schema: namespaceSchema }, options);
  }

  /**
   * Sets the types of the input and output of a namespace's plugins, and what they may reach and import. Replaces the whole record,
   * except that missing `connections` and `libraries` stay; `null` removes them.
   */
  async setNamespace(
    { environment, namespace }: NamespaceLocation,
    details: NamespaceDetails,
    options?: EnvironmentCallOptions,
  ): Promise<Namespace> {
    const path = environmentPath(environment, 'namespaces', { namespace });
    return this.#send(
      { method: 'PUT', path, json: details, schema: namespaceSchema, timeout: CHECK_TIMEOUT },
      options,
    );
  }

  /**
   * Removes the types of a namespace, and nothing else. While it has `connections` or `libraries`, rejects with an `HttpError` of
   * status 409.
   */
  async deleteNamespace(
    { environment, namespace }: NamespaceLocation,
    options?: EnvironmentCallOptions,
  ): Promise<void> {
    const path = environmentPath(environment, 'namespaces', { namespace });
    await this.#send({ method: 'DELETE', path }, options);
  }

  /** Lists your libraries by name and version, and resolves with one page. */
  async listLibraries(
    { environment }: EnvironmentLocation,
    { signal, actor, ...page }: PageOptions & EnvironmentCallOptions = {},
  ): Promise<LibraryPage> {
    const path = environmentPath(environment, 'libraries') + queryOf(page);
    return this.#send({ path, schema: libraryPageSchema }, { signal, actor });
  }

  /** Gets one version of a library with its contents. */
  async getLibrary(location: LibraryLocation, options?: EnvironmentCallOptions): Promise<Library> {
    return this.#send({ path: libraryPath(location), schema: librarySchema }, options);
  }

  /**
   * Publishes a version of a library. To publish the same again does nothing. If the version has other contents, or had before it was
   * deleted, rejects with an `HttpError` of status 409.
   */
  async putLibrary(
    location: LibraryLocation,
    { contents, declarations, description }: LibraryDetails,
    options?: EnvironmentCallOptions,
  ): Promise<LibraryRecord> {
    const json = { contents, declarations, description };
    return this.#send(
      {
        method: 'PUT',
        path: libraryPath(location),
        json,
        schema: libraryRecordSchema,
        timeout: CHECK_TIMEOUT,
      },
      options,
    );
  }

  /**
   * Deletes a version of a library. Plugin versions that were built with it keep it. While a namespace names it, rejects with an
   * `HttpError` of status 409.
   */
  async deleteLibrary(location: LibraryLocation, options?: EnvironmentCallOptions): Promise<void> {
    await this.#send({ method: 'DELETE', path: libraryPath(location) }, options);
  }

  /** Lists the connections for which a tenant, or your environment, has a value or an origin, and resolves with one page. No response has a value. */
  async listConnectionValues(
    owner: ConnectionOwner,
    { signal, actor, ...page }: PageOptions & EnvironmentCallOptions = {},
  ): Promise<ConnectionValuePage> {
    const path = connectionsPath(owner) + queryOf(page);
    return this.#send({ path, schema: connectionValuePageSchema }, { signal, actor });
  }

  /** Sets the value of a tenant, or of your environment, for a connection. It holds from the next call of every plugin on. */
  async setConnectionValue(
    location: ConnectionLocation,
    value: ConnectionValue,
    options?: EnvironmentCallOptions,
  ): Promise<void> {
    await this.#send({ method: 'PUT', path: connectionPath(location), json: value }, options);
  }

  /** Deletes the value of a tenant, or of your environment, for a connection. */
  async deleteConnectionValue(location: ConnectionLocation, options?: EnvironmentCallOptions): Promise<void> {
    await this.#send({ method: 'DELETE', path: connectionPath(location) }, options);
  }

  /** Creates a webhook. Only this response has its secret, which verifies the signatures of its events. */
  async createWebhook(
    { environment }: EnvironmentLocation,
    details: WebhookDetails,
    options?: EnvironmentCallOptions,
  ): Promise<CreatedWebhook> {
    const path = environmentPath(environment, 'webhooks');
    return this.#send({ method: 'POST', path, json: details, schema: createdWebhookSchema }, options);
  }

  /** Lists your webhooks, the oldest first, and resolves with one page. */
  async listWebhooks(
    { environment }: EnvironmentLocation,
    { signal, actor, ...page }: PageOptions & EnvironmentCallOptions = {},
  ): Promise<WebhookPage> {
    const path = environmentPath(environment, 'webhooks') + queryOf(page);
    return this.#send({ path, schema: webhookPageSchema }, { signal, actor });
  }

  /** Gets a webhook, such as whether it is enabled. */
  async getWebhook(location: WebhookLocation, options?: EnvironmentCallOptions): Promise<Webhook> {
    return this.#send({ path: webhookPath(location), schema: webhookSchema }, options);
  }

  /**
   * Changes only the given fields of a webhook, such as `{ enabled: true }`. A field that is `undefined` is a `TypeError`.
   */
  async updateWebhook(
    location: WebhookLocation,
    changes: Partial<WebhookDetails> & { enabled?: boolean },
    options?: EnvironmentCallOptions,
  ): Promise<Webhook> {
    checkValues(changes);
    const path = webhookPath(location);
    return this.#send({ method: 'PATCH', path, json: changes, schema: webhookSchema }, options);
  }

  /** Deletes a webhook with its deliveries; those that are pending are not sent. */
  async deleteWebhook(location: WebhookLocation, options?: EnvironmentCallOptions): Promise<void> {
    await this.#send({ method: 'DELETE', path: webhookPath(location) }, options);
  }

  /** Gives a webhook another secret. For 24 hours, events are signed with both. */
  async rotateWebhookSecret(
    location: WebhookLocation,
    options?: EnvironmentCallOptions,
  ): Promise<WebhookSecret> {
    const path = webhookPath(location, 'secret');
    return this.#send({ method: 'POST', path, schema: webhookSecretSchema }, options);
  }

  /** Lists the deliveries of a webhook in the last 14 days, the newest first, and resolves with one page. */
  async listDeliveries(
    location: WebhookLocation,
    { signal, actor, ...page }: PageOptions & EnvironmentCallOptions = {},
  ): Promise<WebhookDeliveryPage> {
    const path = webhookPath(location, 'deliveries') + queryOf(page);
    return this.#send({ path, schema: deliveryPageSchema }, { signal, actor });
  }

  /** Sends an event again, at once, whatever the status of the delivery is. */
  async resendDelivery(
    { delivery, ...location }: WebhookLocation & { delivery: string },
    options?: EnvironmentCallOptions,
  ): Promise<void> {
    const path = webhookPath(location, 'deliveries', { delivery }, 'resend');
    await this.#send({ method: 'POST', path }, options);
  }

  async #send<T>(
    operation: Operation<T>,
    { signal, actor = this.#options.actor }: EnvironmentCallOptions = {},
    check?: (record: T, token: string) => void,
  ): Promise<T> {
    const { environmentToken, fetch, timeout, retry } = this.#options;
    const headers = {
      ...operation.headers,
      ...(actor !== undefined && { 'x-actor': encodeURIComponent(checkActor(actor)) }),
    };
    const { data } = await sendWithEnvironmentToken(
      { ...operation, headers },
      {
        base: this.#base,
        environmentToken,
        fetch,
        timeout,
        retry: operation.method === 'POST' ? 0 : retry,
        signal,
        check,
      },
    );
    return data;
  }
}

const segmentsOf = ({ identifier, namespace = DEFAULT_NAMESPACE, pluginName }: PluginLocation): Segments => ({
  identifier,
  namespace,
  pluginName,
});

const tenantPath = (identifier: string, ...more: string[]) => pathOf('v1/tenant', { identifier }, ...more);

const webhookPath = ({ environment, webhook }: WebhookLocation, ...more: (string | Segments)[]) =>
  environmentPath(environment, 'webhooks', { webhook }, ...more);

const environmentPath = (environment: string, ...more: (string | Segments)[]) =>
  pathOf('v1/environment', { environment }, ...more);
