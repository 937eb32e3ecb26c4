import { baseOf, checkSegment, httpUrl } from './address.ts';
import { DEFAULT_NAMESPACE } from './editor-url.ts';
import { joinIdent } from './ident.ts';
import { type Features, type PluginSource, featuresSchema, pluginSourceSchema } from './records.ts';
import { DEFAULT_TIMEOUT, type SendOptions, bearer, requestJson } from './request.ts';
import { withTimeLimit } from './time-limit.ts';
import type * as z from 'zod/mini';

export interface BuilderClientOptions extends SendOptions {
  /** Base address of the builder interface, http or https; a path in it is kept. */
  baseUrl: string;
  /** Editor token, or a function that gives one for each call. Drafts need it; elsewhere it is sent when there is one. */
  token?: string | (() => string | Promise<string>) | undefined;
}

/** Where a draft lies (interface: Get draft). */
export interface DraftLocation {
  /** The vendor's environment. */
  environment: string;
  /** The vendor's user, also called tenant; holds no period. */
  userID: string;
  /** Default: `default`. */
  namespace?: string | undefined;
  /** Plugin name. */
  pluginName: string;
}

export interface CallOptions {
  /** Ends the call, which then rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
}

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

  /** The saved source of a plugin (interface: Get draft). A draft that does not exist is an `HttpError`, mostly 404. */
  async getDraft(
    { environment, userID, namespace = DEFAULT_NAMESPACE, pluginName }: DraftLocation,
    options?: CallOptions,
  ): Promise<PluginSource> {
    if (!this.#options.token) throw new TypeError('token must be set: drafts are read with an editor token');
    checkSegment('environment', environment);
    checkSegment('userID', userID);
    const ident = joinIdent({ environment, tenant: userID });
    return this.#get(pluginSourceSchema, 'v1/draft', { ident, namespace, pluginName }, options);
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
    const query = namespace ? `?namespace=${encodeURIComponent(checkSegment('namespace', namespace))}` : '';
    return this.#get(pluginSourceSchema, 'v2/template', { language, pluginName }, options, query);
  }

  /** Source for a new plugin (interface: Get template). */
  async getTemplate({ language }: { language: string }, options?: CallOptions): Promise<PluginSource> {
    return this.#get(pluginSourceSchema, 'v1/template', { language }, options);
  }

  /** What the builder supports (interface: Get features). */
  async getFeatures(options?: CallOptions): Promise<Features> {
    return this.#get(featuresSchema, 'v1/features', {}, options);
  }

  async #get<T>(
    schema: z.ZodMiniType<T>,
    operation: string,
    segments: Record<string, string>,
    { signal }: CallOptions = {},
    query = '',
  ): Promise<T> {
    const path = Object.entries(segments).map(
      ([name, value]) => '/' + encodeURIComponent(checkSegment(name, value)),
    );
    const token = await this.#token(signal);
    const { data } = await requestJson(schema, {
      ...this.#options,
      url: `${baseOf(this.#base)}/api/${operation}${path.join('')}${query}`,
      // No cookies: the interface knows tokens only, and a builder then needs no CORS with credentials.
      init: { credentials: 'omit', headers: token ? bearer(token) : {} },
      signal,
    });
    return data;
  }

  async #token(signal: AbortSignal | undefined): Promise<string | undefined> {
    const { token, timeout = DEFAULT_TIMEOUT } = this.#options;
    if (typeof token !== 'function') return token;
    return withTimeLimit(async () => token(), timeout, 'token', signal);
  }
}
