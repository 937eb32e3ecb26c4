import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Figure, print } from './figures.ts';

const figure = (value: number, bound?: Figure['bound']): Figure => ({
  name: 'a figure',
  value,
  limit: 2,
  unit: 'ms',
  ...(bound && { bound }),
});

for (const [bound, value, isMet] of [
  [undefined, 2, true],
  [undefined, 2.1, false],
  ['at most', 2.1, false],
  ['at least', 2, true],
  ['at least', 1.9, false],
  // A measurement without a single answer must not pass.
  [undefined, NaN, false],
  ['at least', NaN, false],
] as const) {
  test(`a value of ${value} ${isMet ? 'meets' : 'misses'} a limit of ${bound ?? 'by default at most'} 2`, (t) => {
    t.mock.method(console, 'log', () => {});
    assert.equal(print([figure(value, bound)]), isMet);
  });
}
