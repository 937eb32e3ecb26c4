import { type PluginSource, pluginSourceSchema } from 'plugin-editor/client.js';
import type { ZodMiniType } from 'zod/mini';
import type { PluginTarget } from '../plugin/target.ts';
import { whileBusy } from './busy.ts';
import {
  type BuildResult,
  type Deployed,
  type Diagnostic,
  type PluginState,
  type Progress,
  type RunOutcome,
  buildResultSchema,
  checkResultSchema,
  deployedSchema,
  pluginSchema,
  progressSchema,
  sessionSchema,
  testResultSchema,
} from './records.ts';
import {
  type ServiceRequest,
  operationUrl,
  parseRecord,
  readText,
  requestJson,
  sendRequest,
} from './request.ts';
import type { TokenHolder } from './token-holder.ts';

export interface BuildRequest {
  lang: string;
  contents: string;
  /** The ETag of the draft that this build may replace, where it is known. */
  etag?: string | undefined;
  /** Whether the service can stream (feature `stream_builds`). */
  stream: boolean;
  onLog: (text: string) => void;
  signal: AbortSignal;
}

/** A build's result, and the ETag of the draft after it, where the service gives one. */
export interface Built {
  result: BuildResult;
  etag: string | undefined;
}

export interface DeployRequest {
  /** What the version is for. */
  message?: string | undefined;
  etag?: string | undefined;
  signal: AbortSignal;
}

const TEXT = 'text/plain; charset=utf-8';

interface RequestBody {
  body?: string | undefined;
  type?: string | undefined;
  headers?: Record<string, string>;
  method?: string;
}

type PostOptions = Pick<ServiceRequest, 'signal' | 'timeout'>;

/** From sending to the last byte of the response, in ms. A build may take ten seconds, and wait for its turn before. */
const BUILD_TIMEOUT = 60_000;
const RUN_TIMEOUT = 30_000;

/**
 * What the service does with one plugin: builds, runs, checks and deploys it. Each method sends one request, and repeats
 * it once when the token has ended; those that only read also wait while the service is busy. They reject with what
 * `requestJson` throws.
 */
export class PluginService {
  readonly #builder: string;
  readonly #segments: readonly string[];
  readonly #tokenHolder: TokenHolder;

  /** `builder` is a base address as `findBuilder` returns it. */
  constructor(builder: string, { ident, namespace, fn }: PluginTarget, tokenHolder: TokenHolder) {
    this.#builder = builder;
    this.#segments = [ident, namespace, fn];
    this.#tokenHolder = tokenHolder;
  }

