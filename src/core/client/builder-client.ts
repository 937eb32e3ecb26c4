import { httpUrl } from '../address.ts';
import type { Features, PluginSource } from '../records.ts';
import { type TextResponse, DEFAULT_TIMEOUT, type SendOptions, bearer } from '../request.ts';
import { withTimeLimit } from '../time-limit.ts';
import { loggingFetch } from './build-log.ts';
import * as drafts from './draft-operations.ts';
import type { BuildResult, Deployment, TestResult } from './draft-records.ts';
import { toHttpError } from './error-body.ts';
import type { PluginListOptions } from './list-options.ts';
import { type DraftLocation, type TenantLocation, pluginSegments, tenantSegments } from './location.ts';
import type { Operation } from './operation.ts';
import { type CallOptions, PluginClient } from './plugin-client.ts';
import * as plugins from './plugin-operations.ts';
import type { PluginPage } from './plugin-records.ts';
import { sendOperation } from './send-operation.ts';

export interface BuilderClientOptions extends SendOptions {
  /** Base address of the builder interface, http or https; a path in it is kept. */
  baseUrl: string;
  /** Editor token, or a function that gives one for each call. All but features and templates need it. */
  token?: string | (() => string | Promise<string>) | undefined;
  /**
   * How often to try again after a lost connection or a transient status (408, 429, 500, 502, 503, 504); 0 for never. By
   * default 2 for what reads, and 0 for what saves, builds, tests, deploys or changes anything, because it may have been done
   * in spite of the failure. Once set, it holds for all.
   */
  retry?: number | undefined;
}

/** A draft as it was read or saved. */
export interface Draft {
  source: PluginSource;
  /** The entity tag of the draft, which changes with each save; missing where the builder sends none. */
  etag?: string;
}

export interface SaveOptions extends CallOptions {
  /**
   * Saves only if the draft still has this tag, or with `null`, if there is no draft yet; else rejects with an `HttpError` of
   * status 412. By default, any draft is replaced.
   */
  etag?: string | null | undefined;
}

export interface BuildOptions extends CallOptions {
  /** Called with each line of the log as the build writes it, where the builder has the feature `stream_builds`. */
  onLog?: ((line: string) => void) | undefined;
}

export interface DeployOptions extends CallOptions {
  /** What is new in the version, up to 500 characters. */
  message?: string | undefined;
  /** Deploys only if the draft still has this tag; else rejects with an `HttpError` of status 412. */
  etag?: string | undefined;
}

/** How long a build may take with its wait for others, in ms, unless the client has a `timeout`. */
const BUILD_TIMEOUT = 60_000;

/**
 * A client of the builder interface. Before any request, every method rejects with a `TypeError` for a segment that no path
 * can hold. After that, it rejects with `HttpError`, `TimeoutError`, `NetworkError` or `SchemaError`; and with the signal's
 * reason when aborted. Records keep the fields that the interface does not name.
 */
export class BuilderClient extends PluginClient<DraftLocation> {
  #options: BuilderClientOptions & { base: URL };

