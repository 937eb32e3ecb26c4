import { checkSegment, checkText, DEFAULT_NAMESPACE, httpUrl, joinIdent } from '../url.ts';
import { type Features, type PluginSource, featuresSchema, pluginSourceSchema } from '../records.ts';
import { DEFAULT_TIMEOUT, type Received, type SendOptions } from '../request.ts';
import { withTimeLimit } from '../time-limit.ts';
import { toHttpError } from './error-body.ts';
import {
  type Operation,
  type Segments,
  callBack,
  pathOf,
  preconditions,
  queryOf,
  sendOperation,
} from './operation.ts';
import type { PluginListOptions } from './pages.ts';
import { type CallOptions, PluginClient, type RolloutTerms } from './plugin-client.ts';
import {
  type BuildResult,
  type CheckResult,
  type Deployment,
  type LanguageHelp,
  type PluginPage,
  type Progress,
  type TestResult,
  buildResultSchema,
  checkResultSchema,
  deploymentSchema,
  languageHelpSchema,
  pluginPageSchema,
  progressSchema,
  testResultSchema,
} from './records.ts';

export interface BuilderClientOptions extends SendOptions {
  /** Base address of the builder interface, http or https; a path in it is kept. */
  baseUrl: string;
  /** Editor token, or a function that gives one for each call. All but features and templates need it. */
  token?: string | (() => string | Promise<string>) | undefined;
  /**
   * For one try, from sending to the last byte of the response, in ms. By default 60000 for a build, 30000 for checks, tests
   * and deploys, which may wait for others, and 15000 for all else. Once set, it holds for all.
   */
  timeout?: number | undefined;
  /**
   * How often to try again after a lost connection or a transient status (408, 429, 500, 502, 503, 504); 0 for never. By
   * default 2 for what reads, and 0 for what saves, builds, tests, deploys or changes anything, because it may have been done
   * in spite of the failure. Once set, it holds for all.
   */
  retry?: number | undefined;
}

/** A tenant, whose plugins are asked for. */
export interface TenantLocation {
  /** The vendor's environment. */
  environment: string;
  /** The name of the tenant, which holds no period. */
  userID: string;
}

/** A plugin, and so its draft. */
export interface DraftLocation extends TenantLocation {
  /** Default: `default`. */
  namespace?: string | undefined;
  /** Plugin name. */
  pluginName: string;
}

/** A plugin, and the language that its source is in. */
export interface SourceLocation extends DraftLocation {
  /** The `identifier` of one that the builder knows. */
  language: string;
}

/** A draft as it was read or saved. */
export interface Draft {
  source: PluginSource;
  /** The entity tag of the draft, which changes with each save; missing where the builder sends none. */
  etag?: string;
}

/** The result of a build, and the tag of the draft that it saved, where the builder sends one. */
export type Build = BuildResult & { etag?: string };

/** What an editor asks about a source: a method of the Language Server Protocol, and its parameters without `textDocument`. */
export interface LanguageHelpRequest {
  /** The whole source as it is now. */
  contents: string;
  request: { method: string; params?: object };
}

/** A response to a call that a plugin makes in a test. */
export interface CallMock {
  /** Any by default. */
  method?: string;
  /** The address, or with `*` at its end the beginning of it. */
  url: string;
  /** That of a recorded call: the response is preferred for the very address and body that it had. */
  digest?: string;
  response: {
    /** 200 by default. */
    status?: number;
    headers?: Record<string, string>;
    /** Text, or any JSON. */
    body?: unknown;
  };
}

/** For what waits for its turn where the service has too much to do. */
export interface BusyOptions extends CallOptions {
  /**
   * Called when the service is busy (429, 503), with the time in ms after which the request is sent again. Where it is set,
   * that is done up to 5 times whatever `retry` says, because such a response says that nothing was done. Not called after a
   * response that asks for more than 30 s.
   */
  onBusy?: ((wait: number) => void) | undefined;
}

export interface SaveOptions extends CallOptions {
  /**
   * Saves only if the draft still has this tag, or with `null`, if there is no draft yet; else rejects with an `HttpError` of
   * status 412. By default, any draft is replaced.
   */
  etag?: string | null | undefined;
  /** Lets the request outlive its page, where a browser allows that: not for bodies above some 60 KB. */
  keepalive?: boolean | undefined;
}

export interface BuildOptions extends BusyOptions {
  /** Called with each line of the log as the build writes it, where the builder has the feature `stream_builds`. */
  onLog?: ((line: string) => void) | undefined;
  /** Builds only if the draft still has this tag, or with `null`, if there is none yet; else rejects as `saveDraft` does. */
  etag?: string | null | undefined;
}

export interface SourceTestOptions extends BusyOptions {
  /** The responses to the calls of the plugin, each used once, in order, by what matches. */
  calls?: readonly CallMock[] | undefined;
}

export interface TestOptions extends SourceTestOptions {
  /** Makes the calls of the plugin, without a look at `calls`. Needs the permission `deploy`. */
  real?: boolean | undefined;
}

