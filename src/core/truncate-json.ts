import { redactTokens } from './redact-tokens.ts';

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
