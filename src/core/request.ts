import { HttpError, NetworkError, RequestError, SchemaError } from './errors.ts';
import { parseRetryAfter, retryDelay } from './retry.ts';
import { pause, withTimeLimit } from './time-limit.ts';

/** The options of all clients for sending requests. */
export interface SendOptions {
  /** Used instead of the global `fetch`, such as for a proxy or a test. */
  fetch?: typeof fetch | undefined;
  /** For one try, from sending to the last byte of the response, in ms; default 15000. */
  timeout?: number | undefined;
  /** How often to try again after a lost connection or a transient status (408, 429, 500, 502, 503, 504); default 2, 0 for never. */
  retry?: number | undefined;
}

/** Makes the error for a response whose status is not 2xx. `label` names the request. @internal */
export type ToError = (response: Response, label: string, signal?: AbortSignal) => Promise<HttpError>;

/** Reads a response with a status of 2xx. `label` names the request. @internal */
export type ReadResponse<T> = (response: Response, label: string) => Promise<T>;

/** @internal */
export interface RequestOptions extends SendOptions {
  url: string;
  /** The options of `fetch`. */
  init?: RequestInit | undefined;
  signal?: AbortSignal | undefined;
  /** By default, the error has only the status, and the body is not read. */
  toError?: ToError | undefined;
  /** For how long there may be tries, in ms; default: without end. */
  tryFor?: number | undefined;
  /** As `BusyOptions.onBusy` in builder-client.ts. */
  onBusy?: ((wait: number) => void) | undefined;
}

/** What was read out of a response with a status of 2xx. @internal */
export interface Received<T> {
  data: T;
  headers: Headers;
}

/**
 * What a function of the caller's threw while a response was read. It reaches the caller unchanged, and ends the request, which is
 * not tried again.
 * @internal
 */
export class CallerError {
  readonly reason: unknown;

  constructor(reason: unknown) {
    this.reason = reason;
  }
}

/** @internal */
export const DEFAULT_TIMEOUT = 15_000;
const DEFAULT_RETRY = 2;
/** How often to try again after a response that says that the service is busy, where the caller waits for that. */
const BUSY_RETRY = 5;
/** @internal */
export const DEFAULT_MAX_BYTES = 8 * 2 ** 20;

/**
 * Sends a request and reads the response. All requests of this package are sent here.
 * @throws HttpError, TimeoutError, NetworkError, the `RequestError` that `read` throws, which is not tried again, the reason of the
 * `CallerError` that it throws, or the signal's reason.
 * @internal
 */
export async function request<T>(options: RequestOptions, read: ReadResponse<T>): Promise<Received<T>> {
  const { signal, retry = DEFAULT_RETRY, tryFor = Infinity, onBusy } = options;
  const end = performance.now() + tryFor;
  for (let attempt = 1; ; attempt++) {
    const timeout = Math.min(options.timeout ?? DEFAULT_TIMEOUT, Math.ceil(end - performance.now()));
    try {
      return await send({ ...options, timeout }, read);
    } catch (error) {
      if (error instanceof CallerError) throw error.reason;
      if (!(error instanceof RequestError)) throw error;
      error.attempts = attempt;
      const { status, retryAfter } = error as Partial<HttpError>;
      const waitsForTurn = onBusy && (status === 429 || status === 503);
      const tries = 1 + (waitsForTurn ? BUSY_RETRY : retry);
      const delay =
        error instanceof HttpError || error instanceof NetworkError
          ? retryDelay({ attempt, tries, status, retryAfter }, Math.random())
          : undefined;
      if (delay === undefined || performance.now() + delay > end) throw error;
      if (waitsForTurn) onBusy(delay);
      await pause(delay, signal);
    }
  }
}

/**
 * Makes the header that carries a token.
 * @throws TypeError when no header can hold the token. The engine's own error would quote it.
 * @internal
 */
export function bearer(token: string): { authorization: string } {
  if (!/^[!-~]+$/.test(token)) throw new TypeError('A token must be visible ASCII characters without spaces');
  return { authorization: `Bearer ${token}` };
}

function send<T>(options: RequestOptions, read: ReadResponse<T>): Promise<Received<T>> {
  const { url, init, signal, timeout = DEFAULT_TIMEOUT, fetch = globalThis.fetch, toError } = options;
  // Without query and fragment, which may hold secrets.
  const label = `${init?.method ?? 'GET'} ${url.split(/[?#]/)[0]}`;
  const work = async (limited: AbortSignal) => {
    try {
      const response = await fetch(url, { ...init, redirect: 'manual', signal: limited });
      if (response.ok) return { data: await read(response, label), headers: response.headers };
      throw toError ? await toError(response, label, limited) : httpErrorOf(response, label);
    } catch (error) {
      throw error instanceof RequestError || error instanceof CallerError
        ? error
        : new NetworkError(label, error);
    }
  };
  return withTimeLimit(work, timeout, label, signal);
}

/** Makes the error for a response whose status is not 2xx. @internal */
export const httpErrorOf = ({ status, headers }: Response, label: string): HttpError =>
  new HttpError(label, status, parseRetryAfter(headers.get('retry-after'), headers.get('date'), Date.now()));

/**
 * Makes a function that reads a response of JSON.
 * @param parse checks the value; throws a `SchemaError` that says where it is wrong, never what was there
 * @internal
 */
export const readJson =
  <T>(parse: (value: unknown, label: string) => T, maxBytes?: number): ReadResponse<T> =>
  async (response, label) =>
    parse(parseJson(await readText(response, label, maxBytes), label), label);

/** @throws SchemaError without the parser's own message, which quotes the text. @internal */
export function parseJson(text: string, label: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new SchemaError(label, 'not JSON');
  }
}

/**
 * Reads the text of a body.
 * @throws SchemaError when it is longer than `maxBytes`.
 * @internal
 */
export async function readText(
  { body }: Response,
  label: string,
  maxBytes = DEFAULT_MAX_BYTES,
): Promise<string> {
  let text = '';
  if (body) for await (const chunk of readTextChunks(body, maxBytes, label)) text += chunk;
  return text;
}

/**
 * Reads a body as text, chunk by chunk as it arrives. The body is cancelled when whoever reads stops early.
 * @param maxBytes how long the body may be
 * @param label names the request or response in the error
 * @throws SchemaError when the body is longer.
 * @internal
 */
export async function* readTextChunks(
  body: ReadableStream<Uint8Array>,
  maxBytes: number,
  label: string,
  decoder = new TextDecoder(),
): AsyncGenerator<string, void> {
  const reader = body.getReader();
  let size = 0;
  try {
    for (let chunk; !(chunk = await reader.read()).done;) {
      size += chunk.value.length;
      if (size > maxBytes) throw new SchemaError(label, `larger than ${maxBytes} bytes`);
      yield decoder.decode(chunk.value, { stream: true });
    }
    yield decoder.decode();
  } finally {
    // Not awaited: where the response was cloned, cancelling one branch settles only once the other one is cancelled, too.
    void reader.cancel().catch(() => {});
  }
}
