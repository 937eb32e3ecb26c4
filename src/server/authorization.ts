import { type Grant, checkGrant } from './permissions.ts';
import type { PluginTarget } from './plugin-target.ts';
import { Refusal } from './refusal.ts';

/** Whose plugins the caller may edit, and what the token allows; it is for this caller alone. */
export interface Authorization extends Grant {
  ident: string | readonly string[];
}

/**
 * Whose plugins the caller may edit: an ident or several, with or without what the token is to allow; `false` for nobody's;
 * or an answer of the host's own.
 */
export type AuthorizeResult = string | readonly string[] | Authorization | false | Response;

/**
 * Asks the host who is calling. It is to find out from the request's session, never from `target`, which is what the
 * caller wants and so proves nothing.
 */
export type Authorize<Context> = (
  request: Request,
  target: PluginTarget,
  context: Context,
) => AuthorizeResult | Promise<AuthorizeResult>;

/** By its tag rather than its class: frameworks bring a `Response` of their own. */
const isResponse = (value: unknown): value is Response =>
  Object.prototype.toString.call(value) === '[object Response]';

/** Only what is written as `{ ident, … }` is read as one: a `Set` or an instance of a class has no such fields of its own. */
const isRecord = (value: unknown): value is object => {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
};

/** What `authorize` decided: an answer of its own, or what the token is to allow. */
export type Decision = { own: Response; grant?: undefined } | { own?: undefined; grant: Grant };

/**
 * Whether the target is among what the caller may edit, compared exactly: no prefix, no case folding.
 * @returns what the token is to allow; or the host's own answer, as a copy, when it gave one.
 * @throws Refusal 403 for all else, `true` included: a check that does not look at the target must not allow every plugin.
 * @throws TypeError for a record with a field that is not known, that has no value or that cannot be used.
 */
export function checkAuthorized(result: unknown, { ident }: PluginTarget): Decision {
  if (isResponse(result)) return { own: ownAnswer(result) };
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

function ownAnswer(result: Response): Response {
  // A copy, as the headers of some are fixed, and a host may give the same one each time.
  const { body, status, statusText, headers } = result.clone();
  const own = new Response(body, { status, statusText, headers });
  // It is about this caller alone; a cache that keeps it would answer the next one with it.
  if (!headers.has('cache-control')) own.headers.set('cache-control', 'no-store');
  return own;
}