export interface DeployOptions extends BusyOptions {
  /** What is new in the version, up to 500 characters. */
  message?: string | undefined;
  /** Begins a rollout of the version: a share of the runs by name gets it, and what is live stays live. */
  rollout?: RolloutTerms | undefined;
  /** Deploys only if the draft still has this tag; else rejects with an `HttpError` of status 412. */
  etag?: string | undefined;
}

/** How long what may wait for others may take, in ms, unless the client has a `timeout`. */
const BUILD_TIMEOUT = 60_000;
const TURN_TIMEOUT = 30_000;

/**
 * A client of the builder interface. Before any request, every method rejects with a `TypeError` for a segment that no path
 * can hold. After that, it rejects with `HttpError`, `TimeoutError`, `NetworkError` or `SchemaError`; and with the signal's
 * reason when aborted. Records keep the fields that the interface does not name.
 */
export class BuilderClient extends PluginClient<DraftLocation> {
  #options: BuilderClientOptions;
  #base: URL;

  /** @throws TypeError when `baseUrl` is not an http or https address, or holds a password. */
  constructor(options: BuilderClientOptions) {
    super(pluginSegments, (operation, callOptions) => this.#send(operation, callOptions));
    this.#options = options;
    this.#base = httpUrl('baseUrl', options.baseUrl);
  }

  /** Gets what the builder supports. Needs no token. */
  async getFeatures(options?: CallOptions): Promise<Features> {
    return this.#send({ path: pathOf('v1/features'), schema: featuresSchema }, options, true);
  }

  /** Gets a source for a new plugin. */
  async getTemplate({ language }: { language: string }, options?: CallOptions): Promise<PluginSource> {
    return this.#send(
      { path: pathOf('v1/template', { language }), schema: pluginSourceSchema },
      options,
      true,
    );
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
    const path =
      pathOf('v2/template', { language, pluginName }) +
      queryOf({ namespace: namespace ? checkSegment('namespace', namespace) : undefined });
    return this.#send({ path, schema: pluginSourceSchema }, options, true);
  }

  /** Gets the saved source of a plugin. Where there is none, rejects with an `HttpError`, mostly of status 404. */
  async getDraft(location: DraftLocation, options?: CallOptions): Promise<PluginSource> {
    return (await this.readDraft(location, options)).source;
  }

  /** Gets the saved source of a plugin, with the tag by which {@link saveDraft} replaces this draft and no later one. */
  async readDraft(location: DraftLocation, options?: CallOptions): Promise<Draft> {
    const path = pathOf('v1/draft', pluginSegments(location));
    return toDraft(await this.#receive({ path, schema: pluginSourceSchema }, options));
  }

  /** Saves the source of a plugin, and resolves with what is saved now. */
  async saveDraft(
    location: DraftLocation,
    source: PluginSource,
    { etag, keepalive, ...options }: SaveOptions = {},
  ): Promise<Draft> {
    const operation: Operation<PluginSource> = {
      method: 'POST',
      path: pathOf('v1/draft', pluginSegments(location)),
      json: source,
      headers: preconditions(etag),
      schema: pluginSourceSchema,
      keepalive,
    };
    return toDraft(await this.#receive(operation, options));
  }

  /**
   * Saves the source as the draft, which keeps its tests, and builds it. Also resolves when the build fails: see `succeeded`.
   * An error that `onLog` throws rejects the call and ends the request; a build that has begun goes on.
   */
  async build(
    location: SourceLocation,
    source: string,
    { onLog, etag, ...options }: BuildOptions = {},
  ): Promise<Build> {
    const operation: Operation<BuildResult> = {
      method: 'POST',
      path: pathOf('v1/build', sourceSegments(location)),
      text: checkText('source', source),
      headers: { ...preconditions(etag), ...(onLog && { accept: 'text/event-stream' }) },
      schema: buildResultSchema,
      events: {
        last: 'result',
        onEvent: ({ type, data }) => {
          if (type === 'log') callBack(onLog, data);
        },
      },
      timeout: BUILD_TIMEOUT,
    };
    const { data, headers } = await this.#receive(operation, options);
    return withEtag(data, headers);
  }

  /** Gets what a build of a source would find. Saves nothing, and nothing can be deployed by it. */
  async checkSource(location: SourceLocation, source: string, options?: CallOptions): Promise<CheckResult> {
    return this.#send(
      {
        method: 'POST',
        path: pathOf('v1/check', sourceSegments(location)),
        text: checkText('source', source),
        schema: checkResultSchema,
        timeout: TURN_TIMEOUT,
      },
      options,
    );
  }

  /** Gets help with writing a source, such as completions. The result is as the Language Server Protocol defines it. */
  async helpWithSource(
    location: SourceLocation,
    request: LanguageHelpRequest,
    options?: CallOptions,
  ): Promise<LanguageHelp> {
    return this.#send(
      {
        method: 'POST',
        path: pathOf('v1/language-help', sourceSegments(location)),
        json: request,
        schema: languageHelpSchema,
      },
      options,
    );
  }

