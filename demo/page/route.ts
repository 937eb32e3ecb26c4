/** The customer and the plugin that the address names. */
export interface Route {
  ident: string | undefined;
  fn: string | undefined;
}

/** The fragment for a place: `#/com.example.customer-7/add-record`. */
export const routeTo = (ident: string, fn?: string): string =>
  `#/${[ident, ...(fn === undefined ? [] : [fn])].map(encodeURIComponent).join('/')}`;

/** The inverse of `routeTo`; nothing for a fragment that is not one. */
export function readRoute(hash: string): Route {
  const [, ident, fn] = /^#\/([^/]+)(?:\/([^/]+))?$/.exec(hash) ?? [];
  try {
    return { ident: ident && decodeURIComponent(ident), fn: fn && decodeURIComponent(fn) };
  } catch {
    return { ident: undefined, fn: undefined };
  }
}
