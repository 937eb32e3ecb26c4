import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Pace } from '../../../service/src/http/pace.ts';

const interval = 25;
const limits = { paceTime: 4 * interval, paceBytes: 1 };

// The process stops running in each quarter of the time in which the client has to send something.
for (const checks of [0, 1, 2, 3])
  test(`a client is not slow while the process does not run, after ${checks} checks, and is afterwards`, (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] });
    let now = 1000;
    const run = (ms: number) => {
      now += ms;
      t.mock.timers.tick(ms);
    };
    let ends = 0;
    const pace = new Pace(limits, () => now);
    const unwatch = pace.watch({ moved: 0, end: () => (ends += 1) });
    for (let i = 0; i < checks; i++) run(interval);
    now += 100 * limits.paceTime;
    run(interval);
    assert.equal(ends, 0);
    for (let i = checks; i < 4; i++) run(interval);
    assert.equal(ends, 1);
    unwatch();
  });
