import { redactTokens } from './redact-tokens.ts';

/**
 * Copies a JSON value up to a limit, and without any of these tokens.
 * @param text how many UTF-16 code units all texts and names of fields may have together
 * @param values how many items and fields there may be on all levels together
 */
export function limitValue(value: unknown, text: number, values: number, tokens: readonly string[]): unknown {
  const take = (given: string) => {
    const taken = redactTokens(given, tokens, text);
    text = Math.max(text - given.length, 0);
    return taken;
  };
  const json = JSON.stringify(value, (_, part: unknown) => {
    if (typeof part === 'string') return take(part);
    // JSON has no bigint.
    if (!part || typeof part !== 'object') return typeof part === 'bigint' ? null : part;
    const isList = Array.isArray(part);
    // Typed arrays and `String` objects have a key for every item, and listing those would take long.
    if (!isList && Object.getPrototypeOf(part) !== Object.prototype) return {};
    const all = isList ? (part as unknown[]) : Object.keys(part);
    const taken = all.slice(0, values);
    values = Math.max(values - all.length, 0);
    return isList
      ? taken
      : Object.fromEntries((taken as (keyof typeof part)[]).map((key) => [take(key), part[key]]));
  });
  // Parsing makes new strings. A slice of a long string would keep all of it in memory.
  return JSON.parse(json);
}
