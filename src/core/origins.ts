/**
 * Reads a list of origins, each of which has to be written exactly as browsers write it.
 * @throws TypeError that names the entry that is not an origin, and what it should be.
 */
export function parseOrigins(entries: readonly string[] = []): ReadonlySet<string> {
  if (!Array.isArray(entries)) throw new TypeError('allowedOrigins must be an array of origins');
  for (const entry of entries as string[]) {
    const origin = originOf(entry);
    if (!origin || entry !== origin) {
      throw new TypeError(
        `allowedOrigins: "${entry}" is not an origin; it should be like "${origin || 'https://app.example.com'}"`,
      );
    }
  }
  return new Set(entries);
}

/**
 * The origin of an address. `URL.origin` is not used, because it is `null` for the schemes of native app shells, such as
 * `capacitor://localhost`.
 */
function originOf(address: string): string | undefined {
  // `URL` accepts a host with an asterisk, which no page has. Whoever writes one wants a wildcard, and there is none.
  if (!URL.canParse(address) || /\*/.test(address)) return undefined;
  const { protocol, host } = new URL(address);
  return host ? `${protocol}//${host}` : undefined;
}
