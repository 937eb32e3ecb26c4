/**
 * A list of origins, each exactly as a browser writes it.
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
 * The origin of an address. It is not the one of `URL`, which has none for the schemes that apps in a shell
 * have of their own, such as `capacitor://localhost`.
 */
function originOf(address: string): string | undefined {
  // `URL` takes a host with a star, but no page has such an origin, and it would not be a wildcard.
  if (!URL.canParse(address) || /\*/.test(address)) return undefined;
  const { protocol, host } = new URL(address);
  return host ? `${protocol}//${host}` : undefined;
}
