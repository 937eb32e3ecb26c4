/** Headers that belong to the connection, or that name the client, and that only `undici` or the service sets. */
const forbidden = new Set([
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'expect',
  'upgrade',
  'cookie',
  'cookie2',
  'keep-alive',
  'te',
  'trailer',
  // Servers may take the method from these, which would go round the methods that were granted.
  'x-http-method',
  'x-http-method-override',
  'x-method-override',
]);

/** A header's name as it is compared: many servers take `_` for `-`. */
export const comparedName = (name: string): string => name.toLowerCase().replaceAll('_', '-');

/** Whether neither a plugin nor a credential may set a header. */
export function isForbiddenHeader(name: string): boolean {
  const compared = comparedName(name);
  return forbidden.has(compared) || compared.startsWith('proxy-') || compared.startsWith('sec-');
}

/** Whether a text is a header's name. */
export const isHeaderName = (name: string): boolean => /^[!#$%&'*+.^_`|~\dA-Za-z-]{1,100}$/.test(name);

/** Whether a text can be a header's value: characters of Latin-1 without control characters, and no space at an end. */
export const isHeaderValue = (value: string): boolean =>
  /^[\t\x20-\x7e\x80-\xff]*$/.test(value) && !/^[\t ]|[\t ]$/.test(value);

/** Headers of a response that are about the connection, or about how the body was sent, or would be cookies. */
const droppedFromResponses = new Set([
  'connection',
  'keep-alive',
  'transfer-encoding',
  'trailer',
  'upgrade',
  'proxy-authenticate',
  'proxy-connection',
  'set-cookie',
  'set-cookie2',
]);

export const isKeptFromResponse = (name: string): boolean => !droppedFromResponses.has(name.toLowerCase());
