import type { ZodMiniType } from 'zod/mini';
import type { PluginTarget } from '../plugin/target.ts';
import { whileBusy } from './busy.ts';
import {
  type BuildResult,
  type Deployed,
  type Diagnostic,
  type Progress,
  type TestAnswer,
  buildResultSchema,
  checkResultSchema,
  deployedSchema,
  progressSchema,
  testAnswerSchema,
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
  /** The state of the draft that this build may replace, where it is known. */
  etag?: string | undefined;
  /** Whether the builder can stream (feature `stream_builds`). */
  stream: boolean;
  onLog: (text: string) => void;
  signal: AbortSignal;
}

/** A build's outcome, and the draft's state after it, where the builder says that. */
export interface Built {
  result: BuildResult;
  etag: string | undefined;
}

/** From sending to the last byte, in ms: a build's ten seconds, and what it may wait for its turn. */
const BUILD_TIMEOUT = 60_000;
const RUN_TIMEOUT = 30_000;

/**
 * What the service does with one plugin: builds, runs, checks and deploys it. Each method sends one request, and repeats
 * it once when the token has ended; `progress` also waits while the service is busy. They reject with what `requestJson`
 * throws.
 */
export class PluginService {
  readonly #builder: string;
  readonly #place: readonly string[];
  readonly #tokenHolder: TokenHolder;

  /** `builder` is a base address as `findBuilder` returns it. */
  constructor(builder: string, { ident, namespace, fn }: PluginTarget, tokenHolder: TokenHolder) {
    this.#builder = builder;
    this.#place = [ident, namespace, fn];
    this.#tokenHolder = tokenHolder;
  }

  /** Builds a source, which also saves it as the draft. */
  async build({ lang, contents, etag, stream, onLog, signal }: BuildRequest): Promise<Built> {
    // The parser of event streams is not part of the first load. Without it, the build is answered in one piece.
    const parser = stream ? await import('./build-stream.ts').catch(() => undefined) : undefined;
    const url = this.#url('build', lang, ...this.#place);
    const headers = {
      ...(etag ? { 'if-match': etag } : {}),
      ...(parser ? { accept: 'text/event-stream' } : {}),
    };
    const options = { body: contents, headers, signal, timeout: BUILD_TIMEOUT };
    return this.#tokenHolder.use(() =>
      sendRequest(this.#post(url, options), async (answer) => {
        const state = answer.headers.get('etag') ?? undefined;
        // A service may answer in one piece although it was asked to stream.
        if (parser && answer.headers.get('content-type')?.startsWith('text/event-stream')) {
          return { result: await parser.readBuildStream(answer, onLog), etag: state };
        }
        const result = parseRecord(buildResultSchema, await readText(answer), answer.where);
        if (result.outputLog) onLog(result.outputLog);
        return { result, etag: state };
      }),
    );
  }

  /** Runs the plugin as it was built last. */
  async test(payload: string, signal: AbortSignal): Promise<TestAnswer> {
    const url = this.#url('test', ...this.#place);
    const { result, error, logs = [] } = await this.#ask(testAnswerSchema, url, signal, payload);
    const lines = typeof logs === 'string' ? (logs ? [logs] : []) : logs;
    return error ? { error, logs: lines } : { result: result ?? '', logs: lines };
  }

  /** Deploys the draft. Resolves with the new version, or with the newest one where nothing has changed since. */
  deploy(signal: AbortSignal): Promise<Deployed> {
    return this.#ask(deployedSchema, this.#url('draft', ...this.#place, 'promote'), signal);
  }

  /** What a build of a source would find, without saving it. Not part of the interface: a builder may answer 404. */
  async check(lang: string, contents: string, signal: AbortSignal): Promise<Diagnostic[]> {
    const url = this.#url('check', lang, ...this.#place);
    return (await this.#ask(checkResultSchema, url, signal, contents)).diagnostics;
  }

  /** How far the plugin is. Not part of the interface: a builder may answer 404. */
  async progress(signal: AbortSignal): Promise<Progress> {
    const url = this.#url('progress', ...this.#place);
    const request = () => requestJson(progressSchema, { url, headers: this.#tokenHolder.headers, signal });
    const { data } = await this.#tokenHolder.use(() => whileBusy(request, { signal }));
    return data;
  }

  async #ask<T>(schema: ZodMiniType<T>, url: string, signal: AbortSignal, body?: string): Promise<T> {
    const { data } = await this.#tokenHolder.use(() =>
      requestJson(schema, this.#post(url, { body, headers: {}, signal, timeout: RUN_TIMEOUT })),
    );
    return data;
  }

  /** A POST with the present token; a body is sent as text. */
  #post(
    url: string,
    { body, headers, ...options }: Omit<ServiceRequest, 'url' | 'body'> & { body: string | undefined },
  ): ServiceRequest {
    const type = { 'content-type': 'text/plain; charset=utf-8' };
    return {
      url,
      method: 'POST',
      headers: { ...this.#tokenHolder.headers, ...headers, ...(body === undefined ? {} : type) },
      ...(body === undefined ? {} : { body }),
      ...options,
    };
  }

  #url(...segments: string[]): string {
    return operationUrl(this.#builder, ...segments);
  }
}
