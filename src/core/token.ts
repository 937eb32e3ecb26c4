import type { Config } from './config.ts';
import {
  type HttpError,
  NetworkError,
  PluginEditorError,
  type RequestError,
  SchemaError,
  TimeoutError,
  isPluginEditorError,
} from './errors.ts';
import { isRecord, isText } from './untrusted.ts';
import { readJson, request as send } from './request.ts';
import { withTimeLimit } from './time-limit.ts';

/** An editor token as a token endpoint or `fetchToken` gives it; other fields are ignored. */
export interface EditorToken {
  token: string;
  /** How long it lives from now, in seconds. */
  expires_in?: number | undefined;
  /** When it ends: ISO 8601, or seconds since the epoch. */
  expires_at?: string | number | undefined;
}

/** The plugin that a token is requested for. */
export interface TokenRequest {
  ident: string;
  namespace: string;
  fn: string;
  /** Aborts when the token is no longer wanted. */
  signal: AbortSignal;
}

/** A function of the page that gets an editor token. */
export type FetchToken = (request: TokenRequest) => Promise<string | EditorToken>;

/** Headers for the request to the token endpoint, or a function that gives them for each request. */
export type TokenHeaders = HeadersInit | null | (() => HeadersInit | null | Promise<HeadersInit | null>);

/** Where tokens come from. @internal */
export type TokenSource = Pick<
  Config,
  'tokenEndpoint' | 'base' | 'tokenMethod' | 'credentials' | 'timeout'
> & {
  fetchToken?: FetchToken | undefined;
  tokenHeaders?: TokenHeaders | undefined;
};

/** A token and when it ends. @internal */
export interface HeldToken {
  token: string;
  /** How long it lives from `since` on, in ms; `undefined` where it is unknown. */
  life: number | undefined;
  /** When it was received. */
  since: Instant;
}

/** The largest response of a token endpoint, in bytes. Tokens travel in addresses and headers, which hold far less. */
const MAX_TOKEN_BYTES = 65_536;

/** Whether a token has not ended. One whose life is unknown counts as live. @internal */
export const isLive = ({ life, since }: HeldToken): boolean =>
  life === undefined || elapsed(since, instant()) < life;

interface ReceivedToken {
  record: EditorToken;
  /** The `Date` header of the response. */
  date: string | null;
}

/**
 * Gets a token from the page's token endpoint, or from its `fetchToken`.
 * @throws PluginEditorError with one of the `token-` codes, or the signal's reason.
 * @internal
 */
export const getToken = (source: TokenSource, request: TokenRequest): Promise<HeldToken> =>
  source.fetchToken
    ? getTokenFrom(source.fetchToken, request, source.timeout)
    : toHeldToken(callEndpoint(source, request), request.signal);

/**
 * Gets a token from a function of the page.
 * @param timeout how long that may take, in ms
 * @throws PluginEditorError with one of the `token-` codes, or the signal's reason.
 * @internal
 */
export const getTokenFrom = <Request extends { signal: AbortSignal }>(
  fetchToken: (request: Request) => Promise<string | EditorToken>,
  request: Request,
  timeout: number,
): Promise<HeldToken> => toHeldToken(callFetchToken(fetchToken, request, timeout), request.signal);

async function toHeldToken(received: Promise<ReceivedToken>, signal: AbortSignal): Promise<HeldToken> {
  try {
    const { record, date } = await received;
    return { token: record.token, life: tokenLife(record, date, Date.now()), since: instant() };
  } catch (error) {
    signal.throwIfAborted();
    throw isPluginEditorError(error) ? error : tokenError(error as RequestError);
  }
}

async function callEndpoint(
  source: TokenSource,
  { signal, ...fields }: TokenRequest,
): Promise<ReceivedToken> {
  const { tokenEndpoint, base, tokenMethod, tokenHeaders, credentials, timeout } = source;
  const url = new URL(tokenEndpoint, base);
  const pageHeaders =
    typeof tokenHeaders === 'function'
      ? await callPageFunction('tokenHeaders', timeout, signal, () => tokenHeaders())
      : tokenHeaders;
  const headers = toHeaders(pageHeaders);
  const init: RequestInit = { method: tokenMethod.toUpperCase(), credentials, headers, cache: 'no-store' };
  if (tokenMethod === 'post') {
    headers.set('content-type', 'application/json');
    init.body = JSON.stringify(fields);
  } else {
    for (const [name, value] of Object.entries(fields)) url.searchParams.set(name, value);
  }
  const response = await send(
    { url: url.href, init, signal, timeout },
    readJson(parseEditorToken, MAX_TOKEN_BYTES),
  );
  return { record: response.data, date: response.headers.get('date') };
}

/**
 * Checks a token record as `editorTokenSchema` does, for the script tag, which has no zod (untrusted.ts). A test compares both.
 * @param label names the request in the error
 * @throws SchemaError
 * @internal
 */
