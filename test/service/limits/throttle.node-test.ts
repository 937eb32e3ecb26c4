import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Throttle } from '../../../service/src/limits/throttle.ts';

describe('a throttle', () => {
  test('gives the first turn at once, later ones at a pace, and refuses those that would wait too long', async (t) => {
    const turns = new Throttle({ interval: 50, waiting: 2 });
    const now = performance.now.bind(performance);
    // All ask at the same time, however long this process stands still between two of them. It is a whole number, as
    // the sum of a fraction and the interval may be rounded up, past the last wait that is allowed.
    const began = Math.ceil(now());
    t.mock.method(performance, 'now', () => began);
    const waits = await Promise.all(
      Array.from({ length: 5 }, async () => [await turns.take('key'), now() - began] as const),
    );
    assert.deepEqual(
      waits.map(([hasTurn]) => hasTurn),
      [true, true, true, false, false],
    );
    // A timer may come a millisecond early, and the time that all ask at is up to one late.
    assert.ok((waits[1]?.[1] ?? 0) >= 48 && (waits[2]?.[1] ?? 0) >= 98, JSON.stringify(waits));
  });

  test('paces each key on its own', async () => {
    const turns = new Throttle({ interval: 3_600_000, waiting: 0 });
    for (const key of ['one', 'other']) assert.equal(await turns.take(key), true);
    assert.equal(await turns.take('one'), false);
  });
});
