import type { PluginTest } from 'plugin-editor/client.js';
import type { RunOutcome } from '../service/records.ts';
import { type JsonDifference, jsonDifferences, parseJson } from './json-difference.ts';

/**
 * What a run came to: `passed` and `failed` say whether the answer is the expected one, `ran` that none is expected. A run
 * that ended with an error failed in any case.
 */
export type Verdict = 'passed' | 'failed' | 'ran';

/** What a test expects, as text; `undefined` where it asserts nothing. */
export function expectedOf(test: PluginTest): string | undefined {
  const { expected } = test;
  if (expected === undefined || expected === null) return undefined;
  // Another program may have written a value in place of its text.
  return typeof expected === 'string' ? expected : JSON.stringify(expected, null, 2);
}

export function verdictOf(answer: RunOutcome, expected: string | undefined): Verdict {
  if ('error' in answer) return 'failed';
  if (expected === undefined) return 'ran';
  return isEqual(expected, answer.result) ? 'passed' : 'failed';
}

/** Whether two answers are the same: as JSON where both are JSON, else to the character. */
export function isEqual(expected: string, actual: string): boolean {
  return expected === actual || differencesOf(expected, actual)?.length === 0;
}

/** Where two answers differ, by path; `undefined` where they are not both JSON. */
export function differencesOf(expected: string, actual: string): JsonDifference[] | undefined {
  const [one, other] = [parseJson(expected), parseJson(actual)];
  return one && other && jsonDifferences(one.value, other.value);
}
