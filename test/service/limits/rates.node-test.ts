import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { TestContext } from 'node:test';
import { parseDatabaseUrl } from '../../../service/src/storage/database-url.ts';
import { Rates } from '../../../service/src/limits/rates.ts';
import type { RatesOptions } from '../../../service/src/limits/rates.ts';
import type { Counters } from '../../../service/src/limits/rate-share.ts';
import {
  cleanUpFirst,
  databaseWithSchema,
  engines,
  openForInspection,
  openDuring,
  patientStorage,
  postgresTest,
} from '../storage/databases.ts';
import { TcpProxy } from '../../support/tcp-proxy.ts';
import { until } from '../../support/until.ts';
import { createRateCounters } from '../../../service/src/storage/tables/rate-counters.ts';

const minute = 60_000;
const start = Date.UTC(2026, 0, 1);

/** The rates of one node, with a clock that the test turns. */
function node(t: TestContext, counters: Counters, options: Partial<RatesOptions> = {}) {
  const clock = { now: start };
  // Where the database is there, a busy machine is no reason to think that it is lost.
  const rates = new Rates(counters, { now: () => clock.now, leaseTimeout: 30_000, ...options });
  cleanUpFirst(t, () => rates.close());
  return { rates, clock };
}

/** How many of `count` at once are taken. */
async function takeAtOnce(rates: Rates, key: string, quota: number, count: number): Promise<number> {
  const outcomes = await Promise.all(Array.from({ length: count }, async () => rates.take(key, quota)));
  return outcomes.filter((refusal) => refusal === undefined).length;
}

for (const engine of engines) {
  const twoNodes = async (t: TestContext) => {
    const address = await databaseWithSchema(t, engine);
    const storages = [
      await openDuring(t, address, patientStorage),
      await openDuring(t, address, patientStorage),
    ] as const;
    const [a, b] = [
      node(t, createRateCounters(storages[0].db)),
      node(t, createRateCounters(storages[1].db)),
    ] as const;
    return { address, storages, a, b };
  };

  for (const quota of [1, 60, 5000]) {
    test(`${engine}: one node allows exactly its ${quota} a minute, minute after minute`, async (t) => {
      const { a } = await twoNodes(t);
      for (let round = 0; round < 2; round++) {
        const count = Math.min(2 * quota, quota + 1000);
        assert.equal(await takeAtOnce(a.rates, 'key', quota, count), quota);
        a.clock.now += minute;
      }
    });

    test(`${engine}: two nodes allow ${quota} a minute together, to within a tenth or one for each`, async (t) => {
      const { a, b } = await twoNodes(t);
      const slack = Math.max(2, quota / 10);
      for (let round = 0; round < 2; round++) {
        let taken = 0;
        // One is asked three times as often as the other.
        for (let requested = 0; requested < 2 * quota + 20; requested += 200) {
          const counts = await Promise.all([
            takeAtOnce(a.rates, 'key', quota, 150),
            takeAtOnce(b.rates, 'key', quota, 50),
          ]);
          taken += counts[0] + counts[1];
        }
        assert.ok(Math.abs(taken - quota) <= slack, `${taken} of ${quota} were taken in round ${round}`);
        a.clock.now += minute;
        b.clock.now += minute;
      }
    });
  }

  for (const quota of [1, 600]) {
    test(`${engine}: three processes of a node allow ${quota} a minute together, to within a tenth or one`, async (t) => {
      const storage = await openDuring(t, await databaseWithSchema(t, engine), patientStorage);
      const processes = [0, 1, 2].map((index) =>
        node(t, createRateCounters(storage.db), { nodeShare: { index, count: 3 } }),
      );
      for (let round = 0; round < 2; round++) {
        let taken = 0;
        for (let requested = 0; requested < 2 * quota + 20; requested += 200) {
          const asked = processes.map(({ rates }, i) =>
            takeAtOnce(rates, 'key', quota, [120, 60, 20][i] ?? 0),
          );
          for (const count of await Promise.all(asked)) taken += count;
        }
        const slack = Math.max(1, quota / 10);
        assert.ok(Math.abs(taken - quota) <= slack, `${taken} of ${quota} were taken in round ${round}`);
        for (const { clock } of processes) clock.now += minute;
      }
    });
  }

  test(`${engine}: an idle node holds only a little, and the other has the rest`, async (t) => {
    const { a, b } = await twoNodes(t);
    assert.equal(await takeAtOnce(a.rates, 'key', 1000, 1), 1);
    const taken = 1 + (await takeAtOnce(b.rates, 'key', 1000, 2000));
    assert.ok(taken >= 900 && taken <= 1100, `${taken} of 1000`);
  });

  test(`${engine}: no request waits where each lease arrives before the share is used up`, async (t) => {
    const { storages } = await twoNodes(t);
    const inDatabase = createRateCounters(storages[0].db);
    let leases: Promise<unknown> | undefined;
    const { rates } = node(t, {
      ...inDatabase,
      lease: (requests, now) => {
        const leased = inDatabase.lease(requests, now);
        leases = leased;
        return leased;
      },
    });
    for (let i = 0; i < 1100; i++) {
      assert.equal(rates.take('key', 1200), undefined, `request ${i}`);
      // In this turn a lease is asked for, and in the next one it has arrived.
      await turn();
      await leases;
      await turn();
    }
  });

  test(`${engine}: each key has a counter of its own, which is deleted after its minute`, async (t) => {
    const { address, storages, a } = await twoNodes(t);
    const counts = await Promise.all(
      Array.from({ length: 300 }, (_, i) => takeAtOnce(a.rates, `key ${i}`, 2, 3)),
    );
    assert.deepEqual(new Set(counts), new Set([2]));
    const db = await openForInspection(t, address);
    const rows = async () => (await db.selectFrom('rate_counters').select('key').execute()).length;
    assert.equal(await rows(), 300);
    await createRateCounters(storages[1].db).prune(start + 2 * minute - 1);
    assert.equal(await rows(), 300);
    await createRateCounters(storages[1].db).prune(start + 2 * minute);
    assert.equal(await rows(), 0);
  });

  test(`${engine}: a counter written by a clock far ahead stops nobody`, async (t) => {
    const { a, b } = await twoNodes(t);
    a.clock.now += 3_600_000;
    assert.equal(await takeAtOnce(a.rates, 'key', 60, 100), 60);
    assert.equal(await takeAtOnce(b.rates, 'key', 60, 100), 60);
  });

  test(`${engine}: a rarely used rate costs the database nothing`, async (t) => {
    const { address, a } = await twoNodes(t);
    for (let i = 0; i < 5; i++) assert.equal(a.rates.take('key', 1200), undefined);
    // What would have been asked for is asked for together with this.
    await takeAtOnce(a.rates, 'other', 60, 10);
    const db = await openForInspection(t, address);
    const rows = await db.selectFrom('rate_counters').select('key').execute();
    assert.deepEqual(
      rows.map(({ key }) => key),
      ['other'],
    );
  });

  test(`${engine}: many keys do not fill the memory, and idle ones are forgotten`, async (t) => {
    const { storages } = await twoNodes(t);
    const { rates, clock } = node(t, createRateCounters(storages[0].db), { maxKeys: 1000 });
    for (let i = 0; i < 5000; i++) void rates.take(`key ${i}`, 600);
    assert.equal(rates.size, 1000);
    assert.equal(rates.has('key 4999'), true);
    await until('an idle key is forgotten', () => {
      clock.now += minute;
      return !rates.has('key 4999');
    });
  });
}

