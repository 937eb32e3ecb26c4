/**
 * Parses an address that is to be fetched or framed: http or https, without a user name or password.
 * @param name what the error calls it
 * @throws TypeError when it is anything else. The message does not repeat it, because it may hold a password.
 * @internal
 */
export function httpUrl(name: string, value: string, base?: string): URL {
  const url = URL.canParse(value, base) && new URL(value, base);
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new TypeError(`${name} must be an http or https address`);
  }
  if (url.username || url.password) {
    throw new TypeError(`${name} must not hold a user name or password`);
  }
  return url;
}

/**
 * Returns text that will arrive as it was sent.
 * @throws TypeError that names `name` for anything but text, such as an object, which would arrive as `[object Object]`; and
 * for a lone surrogate, which would arrive as another character.
 * @internal
 */
export function checkText(name: string, text: string): string {
  if (typeof text !== 'string' || !text.isWellFormed())
    throw new TypeError(`${name} must be well-formed text`);
  return text;
}

/**
 * Checks a value that is to be one segment of a path. `.` and `..` have another meaning there, even when they are encoded, and
 * a lone surrogate has no encoding.
 * @param name what the error calls it
 * @throws TypeError when no path can hold it.
 * @internal
 */
export function checkSegment(name: string, value: string): string {
  if (typeof value !== 'string' || ['', '.', '..'].includes(value) || !value.isWellFormed()) {
    throw new TypeError(`${name} must be well-formed text, and not empty, '.' or '..'`);
  }
  return value;
}

/** A base address as text to which a path can be appended: without query, fragment and final slash. @internal */
export const baseOf = (base: URL): string => base.origin + base.pathname.replace(/\/$/, '');

/** The two parts of an `ident`. */
export interface Ident {
  /** The vendor's environment, such as `com.acme`; may hold periods. */
  environment: string;
  /** The vendor's customer, such as `customer-7`; holds no period. */
  tenant: string;
}

/**
 * Splits `com.acme.customer-7` into environment `com.acme` and tenant `customer-7`, at the last period.
 * @throws TypeError when it is no text, and when there is no period or nothing before or after the last one.
 */
export function parseIdent(ident: string): Ident {
  const period = checkText('ident', ident).lastIndexOf('.');
  if (period < 1 || period === ident.length - 1) {
    throw new TypeError('ident must be an environment, a period and a tenant, such as com.acme.customer-7');
  }
  return { environment: ident.slice(0, period), tenant: ident.slice(period + 1) };
}

/**
 * The inverse of `parseIdent`.
 * @throws TypeError when a part is no text or empty, or the tenant holds a period.
 */
export function joinIdent({ environment, tenant }: Ident): string {
  if (!checkText('environment', environment) || !checkText('tenant', tenant) || tenant.includes('.')) {
    throw new TypeError('environment and tenant must not be empty, and the tenant must hold no period');
  }
  return `${environment}.${tenant}`;
}

/** The parts of the address that opens a plugin in an editor. */
export interface EditorAddress {
  /** Address of the editor page; its own parameters and its fragment are kept. */
  editorUrl: string;
  /** Base address of the builder interface. */
  builder: string;
  /** Editor token; left out where the editor gets it by message. */
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

/** @internal */
export const DEFAULT_NAMESPACE = 'default';

/** The parameters that open a plugin, in the order in which they are written. All others are the editor page's own. */
const PARAMETERS = ['builder', 'token', 'ident', 'namespace', 'fn', 'template'] as const;
type Parameter = (typeof PARAMETERS)[number];

/** The editor page's own parameters, unparsed, so that they are kept byte for byte. */
const ownParameters = (url: URL) => url.search.slice(1).split('&').filter(isOwnParameter);

// `URLSearchParams` strips a leading question mark, which here is part of a name. The `&` prevents that.
const isOwnParameter = (parameter: string) =>
  parameter && !PARAMETERS.includes([...new URLSearchParams('&' + parameter).keys()][0] as Parameter);

const setParameters = (url: URL, parameters: string[]) => {
  url.search = parameters.length ? '?' + parameters.join('&') : '';
};

/**
 * Builds the address that opens a plugin in the editor.
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
 * Builds the same address of parts that were checked already, other than the token.
 * @throws TypeError when a value has no encoding.
 * @internal
 */
export function checkedEditorUrl(address: EditorAddress): string {
  const url = new URL(address.editorUrl);
  const query = ownParameters(url);
  for (const name of PARAMETERS) {
    const value = address[name];
    if (!value || (name === 'namespace' && value === DEFAULT_NAMESPACE)) continue;
    query.push(`${name}=${encodeURIComponent(checkText(name, value))}`);
  }
  setParameters(url, query);
  return url.href;
}

/**
 * Splits an editor's address into its parts; the inverse of `buildEditorUrl`. `namespace` is always set, `token` and
 * `template` only where the address has them.
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
  setParameters(url, ownParameters(url));
  return { ...values, editorUrl: url.href, builder, ident, namespace, fn };
}
