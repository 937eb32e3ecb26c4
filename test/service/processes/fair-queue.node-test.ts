import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import * as fc from 'fast-check';
import { BusyError, FairQueue } from '../../../service/src/processes/fair-queue.ts';
import type { FairQueueLimits, Release, QueueOwner } from '../../../service/src/processes/fair-queue.ts';

const limits: FairQueueLimits = {
  slots: 1,
  slotsPerEnvironment: 1,
  waiting: 100,
  waitingPerEnvironment: 100,
  waitingPerTenant: 100,
  waitingPerToken: 100,
};

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

function usedHeap(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

/** `environment/tenant/token`, of which the last may be missing. */
function ownerOf(path: string): QueueOwner {
  const [environment = '', tenant = '', token = ''] = path.split('/');
  return { environment, tenant, token };
}

/** Acquires turns, and notes in which order they come. */
function recorder(queue: FairQueue) {
  const order: string[] = [];
  const releases = new Map<string, Release>();
  const acquire = async (path: string, name: string, signal?: AbortSignal) => {
    releases.set(name, await queue.acquire(ownerOf(path), signal && (() => signal)));
    order.push(name);
  };
  // What the end of a turn sets off has happened once the promises that hang on it have run.
  const release = async (name: string) => {
    releases.get(name)?.();
    await new Promise(setImmediate);
  };
  /** Releases whoever holds a turn until nobody waits any more. */
  const drain = async () => {
    for (let i = 0; i < order.length; i++) await release(order[i] ?? '');
  };
  return { order, acquire, release, drain };
}

/** Makes all of them wait behind one turn, and returns the order in which they get theirs. */
async function orderOf(queue: FairQueue, requests: readonly (readonly [path: string, name: string])[]) {
  const { order, acquire, release, drain } = recorder(queue);
  await acquire('first', 'first');
  const all = requests.map(([path, name]) => acquire(path, name));
  await release('first');
  await drain();
  await Promise.all(all);
  return order.slice(1);
}

test('environments take turns, however many tenants and requests one of them has', async () => {
  const order = await orderOf(new FairQueue(limits), [
    ['a/t1', 'a1'],
    ['a/t2', 'a2'],
    ['a/t3', 'a3'],
    ['b/t1', 'b1'],
    ['b/t1', 'b2'],
  ]);
  assert.deepEqual(order, ['a1', 'b1', 'a2', 'b2', 'a3']);
});

test('tenants of an environment take turns, however many tokens one of them has', async () => {
  const order = await orderOf(new FairQueue(limits), [
    ['a/t1/k1', 't1 k1'],
    ['a/t1/k2', 't1 k2'],
    ['a/t1/k3', 't1 k3'],
    ['a/t2/k1', 't2 k1'],
    ['a/t2/k1', 't2 k1 again'],
  ]);
  assert.deepEqual(order, ['t1 k1', 't2 k1', 't1 k2', 't2 k1 again', 't1 k3']);
});

test('tokens of a tenant take turns, and each is served in the order of its requests', async () => {
  const order = await orderOf(new FairQueue(limits), [
    ['a/t/k1', 'k1 first'],
    ['a/t/k1', 'k1 second'],
    ['a/t/k1', 'k1 third'],
    ['a/t/k2', 'k2 first'],
    ['a/t', 'no token'],
  ]);
  assert.deepEqual(order, ['k1 first', 'k2 first', 'no token', 'k1 second', 'k1 third']);
});

test('an environment leaves a slot to the others, unless there is only one', async () => {
  const { slotsPerEnvironment: _, ...byDefault } = limits;
  const { order, acquire, release } = recorder(new FairQueue({ ...byDefault, slots: 3 }));
  await acquire('a/t1', 'a1');
  await acquire('a/t2', 'a2');
  const third = acquire('a/t3', 'a3');
  await acquire('b/t1', 'b1');
  assert.deepEqual(order, ['a1', 'a2', 'b1']);
  // The slot that b gives back is free, and still not for a.
  await release('b1');
  assert.deepEqual(order, ['a1', 'a2', 'b1']);
  await release('a1');
  await third;
  const single = await new FairQueue(byDefault).acquire(ownerOf('a/t'));
  single();
});

test('a tenant leaves slots of its environment to the other tenants', async () => {
  const queue = new FairQueue({ ...limits, slots: 4, slotsPerEnvironment: 3, slotsPerTenant: 1 });
  const { order, acquire, release } = recorder(queue);
  await acquire('a/t1/k1', 'a1');
  const second = acquire('a/t1/k2', 'a2');
  await acquire('a/t2', 'a3');
  assert.deepEqual(order, ['a1', 'a3']);
  await release('a1');
  await second;
  assert.deepEqual(order, ['a1', 'a3', 'a2']);
});

const full: [level: string, limit: Partial<FairQueueLimits>, taken: string, refused: string, free: string][] =
  [
    ['token', { waitingPerToken: 1 }, 'a/t/k', 'a/t/k', 'a/t/k2'],
    ['tenant', { waitingPerTenant: 1 }, 'a/t/k', 'a/t/k2', 'a/t2/k'],
    ['environment', { waitingPerEnvironment: 1 }, 'a/t/k', 'a/t2/k', 'b/t/k'],
  ];

for (const [level, limit, taken, refused, free] of full) {
  test(`beyond the places of one ${level} requests are refused at once, and those of others are not`, async () => {
    const queue = new FairQueue({ ...limits, ...limit });
    const { acquire, release, drain } = recorder(queue);
    await acquire('first', 'first');
    const all = [acquire(taken, 'waits')];
    const own = level !== 'environment';
    assert.throws(
      () => queue.acquire(ownerOf(refused)),
      (error: unknown) => error instanceof BusyError && error.level === level && error.isOwn === own,
    );
    all.push(acquire(free, 'another'));
    // A place is free again once its waiter has got its turn.
    await release('first');
    all.push(acquire(refused, 'later'));
    await drain();
    await Promise.all(all);
    assert.equal(queue.waiting, 0);
  });
}

test('beyond all places together requests are refused at once, without blaming the one that asked', async () => {
  const queue = new FairQueue({ ...limits, waiting: 2 });
  const { acquire, drain } = recorder(queue);
  await acquire('first', 'first');
  const all = [acquire('a/t', 'a'), acquire('b/t', 'b')];
  assert.throws(
    () => queue.acquire(ownerOf('c/t')),
    (error: unknown) => error instanceof BusyError && error.level === 'service' && !error.isOwn,
  );
  await drain();
  await Promise.all(all);
});

test('a withdrawn request loses its place, holds nothing and keeps nobody waiting', async () => {
  const queue = new FairQueue(limits);
  const { order, acquire, release } = recorder(queue);
  await acquire('a/t', 'a');
  const controller = new AbortController();
  const withdrawn = assert.rejects(acquire('b/t', 'b', controller.signal), { name: 'AbortError' });
  const next = acquire('c/t', 'c');
  assert.equal(queue.waiting, 2);
  controller.abort();
  await withdrawn;
  assert.equal(queue.waiting, 1);
  await release('a');
  await next;
  await release('c');
  await acquire('d/t', 'd');
  assert.deepEqual(order, ['a', 'c', 'd']);
  await assert.rejects(
    queue.acquire(ownerOf('e/t'), () => controller.signal),
    { name: 'AbortError' },
  );
});

test('requests that were withdrawn before they came leave nothing in memory', async () => {
  const queue = new FairQueue(limits);
  const { acquire } = recorder(queue);
  await acquire('a/t', 'a');
  const before = usedHeap();
  for (let i = 0; i < 20_000; i++) {
    await assert.rejects(queue.acquire(ownerOf(`a/t/${i}`), () => AbortSignal.abort()));
  }
  // With a node for each token they would hold more than 10 MB.
  const grown = usedHeap() - before;
  assert.ok(grown < 4e6, `${grown} bytes`);
});

test('a signal that aborts after the turn has begun changes nothing', async () => {
  const queue = new FairQueue(limits);
  const { order, acquire, release } = recorder(queue);
  const controller = new AbortController();
  await acquire('a/t', 'a');
  const second = acquire('b/t', 'b', controller.signal);
  await release('a');
  await second;
  controller.abort();
  const third = acquire('c/t', 'c');
  assert.deepEqual(order, ['a', 'b']);
  await release('b');
  await third;
});

test('a turn that is ended twice frees one slot', async () => {
  const queue = new FairQueue(limits);
  const release = await queue.acquire(ownerOf('a/t'));
  release();
  release();
  const { order, acquire } = recorder(queue);
  await acquire('a/t', 'a1');
  const second = acquire('b/t', 'b1');
  await new Promise(setImmediate);
  assert.deepEqual(order, ['a1']);
  void second;
});

test('no sequence of requests, withdrawals and ends exceeds a limit or leaves anything waiting', async () => {
  const owner = fc.record({
    environment: fc.constantFrom('a', 'b', 'c'),
    tenant: fc.constantFrom('t1', 't2'),
    token: fc.constantFrom('', 'k1', 'k2'),
  });
  const step = fc.oneof(
    fc.record({ type: fc.constant('acquire' as const), owner }),
    fc.record({ type: fc.constantFrom('release' as const, 'withdraw' as const), index: fc.nat(20) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const queue = new FairQueue({ ...limits, slots: 3, slotsPerEnvironment: 2, slotsPerTenant: 1 });
      const holding: { owner: QueueOwner; release: Release }[] = [];
      const waiting: AbortController[] = [];
      const count = (is: (one: QueueOwner) => boolean) => holding.filter((one) => is(one.owner)).length;
      const settle = () => new Promise(setImmediate);
      const acquireInto = async (one: QueueOwner, controller: AbortController) => {
        try {
          const release = await queue.acquire(one, () => controller.signal);
          holding.push({ owner: one, release });
        } catch {
          // It was withdrawn.
        } finally {
          waiting.splice(waiting.indexOf(controller), 1);
        }
      };
      for (const one of steps) {
        if (one.type === 'acquire') {
          const controller = new AbortController();
          waiting.push(controller);
          void acquireInto(one.owner, controller);
        } else if (one.type === 'release') holding.splice(one.index, 1)[0]?.release();
        else waiting[one.index]?.abort();
        await settle();
        assert.ok(holding.length <= 3);
        for (const { owner: held } of holding) {
          assert.ok(count(({ environment }) => environment === held.environment) <= 2);
          assert.ok(
            count(({ environment, tenant }) => environment === held.environment && tenant === held.tenant) <=
              1,
          );
        }
        assert.equal(queue.waiting, waiting.length);
      }
      for (let next = holding.shift(); next; next = holding.shift()) {
        next.release();
        await settle();
      }
      assert.equal(queue.waiting, 0);
    }),
    { numRuns: 200 },
  );
});

test('of three thousand waiting requests those that are not withdrawn are all served', async () => {
  const count = 3000;
  const queue = new FairQueue({
    ...limits,
    waiting: count,
    waitingPerEnvironment: count,
    waitingPerTenant: count,
    waitingPerToken: count,
  });
  const first = await queue.acquire(ownerOf('first'));
  let served = 0;
  const withdrawn: AbortController[] = [];
  const all = Array.from({ length: count }, async (_, i) => {
    const controller = new AbortController();
    if (i % 2) withdrawn.push(controller);
    try {
      const release = await queue.acquire(
        ownerOf(`e${i % 7}/t${i % 1000}/k${i % 5000}`),
        () => controller.signal,
      );
      served += 1;
      release();
    } catch {
      // It was withdrawn.
    }
  });
  for (const controller of withdrawn) controller.abort();
  first();
  await Promise.all(all);
  assert.equal(served, count / 2);
});
