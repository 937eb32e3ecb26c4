/** One fault of a value, as zod tells it. */
export interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
  /** Which fields are unknown, where that is the fault. */
  readonly keys?: readonly string[];
}

/** How many faults of a value are told. */
export const mostIssues = 10;

/** How many characters of a key that a client chose are quoted. */
const longestKey = 100;

/** The longest pointer that is answered: a pointer that was cut would point elsewhere. */
const longestPointer = 500;

/**
 * Names at most ten faults, without quoting any value: `tests[0].payload: …; lang: …`.
 * @param root what the value itself is called
 */
export function describeIssues(issues: readonly Issue[], root: string): string {
  const told = issues.slice(0, mostIssues).map((issue) => `${fieldOf(issue.path) || root}: ${textOf(issue)}`);
  if (issues.length > mostIssues) told.push('and more');
  return told.join('; ');
}

/** The JSON Pointer to the first fault; `undefined` where it would be too long to tell. */
export function pointerOf([first]: readonly Issue[]): string | undefined {
  const pointer = [...(first?.path ?? []), ...(first?.keys ?? []).slice(0, 1)]
    .map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`)
    .join('');
  return pointer.length <= longestPointer ? pointer : undefined;
}

const fieldOf = (path: readonly PropertyKey[]) =>
  path
    .map((key, i) => (typeof key === 'number' ? `[${key}]` : `${i ? '.' : ''}${cut(String(key))}`))
    .join('');

// The message of zod would name all the keys, however many and long they are.
const textOf = ({ message, keys: [unknown] = [] }: Issue) =>
  unknown === undefined ? message : `there is no field "${cut(unknown)}"`;

const cut = (key: string) => (key.length > longestKey ? `${key.slice(0, longestKey)}…` : key);
