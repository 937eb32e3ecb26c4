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
  /** Environment token, or a function that gives one for each call (rotation). */
  environmentToken: EnvironmentToken;
  /**
   * For one try, from sending to the last byte of the response, in ms. By default 600000 for a replay, 60000 for `setNamespace` and
   * `putLibrary`, whose declarations are compiled and tried first, and 15000 for all else. Once set, it holds for all.
   */
  timeout?: number | undefined;
  /**
   * How often to try again after a lost connection or a transient status (408, 429, 500, 502, 503, 504); 0 for never. By
   * default 2 for what reads, and 0 for what changes anything. Once set, it holds for changes too, other than those by
   * `POST`, which are never tried again: creating a tenant, a session or a token.
   */
  retry?: number | undefined;
  /** On whose behalf calls are made, such as the member of your staff: versions, pins and the audit log keep it. */
  actor?: string | undefined;
}

/** What can be set for a single call. */
export interface EnvironmentCallOptions extends CallOptions {
  /** On whose behalf the call is made; replaces the `actor` of the client. */
  actor?: string | undefined;
}

/** Which entries of the audit log are listed; the days are as in {@link UsageOptions}. */
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

/** What you can set for a tenant. */
export interface TenantDetails {
  description?: string;
  /** `true`: no tokens are given or taken, and nothing new runs. */
  suspended?: boolean;
  /** Limits for this customer, which override those in the service's settings; `null` to return to these. */
  limits?: {
    plugins?: number | null;
    runsPerMinute?: number | null;
    storageMb?: number | null;
    callsPerMinute?: number | null;
    runTimeoutMs?: number | null;
    runMemoryMb?: number | null;
    /** How much records of its runs hold. */
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

/** What an environment token may be limited to. */
export type Scope = 'run' | 'access' | 'access-deploy' | 'read' | 'manage';

/** For a new environment token. */
export interface TokenDetails {
  /** Who it is for; by default the holder of the token that this is requested with. */
  holder?: string;
  /** How long the holder's other tokens stay valid, in seconds: 3600 by default, at most 86400. */
  overlap?: number;
  /** What it permits; by default what the token does that this is requested with. */
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

/** How long what the service compiles and tries first may take, in ms: it may wait for others, and for a compiler to start. */
const CHECK_TIMEOUT = 60_000;

/**
 * A client of the environment interface: a vendor's customers, their plugins, what is live and what ran. For servers only,
 * because it needs the environment token. Before any request, every method rejects with a `TypeError` for arguments that
 * cannot be sent. After that, it rejects with `HttpError` (also for a redirect, which is not followed), `TimeoutError`,
 * `NetworkError` or `SchemaError`; and with the signal's reason when aborted. None of these errors holds the environment
 * token. Lists come in pages; `eachPage` iterates over all of them. Records keep the fields that are not named here.
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

  /** Lists your customers by name, and resolves with one page of them. */
  async listTenants(
    { environment }: EnvironmentLocation,
    { signal, actor, ...page }: PageOptions & EnvironmentCallOptions = {},
  ): Promise<TenantPage> {
    const path = environmentPath(environment) + queryOf(page);
    return this.#send({ path, schema: tenantPageSchema }, { signal, actor });
  }

  /** Gets a customer: whether it is suspended, and how many plugins it has. */
  async getTenant({ identifier }: IdentifierLocation, options?: EnvironmentCallOptions): Promise<Tenant> {
    return this.#send({ path: tenantPath(identifier), schema: tenantSchema }, options);
  }

  /**
   * Creates a tenant. One that was deleted is created anew, without plugins. For one that exists, rejects with an `HttpError`
   * of status 409. A field that is `undefined` is a `TypeError`.
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

  /** Changes the fields that are given, such as `{ suspended: true }`, and no others. A field that is `undefined` is a `TypeError`. */
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

  /** Deletes a tenant with its plugins, versions and runs. Its usage stays. */
  async deleteTenant({ identifier }: IdentifierLocation, options?: EnvironmentCallOptions): Promise<void> {
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
   * Ends a tenant's editor tokens, or those of one actor, which are refused from then on. `actor` is whose tokens end; on whose
   * behalf, only the client's `actor` says.
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

  /** Lists a tenant's plugins by name, and resolves with one page of them. */
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

  /** Lists what was used, by day and then by tenant, and resolves with one page. */
  async getUsage(
    { environment }: EnvironmentLocation,
    { signal, actor, ...list }: UsageOptions & EnvironmentCallOptions = {},
  ): Promise<UsagePage> {
    const path = environmentPath(environment, 'usage') + queryOf(list);
    return this.#send({ path, schema: usagePageSchema }, { signal, actor });
  }

  /** Lists who changed what, and who read logs or payloads, the newest first, and resolves with one page. */
  async listAudit(
    { environment }: EnvironmentLocation,
    { signal, ...list }: AuditOptions & CallOptions = {},
  ): Promise<AuditPage> {
    const path = environmentPath(environment, 'audit') + queryOf(list);
    return this.#send({ path, schema: auditPageSchema }, { signal });
  }

  /** Lists your environment's tokens by their ids, and resolves with one page. Only `createToken` gets a token itself. */
  async listTokens(
    { environment }: EnvironmentLocation,
    { signal, actor, ...page }: PageOptions & EnvironmentCallOptions = {},
  ): Promise<EnvironmentTokens> {
    const path = environmentPath(environment, 'tokens') + queryOf(page);
    return this.#send({ path, schema: environmentTokensSchema }, { signal, actor });
  }

  /**
   * Creates an environment token. Its holder's other tokens with the same scopes end after `overlap`. A field of `details` that is not
   * known or is `undefined` is a `TypeError`: misspelt `scopes` would limit nothing.
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

  /** Ends an environment token at once. */
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
   * Sets the types of the input and output of a namespace's plugins, and what they may reach and import. Replaces the whole record, but
   * `connections` and `libraries` that are left out stay; `null` removes them.
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

  /** Removes the types of a namespace, and nothing else. Rejects with 409 while it has `connections` or `libraries`. */
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
   * Publishes a version of a library. Publishing the same again does nothing; for other contents than a version has, or had before it
   * was deleted, rejects with an `HttpError` of status 409.
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
   * Deletes a version of a library. Versions of plugins that were built with it run on. While a namespace names it, rejects with an
   * `HttpError` of status 409.
   */
  async deleteLibrary(location: LibraryLocation, options?: EnvironmentCallOptions): Promise<void> {
    await this.#send({ method: 'DELETE', path: libraryPath(location) }, options);
  }

  /** Lists for which connections a tenant, or your environment, has values, and resolves with one page. No response has a value. */
  async listConnectionValues(
    owner: ConnectionOwner,
    { signal, actor, ...page }: PageOptions & EnvironmentCallOptions = {},
  ): Promise<ConnectionValuePage> {
    const path = connectionsPath(owner) + queryOf(page);
    return this.#send({ path, schema: connectionValuePageSchema }, { signal, actor });
  }

  /** Sets what a tenant, or your environment, has for a connection, from the next call of every plugin on. */
  async setConnectionValue(
    location: ConnectionLocation,
    value: ConnectionValue,
    options?: EnvironmentCallOptions,
  ): Promise<void> {
    await this.#send({ method: 'PUT', path: connectionPath(location), json: value }, options);
  }

  /** Deletes what a tenant, or your environment, has for a connection. */
  async deleteConnectionValue(location: ConnectionLocation, options?: EnvironmentCallOptions): Promise<void> {
    await this.#send({ method: 'DELETE', path: connectionPath(location) }, options);
  }

  /** Creates a webhook. Only this response has its secret, which verifies what it is sent. */
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

  /** Gets a webhook: whether it is enabled, and why not. */
  async getWebhook(location: WebhookLocation, options?: EnvironmentCallOptions): Promise<Webhook> {
    return this.#send({ path: webhookPath(location), schema: webhookSchema }, options);
  }

  /**
   * Changes the fields of a webhook that are given, such as `{ enabled: true }`, and no others. A field that is `undefined` is a
   * `TypeError`.
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

  /** Deletes a webhook, with what waits for it. */
  async deleteWebhook(location: WebhookLocation, options?: EnvironmentCallOptions): Promise<void> {
    await this.#send({ method: 'DELETE', path: webhookPath(location) }, options);
  }

  /** Gives a webhook another secret. For 24 hours both sign. */
  async rotateWebhookSecret(
    location: WebhookLocation,
    options?: EnvironmentCallOptions,
  ): Promise<WebhookSecret> {
    const path = webhookPath(location, 'secret');
    return this.#send({ method: 'POST', path, schema: webhookSecretSchema }, options);
  }

  /** Lists what a webhook was told in the last 14 days, the newest first, and resolves with one page. */
  async listDeliveries(
    location: WebhookLocation,
    { signal, actor, ...page }: PageOptions & EnvironmentCallOptions = {},
  ): Promise<WebhookDeliveryPage> {
    const path = webhookPath(location, 'deliveries') + queryOf(page);
    return this.#send({ path, schema: deliveryPageSchema }, { signal, actor });
  }

  /** Makes the service send an event again, at once. */
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
