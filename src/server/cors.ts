import { Refusal } from './refusal.ts';

/** How long a browser may keep a preflight response, in seconds. It is short, so that a new list of origins soon applies. */
const MAX_AGE = 600;

/** The methods of the endpoint, as the headers of `Allow` and CORS list them. */
export const METHODS = 'POST, GET, OPTIONS';

/** The name of a header (RFC 9110: token) in lower case. Anything else is not copied into a response. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~\da-z-]+$/;

/**
 * Answers a preflight. Every header that the page wants to send is allowed, because schemes for signing in, and against
 * cross-site request forgery, use headers of any name.
 */
export function preflightResponse({ headers }: Request): Response {
  const requested = (headers.get('access-control-request-headers') ?? '')
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => HEADER_NAME.test(name));
  return new Response(null, {
    status: 204,
    headers: {
      allow: METHODS,
      'access-control-allow-methods': METHODS,
      'access-control-allow-headers': [...new Set(['content-type', ...requested])].join(', '),
      'access-control-max-age': `${MAX_AGE}`,
    },
  });
}

/** Lets a page of an allowed origin read the response, an error too, to a request with cookies. */
export function addCorsHeaders(request: Request, allowed: ReadonlySet<string>, response: Response): Response {
  const { headers } = response;
  const origin = request.headers.get('origin');
  if (origin !== null && allowed.has(origin)) {
    headers.set('access-control-allow-origin', origin);
    headers.set('access-control-allow-credentials', 'true');
    // The element computes a token's life from `Date`, and a retry waits as long as `Retry-After` says.
    headers.append('access-control-expose-headers', 'date, retry-after');
  }
  // Every response has it, so that a cache does not serve one without these headers to an origin that is allowed.
  headers.append('vary', 'origin');
  return response;
}

/**
 * Refuses a request unless it comes from a page of the endpoint's own origin or of an allowed one, so that a foreign page
 * cannot make a signed-in user's browser fetch a token. Browsers set `Sec-Fetch-Site` and `Origin` themselves, and no page can
 * change them. A request that has neither header does not come from a page.
 * @throws Refusal 403
 */
export function checkOrigin({ url, headers }: Request, allowed: ReadonlySet<string>): void {
  const site = headers.get('sec-fetch-site');
  const origin = headers.get('origin');
  if (site === 'same-origin') return;
  if (origin !== null && allowed.has(origin)) return;
  if (site === null && origin !== null && origin === new URL(url).origin) return;
  throw new Refusal(
    403,
    'origin-not-allowed',
    'Editor tokens are given to pages of this origin, and of the origins in allowedOrigins',
  );
}
