import { toPointer } from '../../json-pointer.ts';

/** One problem of a value, as zod reports it. */
export interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
  /** The unknown fields, where these are the problem. */
  readonly keys?: readonly string[];
}

/** How many problems of a value are named. */
export const maxIssues = 10;

/** How many characters of a key are quoted. Clients choose keys. */
const longestKey = 100;

/** The longest JSON Pointer in a response, in UTF-16 code units. A truncated one would point elsewhere. */
export const longestPointer = 500;

/**
 * Names at most ten problems, without quoting any value: `tests[0].payload: …; lang: …`.
 * @param root the name of the value itself
 */
export function describeIssues(issues: readonly Issue[], root: string): string {
  const named = issues.slice(0, maxIssues).map((issue) => `${fieldOf(issue.path) || root}: ${textOf(issue)}`);
  if (issues.length > maxIssues) named.push('and more');
  return named.join('; ');
}

/** The JSON Pointer to the first problem; `undefined` where it would be too long. */
export function pointerOf([first]: readonly Issue[]): string | undefined {
  const pointer = toPointer([...(first?.path ?? []), ...(first?.keys ?? []).slice(0, 1)]);
  return pointer.length <= longestPointer ? pointer : undefined;
}

const fieldOf = (path: readonly PropertyKey[]) =>
  path
    .map((key, i) => (typeof key === 'number' ? `[${key}]` : `${i ? '.' : ''}${cut(String(key))}`))
    .join('');

// Zod's own message would name all unknown keys, however many and long they are.
const textOf = ({ message, keys: [unknown] = [] }: Issue) =>
  unknown === undefined ? message : `there is no field "${cut(unknown)}"`;

const cut = (key: string) => (key.length > longestKey ? `${key.slice(0, longestKey)}…` : key);
