/**
 * A list of origins, each exactly as a browser writes it.
 * @throws TypeError that names the entry that is not an origin, and what it should be.
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
  // `URL` takes a host with a star, but no page has such an origin, and it would not be a wildcard.
  if (!URL.canParse(address) || address.includes('*')) return undefined;
  const { origin, protocol, host } = new URL(address);
  return origin !== 'null' ? origin : host ? `${protocol}//${host}` : undefined;
}
