import { isDeepStrictEqual } from 'node:util';

/**
 * Whether two texts are the same JSON, with numbers compared by their values, and integers exactly.
 * @param isRounded whether the first one's integers were rounded to doubles
 */
export function isSameJson(one: string, other: string, isRounded = false): boolean {
  try {
    return isDeepStrictEqual(parse(one, isRounded), parse(other, isRounded));
  } catch {
    // One of them is no JSON, or nested too deep to be compared.
    return false;
  }
}

/** Parses JSON, in which `-0` is the number 0. An integer that a double does not hold becomes a `bigint`. */
const parse = (json: string, isRounded: boolean): unknown =>
  JSON.parse(json, (_, value: unknown, context?: { source?: string }) => {
    if (value === 0) return 0;
    const { source: written = '' } = context ?? {};
    // One with a million digits would take seconds.
    if (isRounded || !Number.isFinite(value) || Number.isSafeInteger(value) || !/^-?\d+$/.test(written))
      return value;
    const exact = BigInt(written);
    return exact === BigInt(value as number) ? value : exact;
  });