  /** Builds a source, which also saves it as the draft. */
  async build({ lang, contents, etag, stream, onLog, signal }: BuildRequest): Promise<Built> {
    // The parser of event streams is not part of the first load. Without it, the build is answered in one piece.
    const parser = stream ? await import('./build-stream.ts').catch(() => undefined) : undefined;
    const url = this.#url('build', lang, ...this.#segments);
    const headers = {
      ...(etag ? { 'if-match': etag } : {}),
      ...(parser ? { accept: 'text/event-stream' } : {}),
    };
    const options = { body: contents, headers, signal, timeout: BUILD_TIMEOUT };
    return this.#tokenHolder.use(() =>
      sendRequest(this.#post(url, options), async (response) => {
        const draftEtag = response.headers.get('etag') ?? undefined;
        // A service may answer in one piece although it was asked to stream.
        if (parser && response.headers.get('content-type')?.startsWith('text/event-stream')) {
          return { result: await parser.readBuildStream(response, onLog), etag: draftEtag };
        }
        const result = parseRecord(buildResultSchema, await readText(response), response.label);
        if (result.outputLog) onLog(result.outputLog);
        return { result, etag: draftEtag };
      }),
    );
  }

  /** Runs the plugin as it was built last. */
  async test(payload: string, signal: AbortSignal): Promise<RunOutcome> {
    const url = this.#url('test', ...this.#segments);
    const {
      result,
      error,
      logs = [],
      took,
    } = await this.#send(testResultSchema, url, signal, { body: payload });
    const lines = typeof logs === 'string' ? (logs ? [logs] : []) : logs;
    return { ...(error ? { error } : { result: result ?? '' }), logs: lines, took };
  }

  /**
   * Deploys the draft. Resolves with the new version, or with the newest one where nothing has changed since.
   * @param etag of the draft that is meant, where it is known
   */
  deploy({ message, etag, signal }: DeployRequest): Promise<Deployed> {
    return this.#send(deployedSchema, this.#url('draft', ...this.#segments, 'promote'), signal, {
      ...(message ? { body: JSON.stringify({ message }), type: 'application/json' } : {}),
      ...(etag ? { headers: { 'if-match': etag } } : {}),
    });
  }

  /** What a build of a source would find, without saving it. Not part of the interface: a service may answer 404. */
  async check(lang: string, contents: string, signal: AbortSignal): Promise<Diagnostic[]> {
    const url = this.#url('check', lang, ...this.#segments);
    return (await this.#send(checkResultSchema, url, signal, { body: contents })).diagnostics;
  }

  /** How far the plugin is. Not part of the interface: a service may answer 404. */
  progress(signal: AbortSignal): Promise<Progress> {
    return this.#read(progressSchema, this.#url('progress', ...this.#segments), signal);
  }

  /** What the token permits. Not part of the interface: a service may answer 404. */
  async permissions(signal: AbortSignal): Promise<readonly string[] | undefined> {
    return (await this.#read(sessionSchema, this.#url('session'), signal)).permissions;
  }

  /** Which version is live. Not part of the interface, like all that follows: a service may answer 404. */
  plugin(signal: AbortSignal): Promise<PluginState> {
    return this.#read(pluginSchema, this.#url('plugin', ...this.#segments), signal);
  }

  /**
   * The types of the plugin's input and output, parsed by a schema that the caller gives, because it is no part of the first load.
   */
  types<T>(schema: ZodMiniType<T>, signal: AbortSignal): Promise<T> {
    return this.#read(schema, this.#url('types', ...this.#segments), signal);
  }

  /** A version as it was deployed. */
  version(version: string, signal: AbortSignal): Promise<PluginSource> {
    return this.#read(
      pluginSourceSchema,
      this.#url('plugin', ...this.#segments, 'versions', version),
      signal,
    );
  }

  /** Makes a version live; `null` lets the newest be. */
  async setLive(version: string | null, signal: AbortSignal): Promise<PluginState> {
    const url = this.#url('plugin', ...this.#segments, 'live');
    return this.#send(pluginSchema, url, signal, {
      method: 'PUT',
      body: JSON.stringify({ version }),
      type: 'application/json',
    });
  }

  /**
   * Reads a page of a list, newest first, with a schema that is no part of the first load.
   * @param query a field that is `undefined` is left out
   */
  readList<T>(
    schema: ZodMiniType<T>,
    list: 'versions' | 'runs',
    query: Record<string, string | undefined>,
    signal: AbortSignal,
  ): Promise<T> {
    const given = Object.entries(query).filter((one): one is [string, string] => one[1] !== undefined);
    const search = new URLSearchParams(given).toString();
    return this.#read(
      schema,
      this.#url('plugin', ...this.#segments, list) + (search && `?${search}`),
      signal,
    );
  }

  /** Reads one run, with a schema that is no part of the first load. */
  readRun<T>(schema: ZodMiniType<T>, uuid: string, signal: AbortSignal): Promise<T> {
    return this.#read(schema, this.#url('run', uuid), signal);
  }

  async #read<T>(schema: ZodMiniType<T>, url: string, signal: AbortSignal): Promise<T> {
    const request = () => requestJson(schema, { url, headers: this.#tokenHolder.headers, signal });
    const { data } = await this.#tokenHolder.use(() => whileBusy(request, { signal }));
    return data;
  }

  async #send<T>(
    schema: ZodMiniType<T>,
    url: string,
    signal: AbortSignal,
    body: RequestBody = {},
  ): Promise<T> {
    const { data } = await this.#tokenHolder.use(() =>
      requestJson(schema, this.#post(url, { ...body, signal, timeout: RUN_TIMEOUT })),
    );
    return data;
  }

  /** A POST, or what `method` says, with the present token; a body is sent as text unless `type` says otherwise. */
  #post(
    url: string,
    { body, type = TEXT, headers = {}, method = 'POST', ...options }: RequestBody & PostOptions,
  ): ServiceRequest {
    return {
      url,
      method,
      headers: {
        ...this.#tokenHolder.headers,
        ...headers,
        ...(body === undefined ? {} : { 'content-type': type }),
      },
      ...(body === undefined ? {} : { body }),
      ...options,
    };
  }

  #url(...segments: string[]): string {
    return operationUrl(this.#builder, ...segments);
  }
}
