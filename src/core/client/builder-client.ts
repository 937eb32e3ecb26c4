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
  /**
   * Editor token, or a function that returns one and is called for each call, within `timeout`. Only `getFeatures` and the templates
   * need none.
   */
  token?: string | (() => string | Promise<string>) | undefined;
  /**
   * For one try, from sending to the last byte of the response, in ms. By default 600000 for a replay, 60000 for a build, 30000 for
   * checks, tests and deploys, which may wait for their turn, and 15000 for all else. Once set, it holds for all.
   */
  timeout?: number | undefined;
  /**
   * How often to try again after a lost connection or a transient status (408, 429, 500, 502, 503, 504); 0 for never. By
   * default 2 for reads, and 0 for all else, because the service may have done it in spite of the failure. Once set, it holds
   * for all.
   */
  retry?: number | undefined;
}

/** A tenant. */
export interface TenantLocation {
  /** The vendor's environment. */
  environment: string;
  /** The name of the tenant, which holds no period. */
  userID: string;
}

/** A plugin. */
export interface DraftLocation extends TenantLocation {
  /** Default: `default`. */
  namespace?: string | undefined;
  /** Plugin name. */
  pluginName: string;
}

/** A plugin, and the language of its source. */
export interface SourceLocation extends DraftLocation {
  /** The `identifier` of a language in the features record. */
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

/** A source, and a method of the Language Server Protocol with its parameters, without `textDocument`. */
export interface LanguageHelpRequest {
  /** The whole source as it is now. */
  contents: string;
  request: { method: string; params?: object };
}

/** A response to a call that a plugin makes in a test. */
export interface CallMock {
  /** By default any method. */
  method?: string;
  /** The address of the call; one that ends with `*` is the beginning of an address. */
  url: string;
  /** The `digest` of a recorded call: a call with the same address and body gets this response first. */
  digest?: string;
  response: {
    /** 200 by default. */
    status?: number;
    headers?: Record<string, string>;
    /** Text, or any JSON. */
    body?: unknown;
  };
}

/** For calls that may have to wait for a busy service. */
export interface BusyOptions extends CallOptions {
  /**
   * Called when the service is busy (429, 503), with the time in ms until the request is sent again. If it is set, a request is
   * sent again up to 5 times, whatever `retry` says, because a busy service has done nothing. A response that asks for a wait of
   * more than 30 s rejects the call instead.
   */
  onBusy?: ((wait: number) => void) | undefined;
}

export interface SaveOptions extends CallOptions {
  /**
   * Saves only if the draft still has this tag; with `null`, only if there is no draft yet. Otherwise rejects with an `HttpError`
   * of status 412. By default replaces any draft.
   */
  etag?: string | null | undefined;
  /** Lets the request outlive its page. Has no effect on bodies of 60 KB or more. */
  keepalive?: boolean | undefined;
}

export interface BuildOptions extends BusyOptions {
  /** Called with each line of the log as the build writes it, if the builder has the feature `stream_builds`. */
  onLog?: ((line: string) => void) | undefined;
  /** Builds only if the draft still has this tag; with `null`, only if there is no draft yet. Otherwise rejects as `saveDraft`. */
  etag?: string | null | undefined;
}

export interface SourceTestOptions extends BusyOptions {
  /**
   * The responses to the calls of the plugin, at most 100. Each is used once: a call gets the first unused one that matches. A call
   * without one rejects with `call-not-mocked`.
   */
  calls?: readonly CallMock[] | undefined;
}

export interface TestOptions extends SourceTestOptions {
  /** Makes the calls of the plugin, and ignores `calls`. Needs the permission `deploy`. */
  real?: boolean | undefined;
}

export interface DeployOptions extends BusyOptions {
  /** What is new in the version, up to 500 characters. */
  message?: string | undefined;
  /** Starts a rollout of the version: a share of the runs gets it, and what is live stays live. */
  rollout?: RolloutTerms | undefined;
  /** Deploys only if the draft still has this tag. Otherwise rejects with an `HttpError` of status 412. */
  etag?: string | undefined;
}

/** How long what may wait for others may take, in ms, unless the client has a `timeout`. */
const BUILD_TIMEOUT = 60_000;
const TURN_TIMEOUT = 30_000;

/**
 * A client of the builder interface. Before any request, every method rejects with a `TypeError` for arguments that cannot be
 * sent, and if it needs a `token` and has none. After that, it rejects with `HttpError`, `TimeoutError`, `NetworkError` or
 * `SchemaError`; with the signal's reason when aborted; and with what the function `token` threw. Records keep the fields that
 * are not named here.
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

  /** Gets the template of a language: a source for a new plugin. */
  async getTemplate({ language }: { language: string }, options?: CallOptions): Promise<PluginSource> {
    return this.#send(
      { path: pathOf('v1/template', { language }), schema: pluginSourceSchema },
      options,
      true,
    );
  }

  /** Gets the template of a language with the plugin's name and, with a token, the types of its namespace. */
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

  /** Gets the draft of a plugin: its saved source. If there is none, rejects with an `HttpError`, usually of status 404. */
  async getDraft(location: DraftLocation, options?: CallOptions): Promise<PluginSource> {
    return (await this.readDraft(location, options)).source;
  }

  /** Gets the draft of a plugin with its tag: with the tag, {@link saveDraft} replaces this draft and no later one. */
  async readDraft(location: DraftLocation, options?: CallOptions): Promise<Draft> {
    const path = pathOf('v1/draft', pluginSegments(location));
    return toDraft(await this.#receive({ path, schema: pluginSourceSchema }, options));
  }

  /** Saves the source of a plugin, and resolves with the saved draft. */
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
   * An error that `onLog` throws rejects the call and ends the request, but not the build.
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

  /** Gets the errors and warnings that a build of the source would have. Saves nothing, and nothing can be deployed from it. */
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

  /** Gets language help, such as completions. The result is what the Language Server Protocol defines for the method. */
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
   * Runs the saved draft, which must have a successful build: otherwise rejects with an `HttpError` of status 409. Also resolves when
   * the plugin fails: see `error`. Its calls get the responses in `calls`; with `real: true` they are made.
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
   * Builds a source and runs it. Saves nothing, and the build cannot be deployed. Also resolves when the plugin fails: see `error`. If
   * the source does not build, rejects with an `HttpError` of status 409.
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

  /**
   * Deploys the draft: makes it the next version, unless it is the same as the newest one, see `unchanged`. Without a successful build,
   * rejects with an `HttpError` of status 409.
   */
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

  /** Gets whether the draft is built, and whether the newest version is the same. */
  async getProgress(location: DraftLocation, options?: CallOptions): Promise<Progress> {
    const path = pathOf('v1/progress', pluginSegments(location));
    return this.#send({ path, schema: progressSchema }, options);
  }

  /** Lists the plugins of a tenant that the token is for, by namespace and name, and resolves with one page of them. */
  async listPlugins(
    location: TenantLocation,
    { signal, ...list }: PluginListOptions & CallOptions = {},
  ): Promise<PluginPage> {
    const path = pathOf('v1/tenant', tenantSegments(location), 'plugins') + queryOf(list);
    return this.#send({ path, schema: pluginPageSchema }, { signal });
  }

  /** Ends the token of the client: the service refuses it from then on. */
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
