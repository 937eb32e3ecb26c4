import type { Features } from './records.ts';
import type { EditorToken } from './token-life.ts';

/** Reads unknown data: a zod schema, or one that `schemaOf` makes of a shape. */
export interface Schema<T> {
  safeParse(
    value: unknown,
  ): { data: T; error?: undefined } | { data?: undefined; error: { issues: readonly ShapeIssue[] } };
}

/** Where and how a value is wrong, in the form of zod's issues. */
export interface ShapeIssue {
  path: readonly PropertyKey[];
  code?: string | undefined;
  expected?: string;
}

/**
 * A schema as data. What it takes:
 *
 * - `'string'`, `'boolean'`, `'string|null'`: a value of that type
 * - a pattern: text that matches it
 * - an array with one shape: a list of values of that shape
 * - an object of shapes: an object with these fields, and any others. A question mark ends the name of an optional field
 * - `null`: anything
 */
export type Shape =
  | 'string'
  | 'boolean'
  | 'string|null'
  | RegExp
  | readonly [Shape]
  | { readonly [field: string]: Shape }
  | null;

/**
 * Makes a schema of a shape. The elements validate data by such schemas, because zod would add 4.7 KB to their 19 KB. A
 * test compares them with the zod schemas of records.ts.
 */
export const schemaOf = <T>(shape: Shape): Schema<T> => ({
  safeParse(value) {
    const issue = issueIn(shape, value, []);
    return issue ? { error: { issues: [issue] } } : { data: value as T };
  },
});

function issueIn(shape: Shape, value: unknown, path: PropertyKey[]): ShapeIssue | undefined {
  const wrong = (expected: string) => ({ path, code: 'invalid_type', expected });
  if (!shape) return undefined;
  if (typeof shape === 'string') {
    return shape.split('|').includes(value === null ? 'null' : typeof value) ? undefined : wrong(shape);
  }
  if (shape instanceof RegExp) {
    // Only the issues of the two records below are shown, and their only pattern matches any non-empty text.
    return typeof value === 'string' && shape.test(value) ? undefined : wrong('non-empty string');
  }
  const isList = Array.isArray(shape);
  if (!value || typeof value !== 'object' || isList !== Array.isArray(value)) {
    return wrong(isList ? 'array' : 'object');
  }
  for (const key of Object.keys(isList ? value : shape)) {
    const name = isList ? key : key.replace('?', '');
    const field = (value as Record<string, unknown>)[name];
    if (name !== key && field === undefined) continue;
    const issue = issueIn((shape as Record<string, Shape>)[isList ? 0 : key] as Shape, field, [
      ...path,
      name,
    ]);
    if (issue) return issue;
  }
  return undefined;
}

export const editorTokenShape = schemaOf<EditorToken>({ token: /./s });

export const featuresShape = schemaOf<Features>({
  features: ['string'],
  languages: [{ identifier: 'string', pretty: 'string', short: 'string' }],
});
