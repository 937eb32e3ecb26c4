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
import { checkShape, requestJson } from './request.ts';
import { editorTokenShape } from './shapes.ts';
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
  /** From the answer on, in ms; `undefined` when nothing tells. */
  life: number | undefined;
  since: Instant;
}

/** The largest answer of an endpoint, in bytes. Tokens travel in addresses and headers, which hold far less. */
const MAX_BYTES = 65_536;

/** @internal */
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
 * @internal
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
  const { tokenEndpoint, base, tokenMethod, tokenHeaders, credentials, timeout } = source;
  const url = new URL(tokenEndpoint, base);
  const given =
    typeof tokenHeaders === 'function'
      ? await hostCode('tokenHeaders', source, signal, () => tokenHeaders())
      : tokenHeaders;
  const headers = toHeaders(given);
  const init: RequestInit = { method: tokenMethod.toUpperCase(), credentials, headers, cache: 'no-store' };
  if (tokenMethod === 'post') {
    headers.set('content-type', 'application/json');
    init.body = JSON.stringify(fields);
  } else {
    for (const [name, value] of Object.entries(fields)) url.searchParams.set(name, value);
  }
  const options = { url: url.href, init, signal, timeout, maxBytes: MAX_BYTES };
  const { data, headers: answered } = await requestJson(editorTokenShape, options);
  return { answer: data, date: answered.get('date') };
}

async function callHost(source: TokenSource, { signal, ...fields }: TokenRequest): Promise<TokenAnswer> {
  const { fetchToken } = source;
  const answer = await hostCode('fetchToken', source, signal, (limited) =>
    (fetchToken as FetchToken)({ ...fields, signal: limited }),
  );
  const record = typeof answer === 'string' ? { token: answer } : answer;
  checkShape(editorTokenShape, record, 'fetchToken');
  if (record.token.length > MAX_BYTES) throw new SchemaError('fetchToken', `larger than ${MAX_BYTES} bytes`);
  return { answer: record, date: null };
}

/** Runs a function of the page with the time limit. What it throws becomes the `cause`, because it is the page's own. */
function hostCode<T>(
  name: string,
  { timeout }: TokenSource,
  signal: AbortSignal,
  code: (limited: AbortSignal) => T | Promise<T>,
): Promise<T> {
  const work = async (limited: AbortSignal) => {
    try {
      return await code(limited);
    } catch (cause) {
      throw isPluginEditorError(cause)
        ? cause
        : new PluginEditorError('token-source', `${name} failed; its error is the cause`, {
            attempts: name === 'fetchToken' ? 1 : 0,
            cause,
          });
    }
  };
  return withTimeLimit(work, timeout, name, signal);
}

function toHeaders(given: HeadersInit | undefined): Headers {
  try {
    return new Headers(given);
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
