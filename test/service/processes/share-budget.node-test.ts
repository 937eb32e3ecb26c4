import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { requestShares } from '../../../service/src/http/shares.ts';
import { BusyError } from '../../../service/src/processes/fair-queue.ts';
import { ShareBudget } from '../../../service/src/processes/share-budget.ts';
import type { ShareLimits } from '../../../service/src/processes/share-budget.ts';

const limits: ShareLimits = { total: 160, perEnvironment: 80, perTenant: 40, perToken: 30 };

/** Takes one after the other for the owner that `name` names, such as "a.1.x", until it is refused; returns how many, and the level. */
function takeAll(budget: ShareBudget, name: string, amount = 1): [taken: number, level: string] {
  const [environment = '', tenant = '', token = ''] = name.split('.');
  for (let taken = 0; ; taken += amount) {
    try {
      budget.take({ environment, tenant, token }, amount);
    } catch (error) {
      assert.ok(error instanceof BusyError);
      return [taken, error.level];
    }
  }
}

describe('what each may hold of a budget', () => {
  const cases: [title: string, ...steps: [name: string, taken: number, level: string][]][] = [
    ['a token alone has its whole share', ['a.1.x', 30, 'token']],
    ['tokens leave something of the share of their tenant', ['a.1.x', 30, 'token'], ['a.1.y', 7, 'tenant']],
    [
      'tenants leave something of the share of their environment',
      ['a.1.x', 30, 'token'],
      ['a.1.y', 7, 'tenant'],
      ['a.2.x', 21, 'environment'],
      ['a.3.x', 11, 'environment'],
    ],
  ];
  for (const [title, ...steps] of cases) {
    test(title, () => {
      const budget = new ShareBudget(limits);
      for (const [name, ...expected] of steps) assert.deepEqual(takeAll(budget, name), expected, name);
    });
  }

  test('shrinks with what is left, so that environments leave something to the next one', () => {
    // The tenants and tokens have the whole share of their environment.
    const budget = new ShareBudget({ ...limits, perTenant: 80, perToken: 80 });
    const taken = ['a', 'b', 'c', 'd'].map((name) => takeAll(budget, `${name}.1.x`));
    assert.deepEqual(taken, [
      [80, 'environment'].with(1, 'token'),
      [40, 'service'],
      [20, 'service'],
      [10, 'service'],
    ]);
  });

  test('stays as it is where shares are fixed: two tenants have half of all, which is the share of their environment', () => {
    const budget = new ShareBudget({
      total: 8,
      perEnvironment: 4,
      perTenant: 2,
      perToken: 8,
      areFixed: true,
    });
    assert.deepEqual(
      ['a.1.x', 'a.2.x', 'a.3.x', 'b.1.x', 'b.2.x', 'c.1.x'].map((name) => takeAll(budget, name)),
      [
        [2, 'tenant'],
        [2, 'tenant'],
        [0, 'environment'],
        [2, 'tenant'],
        [2, 'tenant'],
        [0, 'service'],
      ],
    );
  });

  test('is at least one where there is room, however large that is', () => {
    const budget = new ShareBudget({ total: 4, perEnvironment: 3, perTenant: 3, perToken: 3 });
    assert.deepEqual(
      [takeAll(budget, 'a.1.x', 3), takeAll(budget, 'b.1.x'), takeAll(budget, 'c.1.x')],
      [
        [3, 'token'],
        [1, 'service'],
        [0, 'service'],
      ],
    );
  });

  for (const name of ['requests', 'received', 'unsent'] as const) {
    test(`leaves a third environment room beside two that take all that they can of the ${name}`, () => {
      const shares = requestShares[name];
      const budget = new ShareBudget(shares);
      const amount = shares.total / 1600;
      const all = ['a', 'b'].flatMap((environment) =>
        Array.from({ length: 10 }, (_, tenant) => `${environment}.${tenant}.x`),
      );
      // Again and again, in turns.
      for (let round = 0; round < 2; round++) for (const one of all) takeAll(budget, one, amount);
      const [left] = takeAll(budget, 'victim.1.x', amount);
      assert.ok(left >= shares.total / 40, `${left} of ${shares.total}`);
    });
  }
});