  /** @throws TypeError when `baseUrl` is not an http or https address, or holds a password. */
  constructor(options: BuilderClientOptions) {
    super(pluginSegments, (operation, callOptions) => this.#send(operation, callOptions));
    this.#options = { ...options, base: httpUrl('baseUrl', options.baseUrl) };
  }

  /** Gets what the builder supports. Needs no token. */
  async getFeatures(options?: CallOptions): Promise<Features> {
    return this.#send(drafts.getFeatures(), options);
  }

  /** Gets a source for a new plugin. */
  async getTemplate({ language }: { language: string }, options?: CallOptions): Promise<PluginSource> {
    return this.#send(drafts.getTemplate(language), options);
  }

  /** Gets a source for a new plugin that has the plugin's name in it, and the types of its namespace. */
  async getTemplateV2(
    {
      language,
      pluginName,
      namespace,
    }: { language: string; pluginName: string; namespace?: string | undefined },
    options?: CallOptions,
  ): Promise<PluginSource> {
    return this.#send(drafts.getTemplateV2(language, pluginName, namespace), options);
  }

  /** Gets the saved source of a plugin. Where there is none, rejects with an `HttpError`, mostly of status 404. */
  async getDraft(location: DraftLocation, options?: CallOptions): Promise<PluginSource> {
    return this.#send(drafts.readDraft(pluginSegments(location)), options);
  }

  /** Gets the saved source of a plugin, with the tag by which {@link saveDraft} replaces this draft and no later one. */
  async readDraft(location: DraftLocation, options?: CallOptions): Promise<Draft> {
    return toDraft(await this.#request(drafts.readDraft(pluginSegments(location)), options));
  }

  /** Saves the source of a plugin, and resolves with what is saved now. */
  async saveDraft(
    location: DraftLocation,
    source: PluginSource,
    { etag, ...options }: SaveOptions = {},
  ): Promise<Draft> {
    const operation = drafts.saveDraft(pluginSegments(location), source, etag);
    return toDraft(await this.#request(operation, options));
  }

  /**
   * Saves the source as the draft and builds it. Also resolves when the build fails: see `succeeded`. `timeout` is 60000 by
   * default here, because a build may wait for others. An error that `onLog` throws rejects the call; the build goes on.
   */
  async build(
    { language, ...location }: DraftLocation & { language: string },
    source: string,
    { onLog, ...options }: BuildOptions = {},
  ): Promise<BuildResult> {
    const operation = drafts.build(language, pluginSegments(location), source);
    const { fetch, timeout = BUILD_TIMEOUT } = this.#options;
    if (!onLog) return this.#send(operation, options, { timeout });
    operation.headers = { accept: 'text/event-stream' };
    return new Promise((resolve, reject) => {
      const log = (line: string) => {
        try {
          onLog?.(line);
        } catch (error) {
          // The response is read to its end. Were this thrown, the build would be sent again where `retry` says so.
          onLog = undefined;
          reject(error);
        }
      };
      const overrides = { timeout, fetch: loggingFetch(log, fetch) };
      this.#send(operation, options, overrides).then(resolve, reject);
    });
  }

  /** Runs the draft as it was built last. Also resolves when the plugin fails: see `error`. */
  async test(location: DraftLocation, payload: string, options?: CallOptions): Promise<TestResult> {
    return this.#send(drafts.test(pluginSegments(location), payload), options);
  }

  /** Makes the built draft the next version, unless it is what was deployed last: see `unchanged`. */
  async deploy(
    location: DraftLocation,
    { message, etag, ...options }: DeployOptions = {},
  ): Promise<Deployment> {
    return this.#send(drafts.deploy(pluginSegments(location), message, etag), options);
  }

  /** Lists a tenant's plugins by name, as far as the token is for them, and resolves with one page of them. */
  async listPlugins(
    location: TenantLocation,
    { signal, ...list }: PluginListOptions & CallOptions = {},
  ): Promise<PluginPage> {
    return this.#send(plugins.listPlugins(tenantSegments(location), list), { signal });
  }

  /** Ends the token, which is refused from then on. */
  async endSession(options?: CallOptions): Promise<void> {
    await this.#send(plugins.endSession(), options);
  }

  async #send<T>(operation: Operation<T>, options?: CallOptions, overrides?: SendOptions): Promise<T> {
    return (await this.#request(operation, options, overrides)).data;
  }

  async #request<T>(
    operation: Operation<T>,
    { signal }: CallOptions = {},
    overrides?: SendOptions,
  ): Promise<TextResponse<T>> {
    if (!operation.isPublic && !this.#options.token) {
      throw new TypeError('token must be set: this operation takes an editor token');
    }
    const token = await tokenOf(this.#options, signal);
    return sendOperation(operation, {
      ...this.#options,
      ...overrides,
      headers: token ? bearer(token) : {},
      // No cookies: the interface knows tokens only, and a builder then needs no CORS with credentials.
      init: { credentials: 'omit' },
      toError: (response, label, limited) => toHttpError(response, label, limited, token),
      signal,
    });
  }
}

/** Returns the token of a client; a function that gives one has as long as a request. */
async function tokenOf(
  { token, timeout = DEFAULT_TIMEOUT }: BuilderClientOptions,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  if (typeof token !== 'function') return token;
  return withTimeLimit(async () => token(), timeout, 'token', signal);
}

function toDraft({ data: source, headers }: TextResponse<PluginSource>): Draft {
  const etag = headers.get('etag');
  return etag ? { source, etag } : { source };
}