  /**
   * Runs the draft as it is saved, which must be built. Also resolves when the plugin fails: see `error`. Its calls are answered from
   * `calls`, or made with `real: true`, which needs the permission `deploy`.
   */
  async test(
    location: DraftLocation,
    payload: string,
    { calls, real, ...options }: TestOptions = {},
  ): Promise<TestResult> {
    const text = checkText('payload', payload);
    return this.#send(
      {
        method: 'POST',
        path: pathOf('v1/test', pluginSegments(location)) + queryOf({ calls: real ? 'real' : undefined }),
        ...(calls && !real
          ? {
              json: { payload: text, calls },
              headers: { 'content-type': 'application/vnd.plugin-editor.test+json' },
            }
          : { text }),
        schema: testResultSchema,
        timeout: TURN_TIMEOUT,
      },
      options,
    );
  }

  /**
   * Builds a source and runs it. Saves nothing, and nothing can be deployed by it. Also resolves when the plugin fails; where the
   * source does not build, rejects with an `HttpError` of status 409.
   */
  async testSource(
    location: SourceLocation,
    source: string,
    payload: string,
    { calls, ...options }: SourceTestOptions = {},
  ): Promise<TestResult> {
    return this.#send(
      {
        method: 'POST',
        path: pathOf('v1/test', sourceSegments(location)),
        json: { contents: checkText('source', source), payload: checkText('payload', payload), calls },
        schema: testResultSchema,
        timeout: TURN_TIMEOUT,
      },
      options,
    );
  }

  /** Makes the built draft the next version, unless it is what was deployed last: see `unchanged`. */
  async deploy(
    location: DraftLocation,
    { message, rollout, etag, ...options }: DeployOptions = {},
  ): Promise<Deployment> {
    return this.#send(
      {
        method: 'POST',
        path: pathOf('v1/draft', pluginSegments(location), 'promote'),
        json: message === undefined && !rollout ? undefined : { message, rollout },
        headers: preconditions(etag),
        schema: deploymentSchema,
        timeout: TURN_TIMEOUT,
      },
      options,
    );
  }

  /** Gets whether the draft is built, and whether the newest version was made of it. */
  async getProgress(location: DraftLocation, options?: CallOptions): Promise<Progress> {
    const path = pathOf('v1/progress', pluginSegments(location));
    return this.#send({ path, schema: progressSchema }, options);
  }

  /** Lists a tenant's plugins by name, as far as the token is for them, and resolves with one page of them. */
  async listPlugins(
    location: TenantLocation,
    { signal, ...list }: PluginListOptions & CallOptions = {},
  ): Promise<PluginPage> {
    const path = pathOf('v1/tenant', tenantSegments(location), 'plugins') + queryOf(list);
    return this.#send({ path, schema: pluginPageSchema }, { signal });
  }

  /** Ends the token, which is refused from then on. */
  async endSession(options?: CallOptions): Promise<void> {
    await this.#send({ method: 'DELETE', path: pathOf('v1/session') }, options);
  }

  async #send<T>(operation: Operation<T>, options?: BusyOptions, isPublic?: boolean): Promise<T> {
    return (await this.#receive(operation, options, isPublic)).data;
  }

  async #receive<T>(
    operation: Operation<T>,
    { signal, onBusy }: BusyOptions = {},
    isPublic?: boolean,
  ): Promise<Received<T>> {
    const { token: given, timeout = DEFAULT_TIMEOUT } = this.#options;
    if (!isPublic && !given) throw new TypeError('token must be set: this operation takes an editor token');
    // A function that gives a token has as long as a request.
    const token =
      typeof given === 'function'
        ? await withTimeLimit(async () => given(), timeout, 'token', signal)
        : given;
    return sendOperation(operation, {
      ...this.#options,
      base: this.#base,
      token,
      signal,
      onBusy,
      // No cookies: the interface knows tokens only, and a builder then needs no CORS with credentials.
      credentials: 'omit',
      toError: (response, label, limited) => toHttpError(response, label, limited, token),
    });
  }
}

const toDraft = ({ data: source, headers }: Received<PluginSource>): Draft => withEtag({ source }, headers);

/** Adds the entity tag of a draft, where the response has one. */
function withEtag<T extends object>(result: T, headers: Headers): T & { etag?: string } {
  const etag = headers.get('etag');
  return etag ? { ...result, etag } : result;
}

/**
 * Makes the segment that names a tenant in a path: its ident.
 * @throws TypeError that names the part that no path can hold.
 */
function tenantSegments({ environment, userID }: TenantLocation): Segments {
  checkSegment('environment', environment);
  checkSegment('userID', userID);
  return { ident: joinIdent({ environment, tenant: userID }) };
}

/**
 * Makes the segments that name a plugin in a path: ident, namespace and name.
 * @throws TypeError that names `environment` or `userID`, if no path can hold it. The others are checked by `encodedPath`.
 */
const pluginSegments = ({
  namespace = DEFAULT_NAMESPACE,
  pluginName,
  ...tenant
}: DraftLocation): Segments => ({ ...tenantSegments(tenant), namespace, pluginName });

/** Makes the segments that name a source in a path: language, ident, namespace and name. */
const sourceSegments = ({ language, ...location }: SourceLocation): Segments => ({
  language,
  ...pluginSegments(location),
});
