import type { HttpError } from '../errors.ts';
import { httpErrorOf, readText, requestLabel } from '../request.ts';
import { withTimeLimit } from '../time-limit.ts';

/** The largest error body that is read, in bytes. A larger one is ignored. */
const MAX_ERROR_BYTES = 65_536;

/** How long to wait for an error body once its status is known, in ms. After that, the error has the status alone. */
const BODY_TIMEOUT = 5000;

/** What a code or a JSON Pointer looks like. Any other value of these fields is ignored. */
const PRINTABLE = /^\P{Cc}{0,1000}$/u;

/** Makes the error for a response whose status is not 2xx. `label` names the request. */
export type ToError = (response: Response, label: string, signal: AbortSignal) => Promise<HttpError>;

/** Makes a `fetch` that rejects when the status is not 2xx, so that the error can have what the body says. */
export const rejectingFetch =
  (toError: ToError, fetch = globalThis.fetch): typeof globalThis.fetch =>
  async (url, init) => {
    const response = await fetch(url, init);
    if (response.ok) return response;
    throw await toError(response, requestLabel({ url: url as string, init }), init?.signal as AbortSignal);
  };

/**
 * Makes an `HttpError` with `code` and `path` of the body, where it has them.
 * @param secret the token that was sent; a value that holds it is ignored
 */
export async function toHttpError(
  response: Response,
  label: string,
  signal: AbortSignal,
  secret: string | undefined,
): Promise<HttpError> {
  const body = await readErrorBody(response, signal, MAX_ERROR_BYTES);
  return Object.assign(httpErrorOf(response, label), errorFields(body, secret));
}

/** Reads `code` and `path` out of an error body, `{ error: { code, path } }`, each only if it looks like one. */
export function errorFields(body: object, secret: string | undefined): { code?: string; path?: string } {
  const error = Object((body as { error?: unknown }).error) as Record<string, unknown>;
  const fieldOf = (name: string) => {
    const value = error[name];
    const isUsable =
      typeof value === 'string' && PRINTABLE.test(value) && !(secret && value.includes(secret));
    return isUsable ? { [name]: value } : {};
  };
  return { ...fieldOf('code'), ...fieldOf('path') };
}

/** Reads an error body as a JSON object. Any other body, and one that breaks off, is an empty object. */
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
