/** How long a browser may remember a preflight, in seconds: a new list of origins is soon in force everywhere. */
const MAX_AGE = 600;

/** What the endpoint answers to, as `Allow` and CORS name it. */
export const METHODS = 'POST, GET, OPTIONS';

/** A header's name (RFC 9110: token), lower-cased. What is not one is not repeated into an answer. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~\da-z-]+$/;

/** The answer to a preflight: the page's own headers are allowed, as schemes against forgery and for sign-in use any. */
export function preflightAnswer({ headers }: Request): Response {
  const asked = (headers.get('access-control-request-headers') ?? '')
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => HEADER_NAME.test(name));
  return new Response(null, {
    status: 204,
    headers: {
      allow: METHODS,
      'access-control-allow-methods': METHODS,
      'access-control-allow-headers': [...new Set(['content-type', ...asked])].join(', '),
      'access-control-max-age': `${MAX_AGE}`,
    },
  });
}

/** Lets a page of an allowed origin read an answer, errors too, with its cookies sent. */
export function shareWith(request: Request, allowed: ReadonlySet<string>, answer: Response): Response {
  const { headers } = answer;
  const origin = request.headers.get('origin');
  if (origin !== null && allowed.has(origin)) {
    headers.set('access-control-allow-origin', origin);
    headers.set('access-control-allow-credentials', 'true');
    // A token's life is counted from the answer's own clock, and a retry waits as long as the answer says.
    headers.append('access-control-expose-headers', 'date, retry-after');
  }
  // On every answer: a cache must not give the one without these headers to an origin that may have them.
  headers.append('vary', 'origin');
  return answer;
}
