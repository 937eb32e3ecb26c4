import { RequestError, SchemaError } from '../core/errors.ts';
import { DEFAULT_TIMEOUT, bearer } from '../core/request.ts';
import { withTimeLimit } from '../core/time-limit.ts';

/** The vendor's secret, or a function that is called before each request and gives the one that is valid then. */
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

/**
 * Runs `call` with the token, and redacts the token in what it throws, because the error of a `fetch` that is not the
 * engine's own may quote the request's headers.
 * @throws TimeoutError when a function gives no token within `timeout` ms; TypeError when no header can hold the token.
 * @internal
 */
export async function withEnvironmentToken<T>(
  environmentToken: EnvironmentToken,
  { timeout = DEFAULT_TIMEOUT, signal }: { timeout?: number | undefined; signal?: AbortSignal | undefined },
  call: (headers: { authorization: string }, token: string) => Promise<T>,
): Promise<T> {
  const token =
    typeof environmentToken === 'function'
      ? await withTimeLimit(async () => environmentToken(), timeout, 'environmentToken', signal)
      : environmentToken;
  const headers = authorization(token);
  try {
    return await call(headers, token);
  } catch (error) {
    // A `RequestError` has nothing of the error of `fetch` but its message.
    const { cause } = Object(error) as { cause?: unknown };
    if (error instanceof RequestError && cause instanceof Error && cause.message.includes(token)) {
      error.cause = new Error(cause.message.replaceAll(token, '[environment token]'));
    }
    throw error;
  }
}

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
