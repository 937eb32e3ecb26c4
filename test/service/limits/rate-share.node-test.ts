import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RateShare } from '../../../service/src/limits/rate-share.ts';
import type { Lease } from '../../../service/src/limits/rate-share.ts';

const minute = 60_000;
const start = 1_000_000;

/** How many can be taken one after the other until it is something else, and what that is. */
function takeAll(share: RateShare, now: number, isOnline = true): [count: number, end: string] {
  for (let count = 0; ; count++) {
    const outcome = share.take(now, isOnline);
    if (outcome !== 'taken') return [count, outcome];
  }
}

const lease = (granted: number, more: Partial<Lease> = {}): Lease => ({
  endsAt: start + minute,
  granted,
  previousEndsAt: 0,
  previousUsed: 0,
  ...more,
});

for (const [quota, own] of [
  [1, 1],
  [60, 1],
  [199, 1],
  [200, 2],
  [1200, 12],
  [600_000, 6000],
] as const) {
  test(`of ${quota} a minute a node uses ${own} before its first lease, and reports them with it`, () => {
    const share = new RateShare(quota);
    assert.deepEqual(takeAll(share, start), [own, 'lease-needed']);
    assert.equal(share.createRequest(0).unbooked, own);
    assert.equal(share.createRequest(0).unbooked, 0);
  });
}

for (const [quota, own, largestLease] of [
  [1, [1, 0, 0], 1],
  [199, [1, 0, 0], 4],
  [1200, [4, 4, 4], 20],
  [1400, [5, 5, 4], 24],
] as const) {
  test(`of ${quota} a minute three processes of a node have in advance what one node has`, () => {
    const shares = own.map((_, index) => new RateShare(quota, { index, count: 3 }));
    assert.deepEqual(
      shares.map((share) => takeAll(share, start)),
      own.map((count) => [count, 'lease-needed']),
    );
    for (const share of shares) {
      for (let i = 0; i < 8; i++) {
        const request = share.createRequest(0);
        assert.ok(request.wanted <= largestLease, `${request.wanted} is more than ${largestLease}`);
        share.apply(request, lease(request.wanted), start);
        takeAll(share, start);
      }
      assert.equal(share.createRequest(0).wanted, largestLease);
    }
  });
}

test("leases grow with the node's use, up to a twentieth of the quota", () => {
  const share = new RateShare(1200);
  const sizes = Array.from({ length: 6 }, () => {
    takeAll(share, start);
    const request = share.createRequest(0);
    share.apply(request, lease(request.wanted), start);
    return request.wanted;
  });
  assert.deepEqual(sizes, [12, 24, 48, 60, 60, 60]);
});

test('a lease covers all requests that wait', () => {
  const share = new RateShare(60);
  share.take(start, true);
  assert.equal(share.createRequest(40).wanted, 40);
});

test('the next lease is requested when half of the last one is used', () => {
  const share = new RateShare(1200);
  const lows = Array.from({ length: 12 }, () => {
    share.take(start, true);
    return share.isLow;
  });
  assert.equal(lows.indexOf(true), 5);
});

test("a partial lease ends the node's share of this window, and the next window starts anew", () => {
  const share = new RateShare(60);
  share.take(start, true);
  share.apply(share.createRequest(10), lease(4, { endsAt: start + 50_000 }), start);
  assert.deepEqual(takeAll(share, start), [4, 'refused']);
  assert.equal(share.isLow, false);
  assert.equal(share.endsAt, start + 50_000);
  assert.deepEqual(takeAll(share, start + 49_999), [0, 'refused']);
  assert.deepEqual(takeAll(share, start + 50_000), [1, 'lease-needed']);
});

test('a lease that arrives after its window has ended is ignored', () => {
  const share = new RateShare(60);
  share.take(start, true);
  share.apply(share.createRequest(10), lease(10), start + minute);
  assert.deepEqual(takeAll(share, start), [0, 'lease-needed']);
});

test('a failed booking is repeated with the next request of the same window, and of no other', () => {
  const share = new RateShare(1200);
  share.take(start, true);
  share.giveUp(share.createRequest(0));
  const request = share.createRequest(0);
  assert.equal(request.unbooked, 12);
  share.take(start + minute, true);
  share.giveUp(request);
  assert.equal(share.createRequest(0).unbooked, 12);
});

test('a clock that is set back does not lengthen the window', () => {
  const share = new RateShare(60);
  share.take(start, true);
  share.apply(share.createRequest(1), lease(0), start);
  assert.deepEqual(takeAll(share, start), [0, 'refused']);
  assert.deepEqual(takeAll(share, start - 3_600_000), [1, 'lease-needed']);
});

test('a returned request can be taken again, and no more are returned than were taken', () => {
  const share = new RateShare(60);
  share.take(start, true);
  share.refund();
  share.refund();
  assert.deepEqual(takeAll(share, start), [1, 'lease-needed']);
});

test('without the database a node may use as much in each minute as it had in the last one', () => {
  const share = new RateShare(600);
  share.take(start, true);
  share.apply(share.createRequest(0), lease(194), start);
  assert.deepEqual(takeAll(share, start, false), [199, 'unknown']);
  for (const after of [1, 2, 3])
    assert.deepEqual(takeAll(share, start + after * minute, false), [200, 'refused']);
});

test('without the database the shares of all nodes add up to the quota', () => {
  // Of 300 that were taken in it, this node had 100 and the others 200.
  const share = new RateShare(600);
  share.take(start, true);
  share.apply(share.createRequest(0), lease(94), start);
  takeAll(share, start);
  const next = start + minute;
  share.take(next, true);
  const whole = { endsAt: next + minute, previousEndsAt: next, previousUsed: 300 };
  share.apply(share.createRequest(0), lease(6, whole), next);
  assert.deepEqual(takeAll(share, next, false), [199, 'refused']);
  assert.deepEqual(takeAll(share, next + minute, false), [200, 'refused']);
});

test('a used-up window stays used up when the database becomes unavailable', () => {
  const share = new RateShare(600);
  share.take(start, true);
  share.apply(share.createRequest(0), lease(94), start);
  takeAll(share, start);
  const next = start + minute;
  share.take(next, true);
  share.apply(share.createRequest(1), lease(0, { endsAt: next + minute }), next);
  takeAll(share, next);
  assert.deepEqual(takeAll(share, next, false), [0, 'refused']);
});

test('a node that never had a share uses its own part without the database, and does not call the rest used up', () => {
  assert.deepEqual(takeAll(new RateShare(600), start, false), [6, 'unknown']);
  assert.deepEqual(takeAll(new RateShare(10), start, false), [1, 'unknown']);
  // Here that is all there is.
  assert.deepEqual(takeAll(new RateShare(1), start, false), [1, 'refused']);
});
