import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { Pace } from '../../../service/src/http/pace.ts';
import type { Transfer } from '../../../service/src/http/pace.ts';

/** Keeps this process from running for so many milliseconds, as a busy machine does. */
const stall = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

test('a client is not slow while the process does not run, and is afterwards', async () => {
  const pace = new Pace({ paceTime: 100, paceBytes: 1 });
  const ended = new EventTarget();
  let hasEnded = false;
  const transfer: Transfer = {
    moved: 0,
    end: () => {
      hasEnded = true;
      ended.dispatchEvent(new Event('end'));
    },
  };
  const unwatch = pace.watch(transfer);
  stall(500);
  // The timers that are due run before this.
  await new Promise((resolve) => setImmediate(resolve));
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(hasEnded, false);
  // Its timer does not keep the process.
  const keepsProcess = setInterval(() => {}, 1000);
  await once(ended, 'end');
  clearInterval(keepsProcess);
  unwatch();
});
