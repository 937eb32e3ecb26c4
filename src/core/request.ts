import { HttpError, NetworkError, RequestError, SchemaError } from './errors.ts';
import type { Schema, ShapeIssue } from './shapes.ts';
import { parseRetryAfter, retryDelay } from './retry.ts';
import { pause, withTimeLimit } from './time-limit.ts';

/** How all clients send. */
export interface SendOptions {
  /** Another `fetch`, for a proxy or a test. */
  fetch?: typeof fetch | undefined;
  /** For one try, from sending to the last byte of the answer, in ms; default 15000. */
  timeout?: number | undefined;
  /** How often to try again where that can help; default 2, and 0 for never. */
  retry?: number | undefined;
}

/** @internal */
export interface RequestOptions extends SendOptions {
  url: string;
  /** The options of `fetch`. */
  init?: RequestInit | undefined;
  /** Larger answers are refused unread, in bytes; default 8 MiB. */
  maxBytes?: number;
  signal?: AbortSignal | undefined;
}

/** A whole answer. @internal */
export interface Answer<T = undefined> {
  text: string;
  /** What was read out of the text. */
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
 * Sends a request and reads the answer: the one place where this package meets the network.
 * @param parse reads the text; what it throws is not tried again
 * @throws HttpError, TimeoutError, NetworkError, SchemaError (too large), what `parse` throws, or the signal's reason.
 * @internal
 */
export async function request<T = undefined>(
  options: RequestOptions,
  parse?: (text: string) => T,
): Promise<Answer<T>> {
  const { signal, retry = DEFAULT_RETRY } = options;
  for (let attempt = 1; ; attempt++) {
    try {
      const answer = await send(options);
      return { ...answer, data: parse?.(answer.text) as T, attempts: attempt };
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

/** The answer as JSON of the given shape. @internal */
export const requestJson = <T>(schema: Schema<T>, options: RequestOptions): Promise<Answer<T>> =>
  request(options, (text) => {
    const where = whereOf(options);
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      // The parser's own message quotes the text, so it is left out.
      throw new SchemaError(where, 'not JSON');
    }
    return checkShape(schema, value, where);
  });

/**
 * What was given, typed.
 * @throws SchemaError that says where it is wrong, never what was there.
 * @internal
 */
export function checkShape<T>(schema: Schema<T>, value: unknown, where: string): T {
  const { data, error } = schema.safeParse(value);
  if (!error) return data;
  const [issue] = error.issues as [ShapeIssue];
  const problem = issue.code === 'invalid_type' ? `expected ${issue.expected}` : 'not a usable value';
  throw new SchemaError(where, problem, issue.path.join('.'));
}

/** Method and address for messages, without query and fragment, which may say more than a log should hold. @internal */
export const whereOf = ({ url, init }: Pick<RequestOptions, 'url' | 'init'>) =>
  `${init?.method ?? 'GET'} ${url.split(/[?#]/)[0]}`;

/**
 * The header that carries a token.
 * @throws TypeError when no header can hold it; an engine's own error would quote it.
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
}: RequestOptions): Promise<Pick<Answer, 'text' | 'headers'>> {
  const { maxBytes = DEFAULT_MAX_BYTES, fetch = globalThis.fetch } = options;
  const where = whereOf({ url, init });
  const work = async (limited: AbortSignal) => {
    try {
      const response = await fetch(url, { ...init, redirect: 'manual', signal: limited });
      if (response.ok) return { text: await readText(response, maxBytes, where), headers: response.headers };
      throw httpErrorOf(response, where);
    } catch (error) {
      throw error instanceof RequestError ? error : new NetworkError(where, error);
    }
  };
  return withTimeLimit(work, timeout, where, signal);
}

/** The error for an answer whose status is not 2xx. @internal */
export const httpErrorOf = ({ status, headers }: Response, where: string): HttpError =>
  new HttpError(where, status, parseRetryAfter(headers.get('retry-after'), headers.get('date'), Date.now()));

/**
 * The text of a body.
 * @throws SchemaError when it is longer than `maxBytes`.
 * @internal
 */
export async function readText(response: Response, maxBytes: number, where: string): Promise<string> {
  if (!response.body) return '';
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  let size = 0;
  for (let part; !(part = await reader.read()).done;) {
    size += part.value.length;
    if (size > maxBytes) throw new SchemaError(where, `larger than ${maxBytes} bytes`);
    text += decoder.decode(part.value, { stream: true });
  }
  return text + decoder.decode();
}
