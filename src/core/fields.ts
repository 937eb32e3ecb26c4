import * as z from 'zod/mini';

/*
 * The schemas of the fields that records are made of. They are shared, because a page loads each of them. Numbers, flags and
 * `null` are checked by hand, because zod's own types for them would add 0.4 KB. The type of each such schema is stated by a
 * cast, because zod cannot derive it from a check.
 */

interface Types {
  number: number;
  boolean: boolean;
}

/** Makes a schema for a type that `typeof` knows. */
const ofType = <const Name extends keyof Types>(expected: Name) =>
  z.unknown().check(({ value, issues }) => {
    if (typeof value !== expected) issues.push({ code: 'invalid_type', expected, input: value });
  }) as unknown as z.ZodMiniType<Types[Name], Types[Name]>;

/** Makes a schema that takes `null` as well. */
export const orNull = <T extends z.ZodMiniType>(schema: T) =>
  z.unknown().check(({ value, issues }) => {
    const problems = value === null ? [] : (schema.safeParse(value).error?.issues ?? []);
    issues.push(...(problems as z.core.$ZodRawIssue[]));
  }) as unknown as z.ZodMiniNullable<T>;

export const text = z.string();
export const optionalText = z.optional(text);
export const textOrNull = orNull(text);
export const flag = ofType('boolean');
export const number = ofType('number');
export const optionalNumber = z.optional(number);
