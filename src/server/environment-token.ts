import { appendDetail, toHttpError } from '../core/client/error-body.ts';
import { type Operation, sendOperation } from '../core/client/operation.ts';
import { type HttpError, RequestError, SchemaError } from '../core/errors.ts';
import { DEFAULT_TIMEOUT, type Received, type SendOptions, type ToError, bearer } from '../core/request.ts';
import { withTimeLimit } from '../core/time-limit.ts';

/**
 * The vendor's secret, or a function that returns it. A client calls the function once for each call; what it throws is the `cause` of
 * the call's error.
 */
export type EnvironmentToken = string | (() => string | Promise<string>);

/**
 * Checks a token when the server starts, so that a variable that is not set, or a file that ends in a line break, is noticed
 * before the first request. What a function gives is checked at each request.
 * @throws TypeError that names `environmentToken` and never holds it.
 * @internal
 */
export function checkEnvironmentToken(token: EnvironmentToken): EnvironmentToken {
  if (typeof token !== 'function') authorization(token);
  return token;
}

/** Makes the error for a response to a request with an environment token. @internal */
export type ToServerError = (...args: [...Parameters<ToError>, token: string]) => Promise<HttpError>;

/** @internal */
export interface EnvironmentRequest<T> extends SendOptions {
  /** What the operation's path is appended to. */
  base: URL;
  environmentToken: EnvironmentToken;
  signal: AbortSignal | undefined;
  /** As that of `RequestOptions`; it includes the time of the function for the environment token. */
  tryFor?: number;
  /** By default, an `HttpError` whose message ends with the service's own words. */
  toError?: ToServerError;
  /** Checks what was read out of the response; what it throws is thrown. */
  check?: ((data: T, token: string) => void) | undefined;
}

/**
 * Sends an operation with the environment token, and redacts the token in what it throws, because the error of a `fetch` that
 * is not the engine's own may quote the request's headers.
 * @throws TimeoutError when a function gives no token within `timeout` ms; an Error whose cause is what it threw; TypeError when no
 * header can hold the token; what `sendOperation` and `check` throw.
 * @internal
 */
export async function sendWithEnvironmentToken<T>(
  operation: Operation<T>,
  { environmentToken, toError = toDetailedError, check, ...options }: EnvironmentRequest<T>,
): Promise<Received<T>> {
  const { timeout = DEFAULT_TIMEOUT, tryFor = Infinity, signal } = options;
  const start = performance.now();
  const token =
    typeof environmentToken === 'function'
      ? await withTimeLimit(() => callTokenFunction(environmentToken), timeout, 'environmentToken', signal)
      : environmentToken;
  authorization(token);
  try {
    const response = await sendOperation(operation, {
      ...options,
      tryFor: tryFor - (performance.now() - start),
      token,
      toError: (failed, label, limited) => toError(failed, label, limited, token),
    });
    check?.(response.data, token);
    return response;
  } catch (error) {
    // A `RequestError` has nothing of the error of `fetch` but its message.
    const { cause } = Object(error) as { cause?: unknown };
    if (error instanceof RequestError && cause instanceof Error && cause.message.includes(token)) {
      error.cause = new Error(cause.message.replaceAll(token, '[environment token]'));
    }
    throw error;
  }
}

/** What the function throws becomes the cause, because a `status` of it is not that of the request. */
async function callTokenFunction(give: () => string | Promise<string>): Promise<string> {
  try {
    return await give();
  } catch (cause) {
    throw new Error('environmentToken failed; its error is the cause', { cause });
  }
}

const toDetailedError: ToServerError = async (...args) => appendDetail(await toHttpError(...args));

/**
 * Refuses an editor token that is the environment token. Without this, a proxy or a service that echoes the request would hand
 * the secret to a browser.
 * @throws SchemaError when the two are the same.
 * @internal
 */
export function checkNotSecret(token: string, secret: string, label: string): void {
  if (token === secret || token === authorization(secret).authorization) {
    throw new SchemaError(label, 'expected an editor token, not the environment token', 'token');
  }
}

function authorization(token: unknown): { authorization: string } {
  if (typeof token !== 'string')
    throw new TypeError('environmentToken must be text, or a function that gives it');
  try {
    return bearer(token);
  } catch {
    throw new TypeError('environmentToken must be visible ASCII characters without spaces or line breaks');
  }
}
