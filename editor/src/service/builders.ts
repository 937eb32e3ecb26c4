/**
 * A service's base address in the one form that is compared and sent to: origin and path, without a slash at the end.
 * `undefined` when it is not an http or https address, or holds a user name or password.
 */
function builderBase(address: string, base?: string): string | undefined {
  if (!URL.canParse(address, base)) return undefined;
  const { protocol, username, password, origin, pathname } = new URL(address, base);
  if (!['http:', 'https:'].includes(protocol) || username || password) return undefined;
  const path = pathname.split('/');
  while (path.at(-1) === '') path.pop();
  return origin + path.join('/');
}

/**
 * The base addresses of the services that this editor may talk to: those in `configured` (addresses between white space,
 * relative ones against the page), else the page's own origin. An entry that is not an address is left out, because a
 * typing mistake must not allow more.
 */
export function allowedBuilders(configured: string, page: string): string[] {
  const entries = configured.split(/\s+/).filter(Boolean);
  if (entries.length === 0) entries.push('/');
  return entries.flatMap((entry) => builderBase(entry, page) ?? []);
}

/** The base address that an address stands for; `undefined` when it is none of the allowed ones. */
export function findBuilder(address: string, allowed: readonly string[]): string | undefined {
  const base = builderBase(address);
  return base !== undefined && allowed.includes(base) ? base : undefined;
}
