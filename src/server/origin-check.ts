import { Refusal } from './refusal.ts';

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
