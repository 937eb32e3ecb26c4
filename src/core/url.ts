/**
 * Parses an address that is to be fetched or framed: http or https, without a user name or password.
 * @param name what the error calls it
 * @throws TypeError when it is anything else. The message does not repeat it, because it may hold a password.
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
 * Checks a value that is to be one segment of a path. `.` and `..` have another meaning there, even when they are encoded, and
 * a lone surrogate has no encoding.
 * @param name what the error calls it
 * @throws TypeError when no path can hold it.
 */
export function checkSegment(name: string, value: string): string {
  if (typeof value !== 'string' || ['', '.', '..'].includes(value) || !value.isWellFormed()) {
    throw new TypeError(`${name} must be well-formed text, and not empty, '.' or '..'`);
  }
  return value;
}

/** A base address as text to which a path can be appended: without query, fragment and final slash. */
export const baseOf = (base: URL): string => base.origin + base.pathname.replace(/\/$/, '');
