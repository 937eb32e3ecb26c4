import { HttpError, NetworkError, RequestError, SchemaError } from './errors.ts';
import type { Schema, ShapeIssue } from './shapes.ts';
import { parseRetryAfter, retryDelay } from './retry.ts';
import { textParts } from './text-parts.ts';
import { pause, withTimeLimit } from './time-limit.ts';

/** The options of all clients for sending requests. */
export interface SendOptions {
  /** Another `fetch`, for a proxy or a test. */
  fetch?: typeof fetch | undefined;
  /** For one try, from sending to the last byte of the response, in ms; default 15000. */
  timeout?: number | undefined;
  /** How often to try again where that can help; default 2, and 0 for never. */
  retry?: number | undefined;
}

/** @internal */
export interface RequestOptions extends SendOptions {
  url: string;
  /** The options of `fetch`. */
  init?: RequestInit | undefined;
  /** The largest response that is taken, in bytes; default 8 MiB. */
  maxBytes?: number;
  signal?: AbortSignal | undefined;
}

/** A response with a status of 2xx, whose body was read to its end. @internal */
export interface TextResponse<T = undefined> {
  text: string;
  /** What was parsed out of the text. */
  data: T;
  headers: Headers;
  /** How many requests were sent for it. */
  attempts: number;
}

/** @internal */
export const DEFAULT_TIMEOUT = 15_000;
const DEFAULT_RETRY = 2;
/** @internal */
export const DEFAULT_MAX_BYTES = 8 * 2 ** 20;

/**
 * Sends a request and reads the response. All requests of this package are sent here.
 * @param parse reads the text; after an error that it throws, the request is not tried again
 * @throws HttpError, TimeoutError, NetworkError, SchemaError (too large), what `parse` throws, or the signal's reason.
 * @internal
 */
export async function request<T = undefined>(
  options: RequestOptions,
  parse?: (text: string) => T,
): Promise<TextResponse<T>> {
  const { signal, retry = DEFAULT_RETRY } = options;
  for (let attempt = 1; ; attempt++) {
    try {
      const response = await send(options);
      return { ...response, data: parse?.(response.text) as T, attempts: attempt };
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      error.attempts = attempt;
      const { status, retryAfter } = error as Partial<HttpError>;
      const delay =
        error instanceof HttpError || error instanceof NetworkError
          ? retryDelay({ attempt, tries: retry + 1, status, retryAfter }, Math.random())
          : undefined;
      if (delay === undefined) throw error;
      await pause(delay, signal);
    }
  }
}

/** Sends a request and reads the response as JSON of this shape. @internal */
export const requestJson = <T>(schema: Schema<T>, options: RequestOptions): Promise<TextResponse<T>> =>
  request(options, (text) => {
    const label = requestLabel(options);
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      // The parser's own message quotes the text, so it is left out.
      throw new SchemaError(label, 'not JSON');
    }
    return checkShape(schema, value, label);
  });

/**
 * Returns a value with its type.
 * @param label what the value came from, for the message
 * @throws SchemaError that says where it is wrong, never what was there.
 * @internal
 */
export function checkShape<T>(schema: Schema<T>, value: unknown, label: string): T {
  const { data, error } = schema.safeParse(value);
  if (!error) return data;
  const [issue] = error.issues as [ShapeIssue];
  const problem = issue.code === 'invalid_type' ? `expected ${issue.expected}` : 'not a usable value';
  throw new SchemaError(label, problem, issue.path.join('.'));
}

/** Names a request in messages: method and address, without query and fragment, which may hold secrets. @internal */
export const requestLabel = ({ url, init }: Pick<RequestOptions, 'url' | 'init'>) =>
  `${init?.method ?? 'GET'} ${url.split(/[?#]/)[0]}`;

/**
 * Makes the header that carries a token.
 * @throws TypeError when no header can hold the token. The engine's own error would quote it.
 * @internal
 */
export function bearer(token: string): { authorization: string } {
  if (!/^[!-~]+$/.test(token)) throw new TypeError('A token must be visible ASCII characters without spaces');
  return { authorization: `Bearer ${token}` };
}

function send({
  url,
  init,
  signal,
  timeout = DEFAULT_TIMEOUT,
  ...options
}: RequestOptions): Promise<Pick<TextResponse, 'text' | 'headers'>> {
  const { maxBytes = DEFAULT_MAX_BYTES, fetch = globalThis.fetch } = options;
  const label = requestLabel({ url, init });
  const work = async (limited: AbortSignal) => {
    try {
      const response = await fetch(url, { ...init, redirect: 'manual', signal: limited });
      if (response.ok) return { text: await readText(response, maxBytes, label), headers: response.headers };
      throw httpErrorOf(response, label);
    } catch (error) {
      throw error instanceof RequestError ? error : new NetworkError(label, error);
    }
  };
  return withTimeLimit(work, timeout, label, signal);
}

/** Makes the error for a response whose status is not 2xx. @internal */
export const httpErrorOf = ({ status, headers }: Response, label: string): HttpError =>
  new HttpError(label, status, parseRetryAfter(headers.get('retry-after'), headers.get('date'), Date.now()));

/**
 * Reads the text of a body.
 * @throws SchemaError when it is longer than `maxBytes`.
 * @internal
 */
export async function readText({ body }: Response, maxBytes: number, label: string): Promise<string> {
  let text = '';
  if (body) for await (const part of textParts(body, maxBytes, label)) text += part;
  return text;
}
