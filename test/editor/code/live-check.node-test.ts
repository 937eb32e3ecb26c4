import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { type Diagnostic, HttpError, NetworkError } from 'plugin-editor/client.js';
import { LiveCheck } from '../../../editor/src/code/live-check.ts';

/** A check that takes `took` ms, fails with these errors in turn, and then finds nothing. Counts what it does. */
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
    failure(409),
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

/** A check whose requests end as a test says. Returns what it shows, and the requests. */
function startHeldCheck(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const text = { contents: 'one' };
  const requests: { contents: string; signal: AbortSignal; end: PromiseWithResolvers<Diagnostic[]> }[] = [];
  const shown: (string | undefined)[] = [];
  const check = new LiveCheck({
    read: () => ({ ...text, lang: 'javascript' }),
    check: ({ contents }, signal) => {
      const end = Promise.withResolvers<Diagnostic[]>();
      requests.push({ contents, signal, end });
      return end.promise;
    },
    onFound: ([problem]) => shown.push(problem?.message),
    onUnable: () => shown.push('unable'),
  });
  t.after(() => check.close());
  const sent = () => requests.map(({ contents }) => contents);
  const pass = async (time: number) => {
    t.mock.timers.tick(time);
    await setImmediate();
  };
  const end = async (result: string | Error) => {
    const { promise, resolve, reject } = requests.at(-1)?.end ?? Promise.withResolvers<Diagnostic[]>();
    if (result instanceof Error) reject(result);
    else resolve([{ line: 1, column: 1, message: result, severity: 'error' }]);
    await promise.catch(() => {});
    await setImmediate();
  };
  return { check, text, requests, shown, sent, pass, end };
}

for (const [how, result] of [
  ['succeeds', 'a problem of the former text'],
  ['fails', new NetworkError('The check', new TypeError())],
] as const) {
  test(`a check that ${how} after a change was not aborted, shows nothing, and is followed by one of the new text`, async (t) => {
    const { check, text, requests, shown, sent, pass, end } = startHeldCheck(t);
    check.schedule();
    await pass(150);
    text.contents = 'two';
    check.schedule();
    await pass(60_000);
    assert.equal(requests[0]?.signal.aborted, false);
    assert.deepEqual(sent(), ['one']);
    await end(result);
    await pass(2_000);
    assert.deepEqual([sent(), shown], [['one', 'two'], []]);
    await end('a problem');
    assert.deepEqual(shown, ['a problem']);
    await pass(1e6);
    assert.deepEqual(sent(), ['one', 'two']);
  });
}

test('a check that runs when an obstacle ends is aborted, and begun anew', async (t) => {
  const { check, requests, shown, sent, pass, end } = startHeldCheck(t);
  check.schedule();
  await pass(150);
  check.resume();
  assert.equal(requests[0]?.signal.aborted, true);
  await end(new DOMException('aborted', 'AbortError'));
  await pass(150);
  assert.deepEqual([sent().length, shown], [2, []]);
  await end('a problem');
  check.resume();
  await pass(1e6);
  assert.deepEqual([sent().length, shown], [2, ['a problem']]);
});

test('nothing is checked or shown once the plugin is closed', async (t) => {
  const { check, requests, shown, sent, pass, end } = startHeldCheck(t);
  check.schedule();
  await pass(150);
  check.schedule();
  check.close();
  assert.equal(requests[0]?.signal.aborted, true);
  await end(new DOMException('', 'AbortError'));
  await pass(1e6);
  assert.deepEqual([sent(), shown], [['one'], []]);
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

for (const status of [401, 404, 501]) {
  test(`a check that was refused with ${status} is not tried again`, async (t) => {
    const { check, pass } = startCheck(t, [failure(status)]);
    check.schedule();
    assert.deepEqual(await pass(150), [1, 0, 1]);
    assert.deepEqual(await pass(1e6), [1, 0, 1]);
  });
}
