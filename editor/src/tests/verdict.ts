import type { PluginTest } from 'plugin-editor/client.js';
import { canonicalJson } from '../plugin/source.ts';
import type { RunOutcome } from '../pipeline/pipeline.ts';

/**
 * How a run is judged: `passed` and `failed` say whether its result is the expected one, `ran` that none is expected. A run
 * that ended with an error has failed in any case.
 */
export type Verdict = 'passed' | 'failed' | 'ran';

/** What a test expects: a text, or the value that another program has written. */
type Expectation = Pick<PluginTest, 'expected'>;

/** The result that a test expects, as text; `undefined` where it expects none. */
export function expectedOf({ expected }: Expectation): string | undefined {
  if (expected === undefined || expected === null) return undefined;
  return typeof expected === 'string' ? expected : JSON.stringify(expected, null, 2);
}

export function verdictOf(outcome: RunOutcome, test: Expectation): Verdict {
  if ('error' in outcome) return 'failed';
  const expected = expectedOf(test);
  if (expected === undefined) return 'ran';
  // The integers of a value, unlike those of a text, were rounded when the draft was parsed.
  const parse = typeof test.expected === 'string' ? parseExactly : parseRounded;
  return isEqual(expected, outcome.result, parse) ? 'passed' : 'failed';
}

/** Whether two results are equal: as JSON values where both are JSON, else as texts. */
export function isEqual(expected: string, actual: string, parse = parseExactly): boolean {
  if (expected === actual) return true;
  try {
    return comparableJson(expected, parse) === comparableJson(actual, parse);
  } catch {
    // One of them is not JSON.
    return false;
  }
}

/** A JSON text in a form that is the same for equal values. `JSON.stringify` would write `null` for a number that is too large. */
const comparableJson = (text: string, parse: typeof parseExactly): string =>
  canonicalJson(
    parse(text, (value) =>
      typeof value === 'bigint' || value === Infinity || value === -Infinity
        ? { number: String(value) }
        : value,
    ),
  );

/** Parses JSON. An integer that a double does not hold becomes a `bigint`, where the browser says how numbers were written. */
export const parseExactly = (text: string, revive = (value: unknown) => value): unknown =>
  JSON.parse(text, (_, value: unknown, context?: { source?: string }) =>
    revive(integerOf(value, context?.source) ?? value),
  );

const parseRounded = (text: string, revive = (value: unknown) => value): unknown =>
  JSON.parse(text, (_, value: unknown) => revive(value));

function integerOf(value: unknown, source = ''): bigint | undefined {
  // One with a million digits would take seconds.
  if (!Number.isFinite(value) || Number.isSafeInteger(value) || !/^-?\d+$/.test(source)) return undefined;
  const exact = BigInt(source);
  return exact === BigInt(value as number) ? undefined : exact;
}
