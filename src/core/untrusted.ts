/*
 * Checks and limits for data that others sent. For its shape, the elements and the editor's half of the frame protocol use the
 * checks here. The clients use zod, of which `zod/mini` with one schema adds 4.7 KB gzip: a fifth of the script tag, and twice
 * `editor.js`.
 */

export const isText = (value: unknown): value is string => typeof value === 'string';

export const isFlag = (value: unknown): value is boolean => typeof value === 'boolean';

/** Whether something is an object of JSON, which an array is not. */
export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const isTextList = (value: unknown): value is string[] => Array.isArray(value) && value.every(isText);

/** Whether something is a list of objects, as tests are. */
export const isRecordList = (value: unknown): value is Record<string, unknown>[] =>
  Array.isArray(value) && value.every(isRecord);

/** Takes the place of a token, and of what was cut off. */
const ELLIPSIS = '…';

/** The shortest token that is redacted. A shorter one may be part of any word. */
const MIN_LENGTH = 5;

/**
 * Returns a text without any of these tokens, cut to at most `max` UTF-16 code units. What is beyond is not even read. The
 * ellipsis at the cut is among them, unless `max` is 0: then only the ellipsis is returned.
 */
export function redactTokens(text: string, tokens: readonly string[], max: number): string {
  // The longest first, as one may be part of another.
  const secrets = tokens
    .filter((token) => token.length >= MIN_LENGTH)
    .toSorted((a, b) => b.length - a.length);
  const isCut = text.length > max;
  // One code unit less than allowed, because the ellipsis is appended.
  let redacted = isCut ? text.slice(0, max).slice(0, -1) : text;
  for (const secret of secrets) redacted = redacted.replaceAll(secret, ELLIPSIS);
  if (!isCut) return redacted;
  for (const secret of secrets) {
    // The cut may have left the beginning of a token.
    for (let length = secret.length; --length >= MIN_LENGTH;) {
      if (redacted.endsWith(secret.slice(0, length))) redacted = redacted.slice(0, -length);
    }
  }
  // The cut may also have divided a surrogate pair.
  return redacted.toWellFormed() + ELLIPSIS;
}

/**
 * Copies a JSON value up to two limits, and without any of these tokens.
 * @param maxText how many UTF-16 code units all texts and names of fields may have together; what is beyond is cut off
 * @param maxValues how many items and fields there may be on all levels together; what is beyond is left out
 */
export function truncateJson(
  value: unknown,
  maxText: number,
  maxValues: number,
  tokens: readonly string[],
): unknown {
  const limitText = (text: string) => {
    const limited = redactTokens(text, tokens, maxText);
    maxText = Math.max(maxText - text.length, 0);
    return limited;
  };
  const json = JSON.stringify(value, (_, part: unknown) => {
    if (typeof part === 'string') return limitText(part);
    // JSON has no bigint.
    if (!part || typeof part !== 'object') return typeof part === 'bigint' ? null : part;
    const isList = Array.isArray(part);
    // Typed arrays and `String` objects have a key for every item, and listing those would take long.
    if (!isList && Object.getPrototypeOf(part) !== Object.prototype) return {};
    const all = isList ? (part as unknown[]) : Object.keys(part);
    const kept = all.slice(0, maxValues);
    maxValues = Math.max(maxValues - all.length, 0);
    return isList
      ? kept
      : Object.fromEntries((kept as (keyof typeof part)[]).map((key) => [limitText(key), part[key]]));
  });
  // Parsing makes new strings. A slice of a long string would keep all of it in memory.
  return JSON.parse(json);
}
