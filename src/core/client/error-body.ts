import type { HttpError } from '../errors.ts';
import { httpErrorOf, readText, requestLabel } from '../request.ts';
import { withTimeLimit } from '../time-limit.ts';

/** What an error body may hold at the most, in bytes; a longer one says nothing. */
const MAX_BYTES = 65_536;

/** How long to wait for the rest of an error body once its status is known, in ms. The status alone tells enough. */
const BODY_TIMEOUT = 5000;

/** What a code or a JSON Pointer can be; anything else in their place is left out. */
const PRINTABLE = /^\P{Cc}{0,1000}$/u;

/** Makes the error of an answer whose status is not 2xx. */
export type ToError = (response: Response, label: string, signal: AbortSignal) => Promise<HttpError>;

/** A `fetch` that rejects for an answer whose status is not 2xx, so that the error can say what the body says. */
export const rejectingFetch =
  (toError: ToError, fetch = globalThis.fetch): typeof globalThis.fetch =>
  async (url, init) => {
    const response = await fetch(url, init);
    if (response.ok) return response;
    throw await toError(response, requestLabel({ url: url as string, init }), init?.signal as AbortSignal);
  };

/**
 * An `HttpError` with `code` and `path` of the body, where it has them.
 * @param secret the token that was sent; a value that holds it is left out
 */
export async function toHttpError(
  response: Response,
  label: string,
  signal: AbortSignal,
  secret: string | undefined,
): Promise<HttpError> {
  const body = await readErrorBody(response, signal, MAX_BYTES);
  return Object.assign(httpErrorOf(response, label), errorFields(body, secret));
}

/** `code` and `path` of an error body, each only where it can be what it is called. */
export function errorFields(body: object, secret: string | undefined): { code?: string; path?: string } {
  const error = Object((body as { error?: unknown }).error) as Record<string, unknown>;
  const take = (name: string) => {
    const value = error[name];
    const isUsable =
      typeof value === 'string' && PRINTABLE.test(value) && !(secret && value.includes(secret));
    return isUsable ? { [name]: value } : {};
  };
  return { ...take('code'), ...take('path') };
}

/** The JSON object that an error's body is. Empty for anything else: what failed is said by the status already. */
export async function readErrorBody(
  response: Response,
  signal: AbortSignal,
  maxBytes: number,
): Promise<object> {
  try {
    const text = await withTimeLimit(() => readText(response, maxBytes, ''), BODY_TIMEOUT, '', signal);
    return Object(JSON.parse(text)) as object;
  } catch {
    return {};
  }
}
