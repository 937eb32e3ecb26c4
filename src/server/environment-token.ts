import { RequestError, SchemaError } from '../core/errors.ts';
import { bearer } from '../core/request.ts';

/** The vendor's secret, or a function that gives the one that is valid now, asked before each call. */
export type EnvironmentToken = string | (() => string | Promise<string>);

/**
 * Checks at start-up what can be checked then, so that a variable that is not set, or a file that ends in a line break,
 * is seen before the first user is.
 * @throws TypeError that names `environmentToken` and never holds it.
 */
export function checkEnvironmentToken(token: EnvironmentToken): EnvironmentToken {
  if (typeof token !== 'function') authorization(token);
  return token;
}

/**
 * Runs a call with the token, and takes the token out of what the call throws: the error of a `fetch` that is not the
 * engine's may quote the request's headers.
 */
export async function withEnvironmentToken<T>(
  environmentToken: EnvironmentToken,
  call: (headers: { authorization: string }, token: string) => Promise<T>,
): Promise<T> {
  const token = typeof environmentToken === 'function' ? await environmentToken() : environmentToken;
  const headers = authorization(token);
  try {
    return await call(headers, token);
  } catch (error) {
    // The core keeps only the words of what `fetch` threw.
    const { cause } = error as { cause?: unknown };
    if (error instanceof RequestError && cause instanceof Error && cause.message.includes(token)) {
      error.cause = new Error(cause.message.replaceAll(token, '[environment token]'));
    }
    throw error;
  }
}

/**
 * Refuses an editor token that is the environment token: a proxy or a service that echoes what it was sent would otherwise
 * hand the secret to a browser.
 * @throws SchemaError
 */
export function checkNotSecret(token: string, secret: string, where: string): void {
  if (token === secret || token === authorization(secret).authorization) {
    throw new SchemaError(where, 'expected an editor token, not the environment token', 'token');
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
