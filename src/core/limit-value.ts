import { redactTokens } from './redact-tokens.ts';

/**
 * A value of JSON as far as it goes into so much text (all texts and names of fields together) and so many items and fields
 * (of all levels together), and without any of these tokens.
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
    // Bytes and boxed texts have a key for every one of their items.
    if (!isList && Object.getPrototypeOf(part) !== Object.prototype) return {};
    const all = isList ? (part as unknown[]) : Object.keys(part);
    const taken = all.slice(0, values);
    values = Math.max(values - all.length, 0);
    return isList
      ? taken
      : Object.fromEntries((taken as (keyof typeof part)[]).map((key) => [take(key), part[key]]));
  });
  // Texts of their own, too: a piece of a text would keep the whole of it in memory.
  return JSON.parse(json);
}
