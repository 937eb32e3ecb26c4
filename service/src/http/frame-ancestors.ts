const example = 'https://app.example.com';

/** The pages of this machine, on any port: by default, these may frame the editor. */
const loopback = ['localhost', '*.localhost', '127.0.0.1'].flatMap((host) => [
  `http://${host}:*`,
  `https://${host}:*`,
]);

/**
 * The sources of the directive `frame-ancestors`: the editor's own origin and exactly `origins`, each once, or without `origins`
 * the pages of this machine.
 * @throws Error for an entry that is not an exact origin. Its message names EDITOR_ANCESTORS and says what would be right.
 */
export function frameAncestors(origins: readonly string[] | undefined): string {
  const sources = origins ? new Set(origins.map(checkedOrigin)) : loopback;
  return ["'self'", ...sources].join(' ');
}

function checkedOrigin(text: string): string {
  if (text.includes('@')) {
    // The message does not quote the entry, because what is before the @ may be a secret.
    throw new Error(
      `EDITOR_ANCESTORS: an entry holds a user name or password; it must be an origin alone, such as ${example}.`,
    );
  }
  if (text.includes('*')) {
    throw new Error(
      `EDITOR_ANCESTORS: "${text}" has a wildcard, which would also match pages that you do not know; ` +
        `name each origin, such as ${example}.`,
    );
  }
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || !isPolicyHost(url.hostname)) {
    throw new Error(`EDITOR_ANCESTORS: "${text}" is not an origin, such as ${example}.`);
  }
  if (text.toLowerCase() !== url.origin && text.toLowerCase() !== `${url.origin}/`) {
    throw new Error(`EDITOR_ANCESTORS: "${text}" is not an exact origin; it must be written ${url.origin}.`);
  }
  return url.origin;
}

// What a policy can name: `URL` also takes `;` and quotes in a host, and an IPv6 address has no place in a policy.
const isPolicyHost = (host: string) => /^[a-z\d_-]+(?:\.[a-z\d_-]+)*$/.test(host);
