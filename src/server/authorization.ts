import { type Grant, checkGrant } from './permissions.ts';
import type { PluginTarget } from './plugin-target.ts';
import { Refusal } from './refusal.ts';

/** Whose plugins the caller may edit, and what the caller's token allows. */
export interface Authorization extends Grant {
  ident: string | readonly string[];
}

/**
 * Whose plugins the caller may edit: an ident or several, with or without what the token allows; `false` for none; or a response of
 * your own, which is sent instead of a token.
 */
export type AuthorizeResult = string | readonly string[] | Authorization | false | Response;

/**
 * Your function that says whose plugins the caller may edit. Decide by the request's cookies or headers, never by `target`: that is
 * only what the caller asks for, and proves nothing.
 */
export type Authorize<Context> = (
  request: Request,
  target: PluginTarget,
  context: Context,
) => AuthorizeResult | Promise<AuthorizeResult>;

/** It is recognized by its tag and not by its class, because some frameworks have their own `Response` class. */
const isResponse = (value: unknown): value is Response =>
  Object.prototype.toString.call(value) === '[object Response]';

/** Whether something was written as `{ ident, … }`. A `Set` or an instance of a class was not, and is refused. */
const isRecord = (value: unknown): value is object => {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  // Not compared with `Object.prototype`, because the record may come from another realm, such as that of a test runner.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
};

/** What `authorize` decided: a response of the host's own, or what the token is to allow. @internal */
export type Decision = { response: Response; grant?: undefined } | { response?: undefined; grant: Grant };

/**
 * Checks that the target is among what the caller may edit. Idents are compared exactly, without prefixes or case folding.
 * @returns what the token is to allow; or a copy of the host's own response, where it gave one
 * @throws Refusal 403 for anything else. `true` is refused, too, so that a check that ignores the target allows nothing.
 * @throws TypeError for a record with a field that is not known, that has no value or that cannot be used.
 * @internal
 */
export function checkAuthorized(result: unknown, { ident }: PluginTarget): Decision {
  if (isResponse(result)) return { response: copyResponse(result) };
  const { idents, grant } = isRecord(result) ? readRecord(result) : { idents: result, grant: {} };
  if (idents === ident || (Array.isArray(idents) && idents.includes(ident))) return { grant };
  throw new Refusal(
    403,
    'not-authorized',
    'The ident must be one whose plugins the signed-in user may edit; sign in as that user',
  );
}

function readRecord(record: object): { idents: unknown; grant: Grant } {
  // The copy reads each field once, so that a getter cannot answer something else after the check.
  const copy = { ...record } as Record<PropertyKey, unknown>;
  if (Object.hasOwn(copy, 'ident') && copy['ident'] === undefined) {
    throw new TypeError('authorize: ident must not be undefined');
  }
  try {
    return { idents: copy['ident'], grant: checkGrant(copy, ['ident']) };
  } catch (error) {
    throw new TypeError(`authorize: ${(error as Error).message}`, { cause: error });
  }
}

function copyResponse(result: Response): Response {
  // It is copied, because the headers of some responses cannot be changed, and a host may return the same one each time.
  const { body, status, statusText, headers } = result.clone();
  const response = new Response(body, { status, statusText, headers });
  // It is only for this caller. A cache that stored it would answer other callers with it.
  if (!headers.has('cache-control')) response.headers.set('cache-control', 'no-store');
  return response;
}
