import assert from 'node:assert/strict';
import { test } from 'node:test';
import { measureClusterFaults, measureClusterLoad } from './cluster.ts';

// `npm run soak cluster-faults cluster-load` has 100 users, 120 s with faults and 600 s without.
test('three nodes lose no acknowledged write while a node and the database are killed', async () => {
  const figures = await measureClusterFaults({ users: 10, seconds: 12, nodeKillEvery: 12, databaseKills: 1 });
  for (const { name, value, limit, note } of figures) {
    // How long it takes depends on the machine, which has other work here.
    assert.ok(value <= limit * 10, `${name}: ${value} (${note})`);
  }
});

test('three nodes serve users without an error', async () => {
  const figures = await measureClusterLoad({ users: 10, seconds: 10 });
  const [faults] = figures;
  assert.equal(faults?.value, 0, faults?.note);
});
