import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { storeBatch } from '../../../service/src/runs/recording.ts';
import { RunRetention } from '../../../service/src/runs/retention.ts';
import type { RetentionOptions } from '../../../service/src/runs/retention.ts';
import { cleanUpFirst, engines, freshStorage } from '../storage/databases.ts';
import type { EngineName } from '../storage/databases.ts';
import { otherPlugin, plugin } from '../storage/plugins.ts';
import { deployed, failed, recordOf } from './records.ts';
import type { Storage } from '../../../service/src/storage/storage.ts';
import { listRuns } from '../../../service/src/storage/tables/runs.ts';
import { listUsage } from '../../../service/src/storage/tables/usage.ts';

const day = 86_400_000;

async function startRetention(t: TestContext, engine: EngineName, options: Partial<RetentionOptions> = {}) {
  const storage = await freshStorage(t, engine);
  const version = await deployed(storage);
  const other = await deployed(storage, otherPlugin);
  const createRetention = () => {
    const retention = new RunRetention({ storage, days: 14, count: 10, ...options });
    cleanUpFirst(t, () => retention.close());
    return retention;
  };
  const count = async (of = plugin, success?: boolean) =>
    (await listRuns(storage.db, of, { success }, { limit: 2000 })).runs.length;
  return { storage, version, other, createRetention, count };
}

for (const engine of engines) {
  test(`${engine}: a set number of the newest successes and failures of each plugin is kept`, async (t) => {
    const { storage, version, other, createRetention, count } = await startRetention(t, engine);
    const retention = createRetention();
    await retention.sweep();
    const records = [
      ...Array.from({ length: 500 }, () => recordOf(version)),
      ...Array.from({ length: 30 }, () => recordOf(version, failed())),
      ...Array.from({ length: 5 }, () => recordOf(other)),
    ];
    await storeBatch(storage, { records, usage: [] });
    retention.handleStored(records);
    await retention.sweep();
    assert.deepEqual(
      [await count(plugin, true), await count(plugin, false), await count(otherPlugin)],
      [10, 10, 5],
    );
    const { runs } = await listRuns(storage.db, plugin, { success: true }, { limit: 20 });
    const kept = runs.map(({ id }) => id);
    assert.deepEqual(
      kept,
      records
        .slice(490, 500)
        .map(({ id }) => id)
        .toReversed(),
    );
  });

  test(`${engine}: records that a node left behind are trimmed by the next one that starts`, async (t) => {
    const { storage, version, createRetention, count } = await startRetention(t, engine);
    await storeBatch(storage, { records: Array.from({ length: 30 }, () => recordOf(version)), usage: [] });
    await createRetention().sweep();
    assert.equal(await count(), 10);
  });

  test(`${engine}: two nodes can trim the same plugin at the same time`, async (t) => {
    const { storage, version, createRetention, count } = await startRetention(t, engine);
    await storeBatch(storage, { records: Array.from({ length: 2000 }, () => recordOf(version)), usage: [] });
    const nodes = [createRetention(), createRetention()];
    await Promise.all(nodes.map((node) => node.sweep()));
    await nodes[0]?.sweep();
    assert.equal(await count(), 10);
  });

  test(`${engine}: records are deleted at their maximum age, and usage after 400 days`, async (t) => {
    const now = Date.UTC(2026, 5, 1, 12);
    const { storage, version, createRetention, count } = await startRetention(t, engine, {
      now: () => now,
      count: 1000,
    });
    const at = (age: number) => recordOf(version, {}, now - age);
    const records = [
      ...Array.from({ length: 450 }, () => at(15 * day)),
      at(14 * day + 1),
      at(14 * day),
      at(400 * day),
      at(401 * day),
    ];
    await storeBatch(storage, { records, usage: [] });
    await createRetention().sweep();
    assert.equal(await count(), 1);
    const days = ['2025-04-26', '2025-04-27', '2026-05-17', '2026-05-18'];
    const usage = await listUsage(storage.db, { environment: 'com.acme', days }, { limit: 10 });
    assert.deepEqual(
      usage.map((one) => [one.day, one.runs]),
      [
        ['2025-04-27', 1],
        ['2026-05-17', 450],
        ['2026-05-18', 2],
      ].map(([name, runs]) => [name, runs]),
    );
  });

  for (const [what, plugins, wait] of [
    ['that grow with each deletion', 2, 0],
    ['of which there are many', 1000, 11_000],
  ] as const) {
    test(`${engine}: plugins ${what} do not keep old records from being deleted`, async (t) => {
      const { storage, version, count } = await startRetention(t, engine);
      await storeBatch(storage, { records: [recordOf(version, {}, Date.now() - 15 * day)], usage: [] });
      const grown = Array.from({ length: plugins }, (_, i) =>
        recordOf({ ...version, pluginId: version.pluginId + i }),
      );
      const performanceNow = performance.now.bind(performance);
      let waited = 0;
      t.mock.method(performance, 'now', () => performanceNow() + waited);
      let statements = 0;
      const retention = watchStatements(t, storage, () => {
        statements += 1;
        waited += wait;
        if (statements < 100) retention.handleStored(grown);
      });
      retention.handleStored(grown);
      await retention.sweep();
      assert.equal(await count(), 0);
      assert.ok(statements < 20, String(statements));
    });
  }

  test(`${engine}: what fails for one plugin is reported, and done for the others`, async (t) => {
    const { storage, version, other, count } = await startRetention(t, engine);
    const records = Array.from({ length: 30 }, () => recordOf(version));
    await storeBatch(storage, {
      records: [...records, recordOf(other, {}, Date.now() - 15 * day)],
      usage: [],
    });
    const errors: unknown[] = [];
    let tries = 0;
    const refused = 987_654;
    const watch = (statement: string) => {
      if (!statement.includes(String(refused))) return;
      tries += 1;
      throw new Error('refused');
    };
    const retention = watchStatements(t, storage, watch, (error) => errors.push(error));
    retention.handleStored([recordOf({ ...version, pluginId: refused }), ...records]);
    await retention.sweep();
    await retention.sweep();
    assert.deepEqual([await count(plugin), await count(otherPlugin)], [10, 0]);
    assert.equal(tries, 2);
    assert.deepEqual(errors.map(String), ['Error: refused']);
  });
}

/** The retention of a storage, with a function that is called with each of its statements. */
function watchStatements(
  t: TestContext,
  storage: Storage,
  watch: (statement: string) => void,
  onError: (error: unknown) => void = (error) => assert.fail(String(error)),
): RunRetention {
  const query = storage.db.query.withPlugin({
    transformQuery({ node }) {
      watch(JSON.stringify(node));
      return node;
    },
    transformResult: async ({ result }) => result,
  });
  const watched = {
    db: { ...storage.db, query },
    transaction: storage.transaction.bind(storage),
    isSchemaReady: true,
  };
  const retention = new RunRetention({ storage: watched, days: 14, count: 10, onError });
  cleanUpFirst(t, () => retention.close());
  return retention;
}
