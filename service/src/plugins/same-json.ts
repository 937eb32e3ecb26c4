import { isDeepStrictEqual } from 'node:util';

/** What a plain parse does not compare by value: `-0`, and integers with more digits than a double always holds. */
const needsCare = /-0|\d{16}/;

/** The longest text that is parsed value by value, in characters: that takes up to 40 times as long. */
const maxExact = 64 * 1024;

/**
 * Whether two texts are the same JSON, with numbers compared by their values, and integers exactly where neither text is longer than
 * 64 KiB.
 * @param isRounded whether the first one's integers were rounded to doubles
 */
export function isSameJson(one: string, other: string, isRounded = false): boolean {
  const texts = [one, other];
  const isExact =
    texts.every(({ length }) => length <= maxExact) && texts.some((text) => needsCare.test(text));
  const parse = isExact
    ? (text: string) => parseExactly(text, isRounded)
    : (text: string) => JSON.parse(text);
  try {
    return isDeepStrictEqual(parse(one), parse(other));
  } catch {
    // One of them is no JSON, or nested too deep to be compared.
    return false;
  }
}

/** Parses JSON, in which `-0` is the number 0. An integer that a double does not hold becomes a `bigint`. */
const parseExactly = (json: string, isRounded: boolean): unknown =>
  JSON.parse(json, (_, value: unknown, context?: { source?: string }) => {
    if (value === 0) return 0;
    const { source: written = '' } = context ?? {};
    if (isRounded || !Number.isFinite(value) || Number.isSafeInteger(value) || !/^-?\d+$/.test(written))
      return value;
    const exact = BigInt(written);
    return exact === BigInt(value as number) ? value : exact;
  });
