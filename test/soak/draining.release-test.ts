import assert from 'node:assert/strict';
import { test } from 'node:test';
import { measureDraining } from './draining.ts';

// `npm run soak draining` has 50 rounds, half of them on SQLite. Nodes that end while others go on have PostgreSQL.
test('a service that is told to end under load fails no request', async () => {
  const figures = await measureDraining({ rounds: 1, databases: ['postgres'] });
  assert.equal(figures.length, 3);
  for (const { name, value, limit, note } of figures)
    assert.ok(value <= limit, `${name}: ${value} (${note})`);
});
