import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { faultsFromRight, linesOf } from './reading-order.ts';

const box = { left: 0, right: 100 };
const at = (left: number, right: number, top = 0) => ({ left, right, top, bottom: top + 20 });

describe('the order from right to left', () => {
  it('is right when each line starts at the right edge and continues to the left', () => {
    assert.deepEqual(faultsFromRight([at(60, 100), at(0, 60), at(30, 100, 20)], box), []);
    assert.deepEqual(faultsFromRight([at(60, 100.4), at(-0.4, 60.4)], box), []);
  });

  for (const [what, things, fault] of [
    ['starts at the left', [at(0, 40)], /thing 1 of line 1.* is not at 100/],
    ['goes on to the right', [at(60, 100), at(50, 70)], /thing 2 of line 1.* is not left of 60/],
    ['ends outside of the box', [at(60, 100), at(-20, 60)], /thing 2 of line 1.* leaves its box at 0/],
    ['starts outside of the box', [at(60, 120)], /thing 1 of line 1.* is not at 100/],
    ['starts its second line at the left', [at(0, 100), at(0, 40, 20)], /thing 1 of line 2.* is not at 100/],
    ['holds something without a width', [at(100, 100)], /has no width/],
    ['holds nothing', [], /nothing is there/],
  ] as const) {
    it(`is wrong when it ${what}`, () => {
      const faults = faultsFromRight(things, box);
      assert.equal(faults.length, 1, faults.join('\n'));
      assert.match(faults[0]!, fault);
    });
  }

  it('counts what is beside something taller as the same line, and what is below as the next', () => {
    const tall = { ...at(50, 100), bottom: 60 };
    assert.deepEqual(
      linesOf([tall, at(0, 50, 20), at(0, 100, 60)]).map(({ length }) => length),
      [2, 1],
    );
  });
});
