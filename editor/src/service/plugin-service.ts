import { segmentsUrl } from '../../../src/core/address.ts';
import {
  HttpError,
  NetworkError,
  RequestError,
  SchemaError,
  TimeoutError,
} from '../../../src/core/errors.ts';
import { bearer, checkShape, requestJson } from '../../../src/core/request.ts';
import { parseRetryAfter } from '../../../src/core/retry.ts';
import type { Schema } from '../../../src/core/shapes.ts';
import type { Access } from '../shell/access.ts';
import type { PluginTarget } from '../shell/address.ts';
import { readBuildStream } from './build-stream.ts';
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

/** From sending to the last byte: a build's ten seconds, and what it may wait for its turn, in ms. */
const BUILD_TIMEOUT = 60_000;
const RUN_TIMEOUT = 30_000;

/** What a build may answer at the most with all it logs, in bytes: as much as other requests may. */
const LARGEST_BUILD = 8 * 2 ** 20;

type Bytes = Uint8Array<ArrayBuffer>;

/**
 * What a builder does with one plugin: builds, runs, checks and deploys it. Each call is one request, but for a token that
 * has ended; whether to try again is the caller's business. They throw what `requestJson` throws, and the signal's reason.
 */
export class PluginService {
  readonly #builder: URL;
  readonly #place: readonly string[];
  readonly #access: Access;

  constructor(builder: string, { ident, namespace, fn }: PluginTarget, access: Access) {
    this.#builder = new URL(builder);
    this.#place = [ident, namespace, fn];
    this.#access = access;
  }

  /** Builds a source, and with it saves it as the draft. */
  build(request: BuildRequest): Promise<Built> {
    return this.#access.use(() => this.#build(request));
  }

  async #build({ lang, contents, etag, stream, onLog, signal }: BuildRequest): Promise<Built> {
    const url = this.#url('build', lang, ...this.#place);
    const init = this.#init(contents, {
      ...(etag ? { 'if-match': etag } : {}),
      ...(stream ? { accept: 'text/event-stream' } : {}),
    });
    const limited = AbortSignal.any([signal, AbortSignal.timeout(BUILD_TIMEOUT)]);
    const where = `POST ${url}`;
    try {
      const response = await fetch(url, { ...init, signal: limited, redirect: 'manual' });
      const { headers, status, ok } = response;
      if (!ok) {
        const wait = parseRetryAfter(headers.get('retry-after'), headers.get('date'), Date.now());
        throw new HttpError(where, status, wait);
      }
      const body = response.body?.pipeThrough(upTo(LARGEST_BUILD, where));
      // A builder may answer at once all the same.
      const streamed = headers.get('content-type')?.startsWith('text/event-stream') && body;
      const result = streamed
        ? await readBuildStream(body, onLog, where)
        : checkShape(buildResultSchema, await readJson(body), where);
      if (!streamed && result.outputLog) onLog(result.outputLog);
      return { result, etag: headers.get('etag') ?? undefined };
    } catch (error) {
      if (signal.aborted) throw signal.reason as Error;
      if (limited.aborted) throw new TimeoutError(where, BUILD_TIMEOUT);
      throw error instanceof RequestError ? error : new NetworkError(where, error);
    }
  }

  /** Runs the plugin as it was built last. */
  async test(payload: string, signal: AbortSignal): Promise<TestAnswer> {
    const url = this.#url('test', ...this.#place);
    const {
      result,
      error,
      logs = [],
    } = await this.#post(testAnswerSchema, url, payload, signal, RUN_TIMEOUT);
    const lines = typeof logs === 'string' ? (logs ? [logs] : []) : logs;
    return error ? { error, logs: lines } : { result: result ?? '', logs: lines };
  }

  /** Deploys the draft; answers with the new version, or with the newest where nothing changed since. */
  deploy(signal: AbortSignal): Promise<Deployed> {
    const url = this.#url('draft', ...this.#place, 'promote');
    return this.#post(deployedSchema, url, undefined, signal, RUN_TIMEOUT);
  }

  /** What a build of a source would find, saving nothing. Not of the interface: a builder may answer 404. */
  async check(lang: string, contents: string, signal: AbortSignal): Promise<Diagnostic[]> {
    const url = this.#url('check', lang, ...this.#place);
    return (await this.#post(checkResultSchema, url, contents, signal, RUN_TIMEOUT)).diagnostics;
  }

  /** How far the plugin is. Not of the interface: a builder may answer 404. */
  async progress(signal: AbortSignal): Promise<Progress> {
    const { data } = await this.#access.use(() =>
      requestJson(progressSchema, {
        url: this.#url('progress', ...this.#place),
        init: { headers: bearer(this.#access.token), credentials: 'omit', cache: 'no-store' },
        signal,
      }),
    );
    return data;
  }

  async #post<T>(
    schema: Schema<T>,
    url: string,
    body: string | undefined,
    signal: AbortSignal,
    timeout: number,
  ): Promise<T> {
    const { data } = await this.#access.use(() =>
      requestJson(schema, { url, init: this.#init(body), signal, timeout, retry: 0 }),
    );
    return data;
  }

  #url(...segments: string[]): string {
    return segmentsUrl(this.#builder, ['api', 'v1', ...segments]);
  }

  #init(body: string | undefined, headers: Record<string, string> = {}) {
    const type = body === undefined ? {} : { 'content-type': 'text/plain; charset=utf-8' };
    return {
      method: 'POST',
      headers: { ...bearer(this.#access.token), ...type, ...headers },
      credentials: 'omit',
      cache: 'no-store',
      ...(body === undefined ? {} : { body }),
    } as const;
  }
}

/** Passes on what is no larger than that; what is comes to an end, so that no answer fills the memory. */
function upTo(limit: number, where: string): TransformStream<Bytes, Bytes> {
  let size = 0;
  return new TransformStream({
    transform(chunk, controller) {
      size += chunk.length;
      if (size > limit) controller.error(new SchemaError(where, `larger than ${limit} bytes`));
      else controller.enqueue(chunk);
    },
  });
}

async function readJson(body: ReadableStream<Bytes> | undefined): Promise<unknown> {
  let text = '';
  // Not by way of a `Response`, which in Chromium hides what ended the body.
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  for (let part; (part = await reader?.read()) && !part.done;) text += part.value;
  try {
    return JSON.parse(text);
  } catch {
    // Left to the schema, which says what was expected.
    return undefined;
  }
}
