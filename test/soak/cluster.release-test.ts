import assert from 'node:assert/strict';
import { test } from 'node:test';
import { measureClusterFaults } from './cluster.ts';

// `npm run soak cluster-faults cluster-load` has three nodes and 100 users, 120 s with faults and 600 s without.
test('nodes serve users without an error, and lose no acknowledged write while a node and the database are killed', async () => {
  const figures = await measureClusterFaults({
    nodes: 2,
    users: 4,
    seconds: 12,
    nodeKillEvery: 12,
    databaseKills: 1,
  });
  for (const { name, value, limit, note } of figures) {
    // How long it takes depends on the machine, which has other work here.
    assert.ok(value <= limit * 10, `${name}: ${value} (${note})`);
  }
});
