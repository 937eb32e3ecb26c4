import assert from 'node:assert/strict';
import { test } from 'node:test';
import { measureLoad } from './load.ts';

// `npm run soak load` has 50 users for 60 s, and looks at the memory.
test('simultaneous users who write, build, test, deploy and run meet no error and lose no write', async () => {
  const figures = await measureLoad({ users: 6, seconds: 0, atLeast: 2 });
  assert.equal(figures.length, 2);
  for (const { name, value, limit, note } of figures) {
    assert.ok(value <= limit, `${name}: ${value} (${note})`);
  }
});
