import * as z from 'zod';

// A test may lack any of its fields, and what else a record or a test holds is kept: the interface promises neither.
const testSchema = z.looseObject({
  name: z.string().optional(),
  description: z.string().optional(),
  payload: z.string().optional(),
});

// The tests are checked one by one, so that not all of many wrong ones need be looked at.
const recordSchema = z.looseObject({
  contents: z.string(),
  lang: z.string(),
  tests: z.array(z.unknown()).optional(),
});

/** The interface's plugin source record. */
export type PluginSource = z.infer<typeof recordSchema> & {
  tests?: z.infer<typeof testSchema>[] | undefined;
};

/** How many tests a record may have: far more than anybody writes, and few enough to be compared at every deploy. */
const MOST_TESTS = 10_000;

/** How many faults of a record are told. */
const MOST_ISSUES = 10;

interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** A value is no plugin source record; the message says what is wrong, field by field. */
export class InvalidRecordError extends Error {
  override readonly name = 'InvalidRecordError';
}

/**
 * Takes a value as a plugin source record.
 * @throws InvalidRecordError
 */
export function readSource(value: unknown): PluginSource {
  const record = recordSchema.safeParse(value);
  if (!record.success) throw invalidRecord(record.error.issues);
  const { tests, ...rest } = record.data;
  if (!tests) return rest;
  if (tests.length > MOST_TESTS) {
    const message = `expected at most ${MOST_TESTS} tests, received ${tests.length}`;
    throw invalidRecord([{ path: ['tests'], message }]);
  }
  const issues: Issue[] = [];
  const read: z.infer<typeof testSchema>[] = [];
  for (const [i, one] of tests.entries()) {
    const test = testSchema.safeParse(one);
    if (test.success) read.push(test.data);
    else
      issues.push(
        ...test.error.issues.map(({ path, message }) => ({ path: ['tests', i, ...path], message })),
      );
    if (issues.length > MOST_ISSUES) break;
  }
  if (issues.length) throw invalidRecord(issues);
  return { ...record.data, tests: read };
}

/** Names at most ten faults, without quoting any of the record: `tests[0].payload: …; lang: …`. */
function invalidRecord(issues: readonly Issue[]): InvalidRecordError {
  const told = issues.slice(0, MOST_ISSUES).map(({ path, message }) => {
    const field = path.map((key, i) =>
      typeof key === 'number' ? `[${key}]` : `${i ? '.' : ''}${String(key)}`,
    );
    return `${field.join('') || 'the record'}: ${message}`;
  });
  if (issues.length > MOST_ISSUES) told.push('and more');
  return new InvalidRecordError(told.join('; '));
}
