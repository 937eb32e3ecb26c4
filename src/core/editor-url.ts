import { httpUrl } from './address.ts';

/** What an editor address says (interface: Editor URL). */
export interface EditorAddress {
  /** The page that the editor is; its other parameters and its fragment are kept. */
  editorUrl: string;
  /** Base address of the builder interface. */
  builder: string;
  /** Editor token; left out where it goes another way. */
  token?: string | undefined;
  /** Environment, a period, tenant. */
  ident: string;
  /** Plugin namespace; `default` when not given. */
  namespace?: string | undefined;
  /** Plugin name. */
  fn: string;
  /** Language for a new plugin. */
  template?: string | undefined;
}

export const DEFAULT_NAMESPACE = 'default';

/** The interface's own parameters, in the interface's order. */
const PARAMETERS = ['builder', 'token', 'ident', 'namespace', 'fn', 'template'] as const;
type Parameter = (typeof PARAMETERS)[number];

/** The parameters of a query that are not the interface's, unparsed, so that they are kept byte for byte. */
const foreignPieces = (url: URL) => url.search.slice(1).split('&').filter(isForeign);

// `URLSearchParams` strips a leading question mark, which here is part of a name. The `&` prevents that.
const isForeign = (piece: string) =>
  piece && !PARAMETERS.includes([...new URLSearchParams('&' + piece).keys()][0] as Parameter);

const setPieces = (url: URL, query: string[]) => {
  url.search = query.length ? '?' + query.join('&') : '';
};

/**
 * The address that opens a plugin in the editor.
 * @throws TypeError when an address is not http(s), `ident` or `fn` is empty, or a value has no encoding (a lone
 * surrogate).
 */
export function buildEditorUrl(address: EditorAddress): string {
  httpUrl('editorUrl', address.editorUrl);
  httpUrl('builder', address.builder);
  if (!address.ident || !address.fn) throw new TypeError('ident and fn must not be empty');
  return checkedEditorUrl(address);
}

/**
 * The same for an address that was checked, as far as a check does not need the token.
 * @throws TypeError when a value has no encoding.
 * @internal
 */
export function checkedEditorUrl(address: EditorAddress): string {
  const url = new URL(address.editorUrl);
  const query = foreignPieces(url);
  for (const name of PARAMETERS) {
    const value = address[name];
    if (!value || (name === 'namespace' && value === DEFAULT_NAMESPACE)) continue;
    if (!value.isWellFormed()) throw new TypeError(`${name} must be well-formed Unicode`);
    query.push(`${name}=${encodeURIComponent(value)}`);
  }
  setPieces(url, query);
  return url.href;
}

/**
 * What an editor address says; the inverse of `buildEditorUrl`. `namespace` is always set, `token` and `template` only
 * where the address holds them.
 * @throws TypeError when the address is not http(s) or lacks `builder`, `ident` or `fn`.
 */
export function parseEditorUrl(address: string): EditorAddress & { namespace: string } {
  const url = httpUrl('The editor address', address);
  const values: Partial<Record<Parameter, string>> = {};
  for (const name of PARAMETERS) {
    const value = url.searchParams.get(name);
    if (value) values[name] = value;
  }
  const { builder, ident, fn, namespace = DEFAULT_NAMESPACE } = values;
  if (!builder || !ident || !fn) {
    throw new TypeError('The editor address must have the parameters builder, ident and fn');
  }
  httpUrl('builder', builder);
  setPieces(url, foreignPieces(url));
  return { ...values, editorUrl: url.href, builder, ident, namespace, fn };
}
