import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FAULTS } from './faults/kinds.ts';
import { type FaultCase, STEPS, allCases, nameOf, runCases } from './faults/matrix.ts';

/** Each fault and each step at least once; `npm run soak faults` runs them all. */
const SHORT: readonly string[] = [
  'frame load: wrong type',
  'token request: 429 with Retry-After',
  'token request: reset midway',
  'features request: 500 for ever',
  'features request: hang',
  'draft: 10 MB body',
  'draft: 500 once',
  'draft: slow drip',
  'save: offline then online',
  'save: redirect elsewhere',
  'build stream: empty body',
  'test: 429 without Retry-After',
  'deploy: truncated JSON',
  'renewal: refused',
  'save: killed and restarted',
];

test('the service survives one fault of each kind, and one in each step', async () => {
  const cases = allCases().filter((faultCase) => SHORT.includes(nameOf(faultCase)));
  assert.equal(cases.length, SHORT.length);
  assert.deepEqual(new Set(cases.map(({ step }: FaultCase) => step)), new Set(STEPS));
  assert.deepEqual(new Set(cases.map(({ fault }: FaultCase) => fault)), new Set(FAULTS));
  const { failures } = await runCases(cases, 4);
  assert.deepEqual(
    failures.map(({ faultCase, error }) => `${faultCase}: ${error.message}`),
    [],
  );
});
