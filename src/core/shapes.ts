import type { Features } from './records.ts';
import type { EditorToken } from './token-life.ts';

/** What reads an answer: a zod schema, or a shape from this file. */
export interface Schema<T> {
  safeParse(
    value: unknown,
  ): { data: T; error?: undefined } | { data?: undefined; error: { issues: readonly ShapeIssue[] } };
}

/** Where a value is wrong, as zod says it. */
export interface ShapeIssue {
  path: readonly PropertyKey[];
  code?: string | undefined;
  expected?: string;
}

/**
 * A shape as data: a type or two, text that fits a pattern, a list of one shape, an object of shapes, where a question mark
 * ends the name of a field that may be missing, or `null` for anything. Other fields are let through. The only pattern whose
 * failure is ever shown asks for text that is not empty, so the message says that of every pattern.
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
 * Checks of the two records that the elements read, without a library: with zod's they would weigh 4.7 KB more, a third
 * of the whole. That they agree with the schemas in records.ts is tested.
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
