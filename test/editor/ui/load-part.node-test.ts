import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { lazyPart } from '../../../editor/src/ui/load-part.ts';

test('a part of the editor is loaded once for all who need it, and again only when it could not be loaded', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let isMissing = true;
  let requests = 0;
  const part = lazyPart(async () => {
    requests++;
    if (isMissing) throw new Error('404');
    return 'part';
  });
  const failure = assert.rejects(Promise.all([part.load(), part.load()]), /404/);
  for (let wait = 1; wait < 5; wait++) {
    await setImmediate();
    t.mock.timers.runAll();
  }
  await failure;
  assert.deepEqual([requests, part.loaded()], [5, undefined]);
  isMissing = false;
  assert.deepEqual(await Promise.all([part.load(), part.load()]), ['part', 'part']);
  assert.deepEqual([requests, part.loaded()], [6, 'part']);
  await part.load();
  assert.equal(requests, 6);
});
