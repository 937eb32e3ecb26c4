import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FAULTS } from './faults/kinds.ts';
import { type Cell, STEPS, allCells, nameOf, runCells } from './faults/matrix.ts';

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

test('the service survives one fault of each kind, and one in each step', { timeout: 300_000 }, async () => {
  const cells = allCells().filter((cell) => SHORT.includes(nameOf(cell)));
  assert.equal(cells.length, SHORT.length);
  assert.deepEqual(new Set(cells.map(({ step }: Cell) => step)), new Set(STEPS));
  assert.deepEqual(new Set(cells.map(({ fault }: Cell) => fault)), new Set(FAULTS));
  const { failures } = await runCells(cells, 2);
  assert.deepEqual(
    failures.map(({ cell, error }) => `${cell}: ${error.message}`),
    [],
  );
});
