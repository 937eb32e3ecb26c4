import { httpUrl } from '../address.ts';
import type { Features, PluginSource } from '../records.ts';
import { type TextResponse, DEFAULT_TIMEOUT, type SendOptions, bearer } from '../request.ts';
import { withTimeLimit } from '../time-limit.ts';
import { loggingFetch } from './build-log.ts';
import * as drafts from './draft-operations.ts';
import type { BuildResult, Deployment, TestResult } from './draft-records.ts';
import { toHttpError } from './error-body.ts';
import { type DraftLocation, type TenantLocation, pluginSegments, tenantSegments } from './location.ts';
import type { Operation } from './operation.ts';
import * as plugins from './plugin-operations.ts';
import type { PageOptions, PluginListOptions, RunListOptions } from './plugin-operations.ts';
import type {
  Plugin,
  PluginPage,
  PluginRun,
  PluginTypes,
  PluginVersionSource,
  RunPage,
  Session,
  VersionPage,
} from './plugin-records.ts';
import { sendOperation } from './send-operation.ts';

export interface BuilderClientOptions extends SendOptions {
  /** Base address of the builder interface, http or https; a path in it is kept. */
  baseUrl: string;
  /** Editor token, or a function that gives one for each call. All but features and templates need it. */
  token?: string | (() => string | Promise<string>) | undefined;
  /**
   * How often to try again after a lost connection or a passing status (408, 429, 500, 502, 503, 504); 0 for never. By
   * default 2 for what reads, and 0 for what saves, builds, tests, deploys or overrides anything: none of these failures says
   * for certain that it was not done. Once set, it holds for all.
   */
  retry?: number | undefined;
}

export interface CallOptions {
  /** Ends the call, which then rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
}

/** A draft as it was read or saved. */
export interface Draft {
  source: PluginSource;
  /** Stands for the draft as it is now; missing where the builder answers none. */
  etag?: string;
}

export interface SaveOptions extends CallOptions {
  /**
   * Saves only where the draft is still the one with this tag, or with `null`, where there is none yet; else it is an
   * `HttpError` with 412. By default whatever is there is replaced.
   */
  etag?: string | null | undefined;
}

export interface BuildOptions extends CallOptions {
  /** Called with each line of the log as the build writes it, where the builder has the feature `stream_builds`. */
  onLog?: ((line: string) => void) | undefined;
}

export interface DeployOptions extends CallOptions {
  /** What is new, up to 500 characters. */
  message?: string | undefined;
  /** Deploys only where the draft is still the one with this tag; else it is an `HttpError` with 412. */
  etag?: string | undefined;
}

/** How long a build may take with what waits before it, in ms, unless the client has a `timeout`. */
const BUILD_TIMEOUT = 60_000;

/**
 * The builder interface, typed. Every method rejects with a `TypeError` for a segment that no path can hold, before any
 * request; with `HttpError`, `TimeoutError`, `NetworkError` or `SchemaError` for what comes back; and with the signal's
 * reason when aborted. Fields that the interface does not name are kept.
 */
export class BuilderClient {
  #base: URL;
  #options: BuilderClientOptions;

  /** @throws TypeError when `baseUrl` is not an http or https address, or holds a password. */
  constructor(options: BuilderClientOptions) {
    this.#base = httpUrl('baseUrl', options.baseUrl);
    this.#options = options;
  }

