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

/** A shape as data: text, a list of one shape, or an object of shapes; other fields are let through. */
type Shape = 'string' | 'non-empty string' | readonly [Shape] | { readonly [field: string]: Shape };

/**
 * Checks of the two records that the elements read, without a library: with zod's they would weigh 4.7 KB more, a third
 * of the whole. That they agree with the schemas in records.ts is tested.
 */
const schemaOf = <T>(shape: Shape): Schema<T> => ({
  safeParse(value) {
    const issue = issueIn(shape, value, []);
    return issue ? { error: { issues: [issue] } } : { data: value as T };
  },
});

function issueIn(shape: Shape, value: unknown, path: PropertyKey[]): ShapeIssue | undefined {
  const wrong = (expected: string) => ({ path, code: 'invalid_type', expected });
  if (typeof shape === 'string') {
    return typeof value === 'string' && (value || shape === 'string') ? undefined : wrong(shape);
  }
  const isList = Array.isArray(shape);
  // Not `instanceof`: a page's function may give an object of another frame, or one without a prototype.
  if (isList !== Array.isArray(value) || typeof value !== 'object' || !value) {
    return wrong(isList ? 'array' : 'object');
  }
  for (const key of Object.keys(isList ? value : shape)) {
    const inner = (shape as Record<string, Shape>)[isList ? 0 : key] as Shape;
    const issue = issueIn(inner, (value as Record<string, unknown>)[key], [...path, key]);
    if (issue) return issue;
  }
  return undefined;
}

export const editorTokenShape = schemaOf<EditorToken>({ token: 'non-empty string' });

export const featuresShape = schemaOf<Features>({
  features: ['string'],
  languages: [{ identifier: 'string', pretty: 'string', short: 'string' }],
});
