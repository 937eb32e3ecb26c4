import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { HttpError, NetworkError } from 'plugin-editor/client.js';
import { whileBusy } from '../../../editor/src/service/busy.ts';

const http = (status: number, retryAfter?: number) => new HttpError('GET /', status, retryAfter);
const lost = () => new NetworkError('GET /', undefined);

/** A step that fails with these errors, one after the other, and then succeeds. The test's clock waits for nothing. */
function failing(t: TestContext, ...errors: Error[]) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const attempts: number[] = [];
  const step = async () => {
    attempts.push(attempts.length + 1);
    const error = errors.shift();
    if (error) throw error;
    return 'done';
  };
  /** Lets all waits pass until the work has ended. */
  const finish = async <T>(work: Promise<T>): Promise<T> => {
    const state = { ended: false };
    const mark = () => (state.ended = true);
    work.then(mark, mark);
    while (!state.ended) {
      await new Promise((resolve) => setImmediate(resolve));
      t.mock.timers.tick(30_000);
    }
    return work;
  };
  return { attempts, step, finish };
}

test('a step waits for as long as a busy service asks', async (t) => {
  const { attempts, step, finish } = failing(t, http(429, 2000), http(503));
  const waits: number[] = [];
  const { signal } = new AbortController();
  assert.equal(await finish(whileBusy(step, { signal, onBusy: (wait) => waits.push(wait) })), 'done');
  assert.deepEqual(waits, [2000, 1000]);
  assert.equal(attempts.length, 3);
});

test('a step whose outcome is unknown is not repeated', async (t) => {
  for (const error of [lost(), http(500), http(502)]) {
    const { attempts, step, finish } = failing(t, error);
    await assert.rejects(finish(whileBusy(step, { signal: new AbortController().signal })), error);
    assert.equal(attempts.length, 1);
    t.mock.timers.reset();
  }
});

for (const [what, error, count] of [
  ['more than six times', http(503), 6],
  ['when it asks to wait for more than half a minute', http(503, 31_000), 1],
] as const) {
  test(`a busy service is not asked ${what}`, async (t) => {
    const { attempts, step, finish } = failing(t, ...Array.from({ length: 9 }, () => error));
    await assert.rejects(finish(whileBusy(step, { signal: new AbortController().signal })), error);
    assert.equal(attempts.length, count);
  });
}

test('an abort ends the wait', async (t) => {
  const { step } = failing(t, http(503));
  const controller = new AbortController();
  const reason = new Error('stopped');
  const work = whileBusy(step, { signal: controller.signal, onBusy: () => controller.abort(reason) });
  await assert.rejects(work, reason);
});
