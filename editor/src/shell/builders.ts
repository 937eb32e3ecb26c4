import { httpUrl } from '../../../src/core/address.ts';

/**
 * A builder's base address in the one form that is compared and sent to: origin and path, no slash at the end.
 * @throws TypeError when it is not an http or https address, or holds a password.
 */
export function builderBase(address: string, base?: string): string {
  const { origin, pathname } = httpUrl('builder', address, base);
  const path = pathname.split('/');
  while (path.at(-1) === '') path.pop();
  return origin + path.join('/');
}

/**
 * The builders that this editor may talk to: those in `configured` (addresses between white space, relative ones against
 * the page), else the page's own origin. An entry that is not an address is left out: it must not open the door wider.
 */
export function allowedBuilders(configured: string, page: string): string[] {
  const entries = configured.split(/\s+/).filter(Boolean);
  if (!entries.length) return [builderBase(new URL(page).origin)];
  return entries.flatMap((entry) => {
    try {
      return [builderBase(entry, page)];
    } catch {
      return [];
    }
  });
}

/** The allowed builder that an address means; `undefined` when it means none of them. */
export function findBuilder(address: string, allowed: readonly string[]): string | undefined {
  try {
    const base = builderBase(address);
    return allowed.includes(base) ? base : undefined;
  } catch {
    return undefined;
  }
}
