import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { HttpError, NetworkError } from 'plugin-editor/client.js';
import { LiveCheck } from '../../../editor/src/code/live-check.ts';

/** A check that fails with these errors in turn, and then finds nothing, and takes so many ms. Counts what it does. */
function startCheck(t: TestContext, failures: readonly Error[], took = 0) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let now = 0;
  t.mock.method(performance, 'now', () => now);
  const count = { checks: 0, found: 0, unable: 0 };
  const check = new LiveCheck({
    read: () => ({ contents: '', lang: 'javascript' }),
    check: async () => {
      const error = failures[count.checks++];
      now += took;
      if (error) throw error;
      return [];
    },
    onFound: () => count.found++,
    onUnable: () => count.unable++,
  });
  t.after(() => check.close());
  const pass = async (time: number) => {
    t.mock.timers.tick(time);
    await setImmediate();
    return Object.values(count);
  };
  return { check, pass };
}

const failure = (status: number, retryAfter?: number) => new HttpError('The check', status, retryAfter);

test('a check that fails is tried again without another change, ever more rarely', async (t) => {
  const { check, pass } = startCheck(t, [
    new NetworkError('The check', new TypeError('no connection')),
    failure(503),
    failure(429, 40_000),
  ]);
  check.schedule();
  assert.deepEqual(await pass(150), [1, 0, 1]);
  assert.deepEqual(await pass(4_999), [1, 0, 1]);
  assert.deepEqual(await pass(1), [2, 0, 2]);
  assert.deepEqual(await pass(9_999), [2, 0, 2]);
  assert.deepEqual(await pass(1), [3, 0, 3]);
  // Longer than by itself, because the service asked for it.
  assert.deepEqual(await pass(39_999), [3, 0, 3]);
  assert.deepEqual(await pass(1), [4, 1, 3]);
  assert.deepEqual(await pass(1e6), [4, 1, 3]);
});

test('a change in the meantime checks at once, and instead', async (t) => {
  const { check, pass } = startCheck(t, [failure(503)]);
  check.schedule();
  await pass(150);
  check.schedule();
  assert.deepEqual(await pass(1_000), [2, 1, 1]);
  assert.deepEqual(await pass(1e6), [2, 1, 1]);
});

test('one that failed is tried again once its obstacle has ended, unless the service said when to', async (t) => {
  const { check, pass } = startCheck(t, [failure(401), failure(503, 40_000)]);
  check.schedule();
  await pass(150);
  check.resume();
  assert.deepEqual(await pass(150), [2, 0, 2]);
  check.resume();
  assert.deepEqual(await pass(39_999), [2, 0, 2]);
  assert.deepEqual(await pass(1), [3, 1, 2]);
  check.resume();
  assert.deepEqual(await pass(1e6), [3, 1, 2]);
});

for (const [took, delay] of [
  [20, 150],
  [400, 800],
  // The first of a language on a busy machine.
  [25_000, 2_000],
] as const) {
  test(`a check that took ${took} ms is followed by the next one ${delay} ms after a change`, async (t) => {
    const { check, pass } = startCheck(t, [], took);
    check.schedule();
    assert.deepEqual(await pass(150), [1, 1, 0]);
    check.schedule();
    assert.deepEqual(await pass(delay - 1), [1, 1, 0]);
    assert.deepEqual(await pass(1), [2, 2, 0]);
  });
}

for (const status of [401, 404, 409, 501]) {
  test(`a check that was refused with ${status} is not tried again`, async (t) => {
    const { check, pass } = startCheck(t, [failure(status)]);
    check.schedule();
    assert.deepEqual(await pass(150), [1, 0, 1]);
    assert.deepEqual(await pass(1e6), [1, 0, 1]);
  });
}
