/**
 * An address that may be fetched or framed: http or https, without a user name or password.
 * @throws TypeError that names `name` when it is anything else. What was given is not repeated: it may hold a password.
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
 * Checks a value that is to be one segment of a path. Encoding does not make `.` and `..` safe, and a lone surrogate has no
 * encoding.
 * @throws TypeError that names `name` when it cannot.
 */
export function checkSegment(name: string, value: string): string {
  if (typeof value !== 'string' || ['', '.', '..'].includes(value) || !value.isWellFormed()) {
    throw new TypeError(`${name} must be well-formed text, and not empty, '.' or '..'`);
  }
  return value;
}

/** A base address as text to which a path can be appended: without query, fragment and final slash. */
export const baseOf = (base: URL): string => base.origin + base.pathname.replace(/\/$/, '');
