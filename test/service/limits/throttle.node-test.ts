import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Throttle } from '../../../service/src/limits/throttle.ts';

describe('a throttle', () => {
  test('gives the first turn at once, later ones at a pace, and refuses those that would wait too long', async (t) => {
    const turns = new Throttle({ interval: 50, waiting: 2 });
    const now = performance.now.bind(performance);
    const began = now();
    // All ask at the same time, however long this process stands still between two of them.
    t.mock.method(performance, 'now', () => began);
    const waits = await Promise.all(
      Array.from({ length: 5 }, async () => [await turns.take('key'), now() - began] as const),
    );
    assert.deepEqual(
      waits.map(([hasTurn]) => hasTurn),
      [true, true, true, false, false],
    );
    // A timer may come a millisecond early.
    assert.ok((waits[1]?.[1] ?? 0) >= 49 && (waits[2]?.[1] ?? 0) >= 99, JSON.stringify(waits));
  });

  test('paces each key on its own', async () => {
    const turns = new Throttle({ interval: 3_600_000, waiting: 0 });
    for (const key of ['one', 'other']) assert.equal(await turns.take(key), true);
    assert.equal(await turns.take('one'), false);
  });
});
