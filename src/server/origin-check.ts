import { Refusal } from './refusal.ts';

/**
 * Refuses what no page that may ask has sent. A browser writes `Sec-Fetch-Site` and `Origin` by itself, whatever a page
 * does, so that a foreign page cannot make a signed-in user's browser fetch a token; what carries neither is not a
 * page's request at all.
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
