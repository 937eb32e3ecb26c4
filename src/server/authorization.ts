import type { PluginTarget } from './plugin-target.ts';
import { Refusal } from './refusal.ts';

/** Whose plugins the caller may edit: an ident or several; `false` for nobody's; or an answer of the host's own. */
export type AuthorizeResult = string | readonly string[] | false | Response;

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

/**
 * Whether the target is among what the caller may edit, compared exactly: no prefix, no case folding.
 * @returns nothing when it is; the host's own answer, as a copy, when it gave one.
 * @throws Refusal 403 for all else. `true` too: a check that forgot to look at the target must not open every door.
 */
export function checkAuthorized(result: unknown, { ident }: PluginTarget): Response | undefined {
  if (isResponse(result)) {
    // A copy, as the headers of some are fixed, and a host may give the same one each time.
    const { body, status, statusText, headers } = result.clone();
    const own = new Response(body, { status, statusText, headers });
    // It is about this caller alone; a cache that keeps it would answer the next one with it.
    if (!headers.has('cache-control')) own.headers.set('cache-control', 'no-store');
    return own;
  }
  if (result === ident || (Array.isArray(result) && result.includes(ident))) return undefined;
  throw new Refusal(
    403,
    'not-authorized',
    'The ident must be one whose plugins the signed-in user may edit; sign in as that user',
  );
}
