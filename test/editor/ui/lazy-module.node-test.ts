import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { lazyModule } from '../../../editor/src/ui/lazy-module.ts';

test('a lazy module is loaded once, and again only when it could not be loaded', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let isMissing = true;
  let requests = 0;
  const lazy = lazyModule(async () => {
    requests++;
    if (isMissing) throw new Error('404');
    return 'module';
  });
  const failure = assert.rejects(Promise.all([lazy.load(), lazy.load()]), /404/);
  for (let wait = 1; wait < 5; wait++) {
    await setImmediate();
    t.mock.timers.runAll();
  }
  await failure;
  assert.deepEqual([requests, lazy.loaded()], [5, undefined]);
  isMissing = false;
  assert.deepEqual(await Promise.all([lazy.load(), lazy.load()]), ['module', 'module']);
  assert.deepEqual([requests, lazy.loaded()], [6, 'module']);
  await lazy.load();
  assert.equal(requests, 6);
});