  /** What the builder supports (interface: Get features). */
  async getFeatures(options?: CallOptions): Promise<Features> {
    return (await this.#request(drafts.getFeatures(), options)).data;
  }

  /** Source for a new plugin (interface: Get template). */
  async getTemplate({ language }: { language: string }, options?: CallOptions): Promise<PluginSource> {
    return (await this.#request(drafts.getTemplate(language), options)).data;
  }

  /** Source for a new plugin that already carries its name (interface: Get template V2). */
  async getTemplateV2(
    {
      language,
      pluginName,
      namespace,
    }: { language: string; pluginName: string; namespace?: string | undefined },
    options?: CallOptions,
  ): Promise<PluginSource> {
    return (await this.#request(drafts.getTemplateV2(language, pluginName, namespace), options)).data;
  }

  /** The saved source of a plugin (interface: Get draft). A draft that does not exist is an `HttpError`, mostly 404. */
  async getDraft(location: DraftLocation, options?: CallOptions): Promise<PluginSource> {
    return this.#send(drafts.readDraft(pluginSegments(location)), options);
  }

  /** The saved source of a plugin, with the tag by which {@link saveDraft} replaces this draft and no later one. */
  async readDraft(location: DraftLocation, options?: CallOptions): Promise<Draft> {
    return toDraft(await this.#sendForResponse(drafts.readDraft(pluginSegments(location)), options));
  }

  /** Saves the source of a plugin, and resolves with what is saved now. */
  async saveDraft(
    location: DraftLocation,
    source: PluginSource,
    { etag, ...options }: SaveOptions = {},
  ): Promise<Draft> {
    const operation = drafts.saveDraft(pluginSegments(location), source, etag);
    return toDraft(await this.#sendForResponse(operation, options));
  }

  /**
   * Saves the source as the draft and builds it. Resolves also when the build fails: see `succeeded`. `timeout` is 60000 by
   * default here, as a build may wait for others. What `onLog` throws rejects the call; the build goes on.
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
          onLog(line);
        } catch (error) {
          reject(error);
          throw error;
        }
      };
      const overrides = { timeout, fetch: loggingFetch(log, fetch) };
      this.#send(operation, options, overrides).then(resolve, reject);
    });
  }

  /** Runs the draft as it was built last. Resolves also when the plugin fails: see `error`. */
  async test(location: DraftLocation, payload: string, options?: CallOptions): Promise<TestResult> {
    return this.#send(drafts.test(pluginSegments(location), payload), options);
  }

  /** Makes the built draft the next version. One that is what was deployed last makes no other: see `unchanged`. */
  async deploy(
    location: DraftLocation,
    { message, etag, ...options }: DeployOptions = {},
  ): Promise<Deployment> {
    return this.#send(drafts.deploy(pluginSegments(location), message, etag), options);
  }

  /** A page of a tenant's plugins, of those that the token is for, by name. */
  async listPlugins(
    location: TenantLocation,
    { signal, ...list }: PluginListOptions & CallOptions = {},
  ): Promise<PluginPage> {
    return this.#send(plugins.listPlugins(tenantSegments(location), list), { signal });
  }

  /** A plugin, and what is live of it. */
  async getPlugin(location: DraftLocation, options?: CallOptions): Promise<Plugin> {
    return this.#send(plugins.getPlugin(pluginSegments(location)), options);
  }

  /** A page of a plugin's versions, the newest first. */
  async listVersions(
    location: DraftLocation,
    { signal, ...list }: PageOptions & CallOptions = {},
  ): Promise<VersionPage> {
    return this.#send(plugins.listVersions(pluginSegments(location), list), { signal });
  }

  /** A version, such as `v1.0.0`, with its source. */
  async getVersion(
    location: DraftLocation,
    version: string,
    options?: CallOptions,
  ): Promise<PluginVersionSource> {
    return this.#send(plugins.getVersion(pluginSegments(location), version), options);
  }

  /** Makes a version the one that runs where none is named; `null`: the newest again, now and after each deploy. */
  async setLive(location: DraftLocation, version: string | null, options?: CallOptions): Promise<Plugin> {
    return this.#send(plugins.setLive(pluginSegments(location), version), options);
  }

  /** A page of a plugin's runs, the newest first. Messages and logs need the permission `runs`. */
  async listRuns(
    location: DraftLocation,
    { signal, ...list }: RunListOptions & CallOptions = {},
  ): Promise<RunPage> {
    return this.#send(plugins.listRuns(pluginSegments(location), list), { signal });
  }

  /** One run, by the id that its answer had as `x-request-id`. */
  async getRun(uuid: string, options?: CallOptions): Promise<PluginRun> {
    return this.#send(plugins.getRun(uuid), options);
  }

  /** What a plugin gets and gives, where its namespace says so. */
  async getTypes(location: DraftLocation, options?: CallOptions): Promise<PluginTypes> {
    return this.#send(plugins.getTypes(pluginSegments(location)), options);
  }

  /** What the token may do, and where. */
  async getSession(options?: CallOptions): Promise<Session> {
    return this.#send(plugins.getSession(), options);
  }

  /** Ends the token: nothing takes it from then on. */
  async endSession(options?: CallOptions): Promise<void> {
    await this.#send(plugins.endSession(), options);
  }

  async #send<T>(operation: Operation<T>, options?: CallOptions, overrides?: SendOptions): Promise<T> {
    return (await this.#sendForResponse(operation, options, overrides)).data;
  }

  async #sendForResponse<T>(
    operation: Operation<T>,
    options?: CallOptions,
    overrides?: SendOptions,
  ): Promise<TextResponse<T>> {
    if (!this.#options.token) throw new TypeError('token must be set: this operation takes an editor token');
    return this.#request(operation, options, overrides);
  }

  /** Sends an operation that takes a token or none. */
  async #request<T>(
    operation: Operation<T>,
    { signal }: CallOptions = {},
    overrides: SendOptions = {},
  ): Promise<TextResponse<T>> {
    const { baseUrl: _, token: __, ...options } = { ...this.#options, ...overrides };
    const token = await this.#token(signal);
    return sendOperation(operation, {
      ...options,
      base: this.#base,
      headers: token ? bearer(token) : {},
      // No cookies: the interface knows tokens only, and a builder then needs no CORS with credentials.
      init: { credentials: 'omit' },
      toError: (response, label, limit) => toHttpError(response, label, limit, token),
      signal,
    });
  }

  async #token(signal: AbortSignal | undefined): Promise<string | undefined> {
    const { token, timeout = DEFAULT_TIMEOUT } = this.#options;
    if (typeof token !== 'function') return token;
    return withTimeLimit(async () => token(), timeout, 'token', signal);
  }
}

function toDraft({ data: source, headers }: TextResponse<PluginSource>): Draft {
  const etag = headers.get('etag');
  return etag ? { source, etag } : { source };
}
