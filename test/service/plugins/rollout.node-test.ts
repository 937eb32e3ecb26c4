import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isInShare, isToStop, rolloutKey } from '../../../service/src/plugins/rollout.ts';

const keys = Array.from({ length: 10_000 }, (_, i) => `customer-${i}`);
const share = (percent: number, salt = '7 v1.0.1') => keys.filter((key) => isInShare(percent, salt, key));

describe('the share of a rollout', () => {
  for (const [percent, least, most] of [
    [1, 60, 140],
    [30, 2700, 3300],
    [99, 9860, 9940],
  ] as const) {
    test(`of ${percent} % gets between ${least} and ${most} of 10,000 runs`, () => {
      const { length } = share(percent);
      assert.ok(length >= least && length <= most, `${length}`);
    });
  }

  test('keeps its keys while the percentage grows, and is no more than that of it', () => {
    let before: string[] = [];
    for (const percent of [1, 2, 10, 30, 31, 75, 99]) {
      const now = new Set(share(percent));
      assert.deepEqual(
        before.filter((key) => !now.has(key)),
        [],
        `${percent}`,
      );
      before = [...now];
    }
  });

  test('has other keys for another version', () => {
    const first = new Set(share(30));
    const both = share(30, '7 v1.0.2').filter((key) => first.has(key));
    assert.ok(both.length > 600 && both.length < 1200, `${both.length}`);
  });
});

test('the key is what the caller sends, decoded, else the id of the request', () => {
  for (const [header, key] of [
    [undefined, 'id'],
    ['', 'id'],
    ['customer-7', 'customer-7'],
    ['m%C3%BCller', 'müller'],
    ['100%', '100%'],
  ] as const)
    assert.equal(rolloutKey(header, 'id'), key, header);
});

describe('a rollout with { runs: 10, failures: 0.1 }', () => {
  for (const [candidate, live, isStopped] of [
    [[9, 9], [100, 0], false],
    [[100, 100], [9, 0], false],
    [[10, 1], [10, 0], true],
    [[10, 3], [10, 2], true],
    [[100, 9], [100, 0], false],
    [[100, 50], [100, 50], false],
    [[100, 0], [100, 90], false],
  ] as const) {
    test(`${isStopped ? 'ends' : 'goes on'} at ${candidate.join('/')} against ${live.join('/')}`, () => {
      const sideOf = ([runs, failures]: readonly [number, number]) => ({ runs, failures });
      const stop = { runs: 10, failures: 0.1 };
      assert.equal(isToStop(stop, sideOf(candidate), sideOf(live)), isStopped);
    });
  }

  test('without a tolerance, equal shares go on and a greater one ends it', () => {
    const stop = { runs: 10, failures: 0 };
    assert.equal(isToStop(stop, { runs: 10, failures: 0 }, { runs: 10, failures: 0 }), false);
    assert.equal(isToStop(stop, { runs: 1000, failures: 1 }, { runs: 10, failures: 0 }), true);
  });
});
