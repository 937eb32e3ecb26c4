import * as z from 'zod/mini';

/*
 * Made once and shared, because all of it is part of what a page loads. Numbers, flags and `null` are checked by hand: with
 * zod's own types for them it would be 0.4 KB more.
 */

interface Types {
  number: number;
  boolean: boolean;
}

const valueOf = <const Name extends keyof Types>(expected: Name) =>
  z.unknown().check(({ value, issues }) => {
    if (typeof value !== expected) issues.push({ code: 'invalid_type', expected, input: value });
  }) as unknown as z.ZodMiniType<Types[Name], Types[Name]>;

/** A value, or `null`. */
export const orNull = <T extends z.ZodMiniType>(schema: T) =>
  z.unknown().check(({ value, issues }) => {
    const problems = value === null ? [] : (schema.safeParse(value).error?.issues ?? []);
    issues.push(...(problems as z.core.$ZodRawIssue[]));
  }) as unknown as z.ZodMiniNullable<T>;

export const text = z.string();
export const optionalText = z.optional(text);
export const textOrNull = orNull(text);
export const flag = valueOf('boolean');
export const number = valueOf('number');
export const optionalNumber = z.optional(number);
