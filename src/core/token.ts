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
import { editorTokenSchema } from './records.ts';
import { checkShape, requestJson } from './request.ts';
import { withTimeLimit } from './time-limit.ts';
import { type EditorToken, type Instant, elapsed, instant, tokenLife } from './token-life.ts';

/** What a token is for. */
export interface TokenRequest {
  ident: string;
  namespace: string;
  fn: string;
  /** Aborts when the answer is no longer wanted. */
  signal: AbortSignal;
}

/** A host's own way to get an editor token. */
export type FetchToken = (request: TokenRequest) => Promise<string | EditorToken>;

/** Headers for the request to the token endpoint, or a function that gives them for each request. */
export type TokenHeaders = HeadersInit | (() => HeadersInit | Promise<HeadersInit>);

/** Where tokens come from. */
export type TokenSource = Pick<Config, 'tokenEndpoint' | 'tokenMethod' | 'credentials' | 'timeout'> & {
  fetchToken?: FetchToken | undefined;
  tokenHeaders?: TokenHeaders | undefined;
};

/** A token and when it ends. */
export interface HeldToken {
  token: string;
  /** From the answer on, in ms; `undefined` when nothing tells. */
  life: number | undefined;
  since: Instant;
}

/** What an endpoint may answer at the most, in bytes; tokens travel in addresses and headers, which end well below. */
const MAX_BYTES = 65_536;

export const isLive = ({ life, since }: HeldToken): boolean =>
  life === undefined || elapsed(since, instant()) < life;

interface TokenAnswer {
  answer: EditorToken;
  /** The answer's own clock. */
  date: string | null;
}

/**
 * Gets a token from the host's endpoint or its own function (contract: the host's token endpoint).
 * @throws PluginEditorError with one of the `token-` codes, or the signal's reason.
 */
export async function getToken(source: TokenSource, target: TokenRequest): Promise<HeldToken> {
  try {
    const { answer, date } = await (source.fetchToken ? callHost : callEndpoint)(source, target);
    return { token: answer.token, life: tokenLife(answer, date, Date.now()), since: instant() };
  } catch (error) {
    target.signal.throwIfAborted();
    throw isPluginEditorError(error) ? error : tokenError(error as RequestError);
  }
}

async function callEndpoint(source: TokenSource, { signal, ...fields }: TokenRequest): Promise<TokenAnswer> {
  const { tokenEndpoint, tokenMethod, tokenHeaders, credentials, timeout } = source;
  const url = new URL(tokenEndpoint as string);
  const given =
    typeof tokenHeaders === 'function' ? await hostCode('tokenHeaders', tokenHeaders) : tokenHeaders;
  const headers = new Headers(given);
  const init: RequestInit = { method: tokenMethod.toUpperCase(), credentials, headers, cache: 'no-store' };
  if (tokenMethod === 'post') {
    headers.set('content-type', 'application/json');
    init.body = JSON.stringify(fields);
  } else {
    for (const [name, value] of Object.entries(fields)) url.searchParams.set(name, value);
  }
  const options = { url: url.href, init, signal, timeout, maxBytes: MAX_BYTES };
  const { data, headers: answered } = await requestJson(editorTokenSchema, options);
  return { answer: data, date: answered.get('date') };
}

async function callHost(source: TokenSource, { signal, ...fields }: TokenRequest): Promise<TokenAnswer> {
  const { fetchToken, timeout } = source;
  const answer = await withTimeLimit(
    (limited) => hostCode('fetchToken', () => (fetchToken as FetchToken)({ ...fields, signal: limited })),
    timeout,
    () => new TimeoutError('fetchToken', timeout),
    signal,
  );
  const record = typeof answer === 'string' ? { token: answer } : answer;
  checkShape(editorTokenSchema, record, 'fetchToken');
  if (record.token.length > MAX_BYTES) throw new SchemaError('fetchToken', `larger than ${MAX_BYTES} bytes`);
  return { answer: record, date: null };
}

/** Runs a function of the page; what it throws is the page's own, so it is handed on as the cause. */
async function hostCode<T>(name: string, code: () => T | Promise<T>): Promise<T> {
  try {
    return await code();
  } catch (cause) {
    throw isPluginEditorError(cause)
      ? cause
      : new PluginEditorError('token-source', `${name} failed; its error is the cause`, {
          attempts: 1,
          cause,
        });
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