postgresTest(
  'postgres: without the database each node goes on with its share, and all is counted once it is back',
  async (t) => {
    const address = await databaseWithSchema(t, 'postgres');
    assert.ok(address.engine === 'postgres');
    const url = new URL(address.url);
    const proxy = await TcpProxy.start({ host: url.hostname, port: Number(url.port) });
    cleanUpFirst(t, () => proxy.close());
    url.port = String(proxy.port);
    const through = parseDatabaseUrl(url.href);
    /** The nodes that have leased. */
    const leasing = new Set<Counters>();
    const nodes = [await openDuring(t, through), await openDuring(t, through)].map((storage) => {
      const inDatabase = createRateCounters(storage.db);
      const counters: Counters = {
        ...inDatabase,
        async lease(requests, now) {
          const leases = await inDatabase.lease(requests, now);
          leasing.add(counters);
          return leases;
        },
      };
      return node(t, counters);
    });
    const quota = 600;
    let minutes = 0;
    /** What both nodes take of a minute that they want more of than there is. */
    const takeMinute = async () => {
      const counts = await Promise.all(
        nodes.map(async ({ rates }) => {
          let taken = 0;
          for (let i = 0; i < 20; i++) taken += await takeAtOnce(rates, 'key', quota, 50);
          return taken;
        }),
      );
      minutes += 1;
      for (const { clock } of nodes) clock.now += minute;
      return counts.reduce((sum, count) => sum + count, 0);
    };
    const isHeld = (taken: number) => Math.abs(taken - quota) <= quota / 10;
    for (let i = 0; i < 2; i++) assert.ok(isHeld(await takeMinute()));

    await proxy.refuse();
    for (let i = 0; i < 3; i++) {
      const taken = await takeMinute();
      assert.ok(isHeld(taken), `${taken} of ${quota} were taken without the database, in minute ${i}`);
    }
    await proxy.listen();
    // One node learns before the other that the database is back. Until both have, more is taken than is held to.
    leasing.clear();
    await until('both nodes lease again', async () => {
      await takeMinute();
      return leasing.size === nodes.length;
    });
    for (let i = 0; i < 2; i++) {
      const taken = await takeMinute();
      assert.ok(isHeld(taken), `${taken} of ${quota} were taken, in minute ${i} after the database's return`);
      const db = await openForInspection(t, address);
      const row = await db.selectFrom('rate_counters').selectAll().executeTakeFirstOrThrow();
      // A node that asks in advance may have begun the next minute.
      const isOver = row.ends_at <= start + minutes * minute;
      const counted = isOver ? row.used : row.previous_used;
      assert.ok(isHeld(counted), `${counted} of ${quota} were counted, in minute ${i}`);
    }
  },
);
