import { Refusal } from './refusal.ts';

/**
 * The origins that may ask besides the endpoint's own, as browsers write them.
 * @throws TypeError that names the entry that is no origin, and what it should be.
 */
export function parseOrigins(entries: readonly string[] = []): ReadonlySet<string> {
  if (!Array.isArray(entries)) throw new TypeError('allowedOrigins must be an array of origins');
  for (const entry of entries as unknown[]) {
    const origin = typeof entry === 'string' && originOf(entry);
    if (entry === origin) continue;
    const better = origin ? `"${origin}"` : 'scheme, host and port alone, such as "https://app.example.com"';
    throw new TypeError(`allowedOrigins: "${String(entry)}" is not an origin; it should be ${better}`);
  }
  return new Set(entries);
}

/** The origin of an address. Apps in a shell have schemes of their own (`capacitor://localhost`), as `URL` has not. */
function originOf(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined;
  const { origin, protocol, host } = new URL(address);
  return origin !== 'null' ? origin : host ? `${protocol}//${host}` : undefined;
}

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