export function parseEditorToken(value: unknown, label: string): EditorToken {
  if (!isRecord(value)) throw new SchemaError(label, 'expected object');
  const { token } = value;
  if (!isText(token) || !token) throw new SchemaError(label, 'expected non-empty string', 'token');
  return value as unknown as EditorToken;
}

async function callFetchToken<Request extends { signal: AbortSignal }>(
  fetchToken: (request: Request) => Promise<string | EditorToken>,
  request: Request,
  timeout: number,
): Promise<ReceivedToken> {
  const result = await callPageFunction('fetchToken', timeout, request.signal, (signal) =>
    fetchToken({ ...request, signal }),
  );
  const record = parseEditorToken(typeof result === 'string' ? { token: result } : result, 'fetchToken');
  if (record.token.length > MAX_TOKEN_BYTES) {
    throw new SchemaError('fetchToken', `larger than ${MAX_TOKEN_BYTES} bytes`);
  }
  return { record, date: null };
}

/** Calls a function of the page with the time limit. What it throws becomes the `cause`, because the page knows that error. */
async function callPageFunction<T>(
  name: 'fetchToken' | 'tokenHeaders',
  timeout: number,
  signal: AbortSignal,
  call: (limited: AbortSignal) => T | Promise<T>,
): Promise<T> {
  // A call of `fetchToken` counts as a request. `tokenHeaders` is called before one is sent.
  const attempts = name === 'fetchToken' ? 1 : 0;
  const work = async (limited: AbortSignal) => {
    try {
      return await call(limited);
    } catch (cause) {
      throw isPluginEditorError(cause)
        ? cause
        : new PluginEditorError('token-source', `${name} failed; its error is the cause`, {
            attempts,
            cause,
          });
    }
  };
  try {
    return await withTimeLimit(work, timeout, name, signal);
  } catch (error) {
    if (error instanceof TimeoutError) error.attempts = attempts;
    throw error;
  }
}

function toHeaders(value: HeadersInit | null | undefined): Headers {
  try {
    return new Headers(value ?? {});
  } catch {
    // The engine's own error quotes the value, which may be a secret of the page.
    throw new PluginEditorError(
      'token-source',
      'tokenHeaders must be headers; a name or value of it cannot be sent',
    );
  }
}

function tokenError(error: RequestError): PluginEditorError {
  const { status, redirect, attempts } = error as Partial<HttpError> & RequestError;
  const code = redirect
    ? 'token-redirect'
    : status === 401 || status === 403
      ? 'token-unauthorized'
      : status
        ? 'token-http'
        : error instanceof TimeoutError
          ? 'token-timeout'
          : error instanceof NetworkError
            ? 'token-network'
            : 'token-invalid';
  return new PluginEditorError(code, `No editor token: ${error.message} (attempts: ${attempts})`, {
    status,
    attempts,
    cause: error,
  });
}

/** Both clocks, in ms: the wall clock may be set anew, and the monotonic one stops while most systems sleep. @internal */
export interface Instant {
  wall: number;
  mono: number;
}

/** @internal */
export const instant = (): Instant => ({ wall: Date.now(), mono: performance.now() });

/** How much time has passed, in ms, by the clock that shows more of it. @internal */
export const elapsed = (from: Instant, to: Instant): number =>
  Math.max(to.wall - from.wall, to.mono - from.mono);

/**
 * How long a token lives from its arrival on, in ms; `undefined` where it is unknown. Values that do not depend on the local
 * clock take precedence, because that may be hours off: `expires_in`; `expires_at` against the `Date` of the response; a
 * JWT's `exp` against its `iat`; and only then `expires_at` against the local clock.
 * @param date the `Date` header of the response, where it can be read
 * @param now the local wall clock, in ms
 * @internal
 */
export function tokenLife(record: EditorToken, date: string | null, now: number): number | undefined {
  const { token, expires_in, expires_at } = record as Partial<Record<keyof EditorToken, unknown>>;
  const end = typeof expires_at === 'number' ? expires_at * 1000 : Date.parse(expires_at as string);
  return [
    Number.isFinite(expires_in) ? (expires_in as number) * 1000 : NaN,
    end - Date.parse(date ?? ''),
    jwtLife(token as string),
    end - now,
  ].find((life) => !Number.isNaN(life));
}

/** The life that a JWT states, in ms; `NaN` for any other token. */
function jwtLife(token: string): number {
  try {
    const [, payload] = token.split('.') as [string, string];
    const { exp, iat } = JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/'))) as Record<
      string,
      number
    >;
    return ((exp as number) - (iat as number)) * 1000;
  } catch {
    return NaN;
  }
}

/**
 * When to renew a token, in ms from its arrival: at 80 % of its life, and not earlier than 5 minutes before its end.
 * @param life how long the token lives, in ms
 * @internal
 */
export const renewalTime = (life: number): number => Math.max(life * 0.8, life - 300_000);
