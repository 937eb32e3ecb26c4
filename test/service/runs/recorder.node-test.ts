import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { storeBatch } from '../../../service/src/runs/recording.ts';
import { maxRecords, RecordQueue } from '../../../service/src/runs/record-queue.ts';
import { RunRecorder } from '../../../service/src/runs/recorder.ts';
import type { Batch } from '../../../service/src/runs/recorder.ts';
import { dayOf } from '../../../service/src/runs/usage-sum.ts';
import { toRecord } from '../../../service/src/runs/to-record.ts';
import { StorageUnavailableError } from '../../../service/src/storage/errors.ts';
import { findRun, listRuns } from '../../../service/src/storage/tables/runs.ts';
import type { RunFilter, RunRecord } from '../../../service/src/storage/tables/runs.ts';
import { engines, databaseWithSchema, openDuring } from '../storage/databases.ts';
import type { EngineName } from '../storage/databases.ts';
import { plugin } from '../storage/plugins.ts';
import { deployed, failed, recordOf, refuseInputsOf, runOf, unknownVersion } from './records.ts';
import { until } from '../../support/until.ts';
import { listUsage } from '../../../service/src/storage/tables/usage.ts';

/** A recorder on a database, with a version to run, and how to look at what was recorded. */
async function startRecorder(t: TestContext, engine: EngineName, options: { count?: number } = {}) {
  // Usage is counted by day, and a test must not begin on one and end on the next.
  t.mock.timers.enable({ apis: ['Date'], now: new Date().setUTCHours(12, 0, 0, 0) });
  const address = await databaseWithSchema(t, engine);
  const storage = await openDuring(t, address);
  const version = await deployed(storage);
  const dropped: number[] = [];
  const batches: Batch[] = [];
  const recorder = new RunRecorder({
    ...options,
    store: async (batch) => {
      batches.push(batch);
      await storeBatch(storage, batch);
    },
    onDropped: (count) => dropped.push(count),
  });
  const list = async (filter: RunFilter = {}, limit = 1000) =>
    (await listRuns(storage.db, plugin, filter, { limit })).runs;
  const usage = () =>
    listUsage(storage.db, { environment: plugin.environment, days: [dayOf(Date.now())] }, { limit: 10 });
  return { address, storage, version, recorder, dropped, batches, list, usage };
}

for (const engine of engines) {
  test(`${engine}: runs are recorded newest first, and counted for their tenant`, async (t) => {
    const { version, recorder, list, usage, dropped } = await startRecorder(t, engine);
    const first = runOf(version);
    const second = runOf(version, { ...failed(), took: 3 });
    recorder.record(second);
    recorder.record(first);
    recorder.countBuild(plugin);
    await until('both are recorded', async () => (await list()).length === 2);
    const [newest, oldest] = await list();
    assert.deepEqual(newest, {
      id: second.id,
      version: 'v1.0.0',
      code: 'plugin-error',
      took: 3,
      inputBytes: 5,
      outputBytes: 0,
      details: { message: 'It failed.' },
    });
    assert.equal(oldest?.id, first.id);
    assert.equal(oldest?.code, undefined);
    assert.equal(oldest?.took, 1.25);
    const { environment, tenant } = plugin;
    const day = dayOf(Date.now());
    assert.deepEqual(await usage(), [
      { environment, tenant, day, runs: 2, failures: 1, microseconds: 4250, builds: 1 },
    ]);
    assert.deepEqual(dropped, []);
    await recorder.close();
  });

  test(`${engine}: pending records are written before the service ends`, async (t) => {
    const { version, recorder, list, batches } = await startRecorder(t, engine);
    for (let i = 0; i < 1200; i++) recorder.record(runOf(version));
    await recorder.close();
    assert.equal(recorder.waiting, 0);
    assert.equal((await list({}, 2000)).length, 1200);
    assert.ok(batches.every(({ records }) => records.length <= 500));
    assert.ok(batches.length <= 4, `${batches.length} statements`);
  });

  test(`${engine}: records beyond those that are kept are not written, and their runs are counted`, async (t) => {
    const { version, recorder, list, batches, usage, dropped } = await startRecorder(t, engine, {
      count: 10,
    });
    const successes = Array.from({ length: 25 }, () => runOf(version));
    const failures = Array.from({ length: 3 }, () => runOf(version, failed()));
    for (const run of [...failures, ...successes]) recorder.record(run);
    await recorder.close();
    const idsOf = async (success: boolean) => (await list({ success })).map(({ id }) => id);
    assert.deepEqual(new Set(await idsOf(true)), new Set(successes.slice(-10).map(({ id }) => id)));
    assert.equal((await idsOf(false)).length, 3);
    assert.equal(batches.flatMap(({ records }) => records).length, 13);
    assert.deepEqual(
      (await usage()).map((day) => [day.runs, day.failures]),
      [[28, 3]],
    );
    assert.deepEqual(dropped, []);
  });

  test(`${engine}: only the record that the database refuses is lost, and its run counts as used`, async (t) => {
    const { address, version, recorder, list, usage, dropped } = await startRecorder(t, engine);
    await refuseInputsOf(t, address, 13);
    const good = Array.from({ length: 20 }, () => runOf(version));
    const refused = runOf(version, { input: 'thirteen char' });
    for (const run of [...good.slice(0, 7), refused, ...good.slice(7)]) recorder.record(run);
    recorder.countBuild(plugin);
    await recorder.close();
    assert.deepEqual(dropped, [1]);
    const ids = (await list()).map(({ id }) => id);
    assert.deepEqual(ids, good.map(({ id }) => id).toReversed());
    const [day] = await usage();
    assert.deepEqual([day?.runs, day?.builds], [21, 1]);
  });

  test(`${engine}: a batch whose acknowledgement was lost is not counted twice`, async (t) => {
    const { storage, version, list, usage } = await startRecorder(t, engine);
    const records = [recordOf(version), recordOf(version)];
    await storeBatch(storage, { records, usage: [] });
    await storeBatch(storage, { records: [...records, recordOf(version)], usage: [] });
    assert.equal((await list()).length, 3);
    assert.equal((await usage())[0]?.runs, 3);
  });

  test(`${engine}: a run whose record is not written after a lost acknowledgement is counted once`, async (t) => {
    const { storage, version, usage } = await startRecorder(t, engine);
    let isLost = true;
    const recorder = new RunRecorder({
      count: 1,
      store: async (batch) => {
        await storeBatch(storage, batch);
        if (isLost) throw new StorageUnavailableError(new Error('The acknowledgement was lost.'));
      },
    });
    recorder.record(runOf(version));
    await until('the first attempt was stored', async () => (await usage())[0]?.runs === 1);
    isLost = false;
    recorder.record(runOf(version));
    await recorder.close();
    assert.equal((await usage())[0]?.runs, 2);
  });

  test(`${engine}: a build is counted once where the acknowledgement of its batch was lost`, async (t) => {
    const { storage, version, usage } = await startRecorder(t, engine);
    let isLost = true;
    const recorder = new RunRecorder({
      store: async (batch) => {
        await storeBatch(storage, batch);
        if (isLost) throw new StorageUnavailableError(new Error('The acknowledgement was lost.'));
      },
    });
    recorder.record(runOf(version));
    recorder.countBuild(plugin);
    await until('the first attempt was stored', async () => (await usage())[0]?.builds === 1);
    recorder.countBuild(plugin);
    isLost = false;
    await recorder.close();
    assert.deepEqual(
      (await usage()).map(({ runs, builds }) => [runs, builds]),
      [[1, 2]],
    );
  });

  test(`${engine}: a run of a deleted plugin is not recorded, and the other runs of its batch are`, async (t) => {
    const { version, recorder, list, dropped } = await startRecorder(t, engine);
    recorder.record(runOf({ ...version, pluginId: version.pluginId + 1 }));
    recorder.record(runOf(version));
    await recorder.close();
    assert.equal((await list()).length, 1);
    assert.deepEqual(dropped, []);
  });

  test(`${engine}: lists can be filtered by version and success, and continue after a run`, async (t) => {
    const { storage, version, list } = await startRecorder(t, engine);
    const next = { ...version, version: 'v1.0.7' };
    const runs = [
      recordOf(version),
      recordOf(next),
      recordOf(version, failed()),
      recordOf(next, failed()),
      recordOf(version),
    ];
    await storeBatch(storage, { records: runs, usage: [] });
    const indexes = async (filter: RunFilter, limit?: number) =>
      (await list(filter, limit)).map(({ id }) => runs.findIndex((run) => run.id === id));
    assert.deepEqual(await indexes({}), [4, 3, 2, 1, 0]);
    assert.deepEqual(await indexes({ success: true }), [4, 1, 0]);
    assert.deepEqual(await indexes({ success: false }), [3, 2]);
    assert.deepEqual(await indexes({ version: 'v1.0.7' }), [3, 1]);
    assert.deepEqual(await indexes({ version: 'v1.0.0', success: false }), [2]);
    assert.deepEqual(await indexes({ version: 'v1.0.9' }), []);
    assert.deepEqual(await indexes({ version: 'nonsense' }), []);
    assert.deepEqual(await indexes({}, 2), [4, 3]);
    const { runs: rest } = await listRuns(storage.db, plugin, {}, { limit: 2, before: runs[3]?.id });
    assert.deepEqual(
      rest.map(({ id }) => id),
      [runs[2]?.id, runs[1]?.id],
    );
  });

  test(`${engine}: a run is found by its id only in its own environment`, async (t) => {
    const { storage, version } = await startRecorder(t, engine);
    const record = recordOf(version, failed('time-limit', 'Too long.', ['a', 'b']));
    await storeBatch(storage, { records: [record], usage: [] });
    const found = await findRun(storage.db, record.id, plugin.environment);
    assert.deepEqual(found?.plugin, plugin);
    assert.deepEqual(found?.run.details, { message: 'Too long.', logs: ['a', 'b'] });
    assert.equal(await findRun(storage.db, record.id, 'com.other'), undefined);
    assert.equal(await findRun(storage.db, runOf(version).id, plugin.environment), undefined);
  });
}

test('without a database 10,000 records are kept, further ones are dropped, and all are counted', async () => {
  let isAway = true;
  let attempts = 0;
  const written: Batch[] = [];
  const dropped: number[] = [];
  let warnings = 0;
  const recorder = new RunRecorder({
    store: async (batch) => {
      attempts += 1;
      if (isAway) throw new StorageUnavailableError(new Error('gone'));
      written.push(batch);
    },
    onDropped: (count) => dropped.push(count),
    onFull: () => (warnings += 1),
  });
  const runs = Array.from({ length: maxRecords + 3 }, () => runOf(unknownVersion));
  for (const run of runs) recorder.record(run);
  await until('all records that are kept, after a failed attempt', () => {
    return attempts > 0 && recorder.waiting === maxRecords;
  });
  assert.equal(
    dropped.reduce((sum, count) => sum + count, 0),
    3,
  );
  assert.equal(warnings, 1);
  isAway = false;
  // Once all were written, it is said again.
  await until('all are written', () => recorder.waiting === 0);
  isAway = true;
  for (const run of runs) recorder.record(run);
  assert.equal(warnings, 2);
  isAway = false;
  await recorder.close();
  const records = written.flatMap((batch) => batch.records);
  assert.deepEqual(
    records.map(({ id }) => id),
    [...runs.slice(0, maxRecords), ...runs.slice(0, maxRecords)].map(({ id }) => id),
  );
  const counted = written.flatMap(({ usage }) => usage).reduce((sum, { runs: count }) => sum + count, 0);
  assert.equal(counted, 6);
});

test('what cannot be written before a recorder is closed is reported, usage included', async () => {
  const lost: unknown[] = [];
  const recorder = new RunRecorder({
    store: () => Promise.reject(new StorageUnavailableError(new Error('gone'))),
    onLost: (what) => lost.push(what),
  });
  recorder.record(runOf(unknownVersion));
  recorder.countBuild(plugin);
  await recorder.close();
  assert.deepEqual(lost, [{ records: 1, usage: 1 }]);
});

test('pending records have a bound in bytes, beyond which only outcomes are kept', () => {
  const long = 'x'.repeat(20_000);
  const queue = new RecordQueue();
  const run = runOf(unknownVersion, { input: long, outcome: { result: long, logs: [long] } });
  const record = toRecord(run, 'payloads');
  for (let i = 0; i < 3000; i++) assert.ok(queue.add({ ...record }));
  const held: RunRecord[] = [];
  for (let batch = queue.firstBatch(); batch.length; batch = queue.firstBatch()) {
    assert.ok(lengthOf(batch) <= 256 * 1024);
    held.push(...batch);
    queue.removeFirst(batch.length);
  }
  assert.equal(held.length, 3000);
  assert.equal(held.at(-1)?.details, '{"truncated":true}');
  // All of it would be 144 MB.
  assert.ok(lengthOf(held) > 30e6 && lengthOf(held) < 34e6, String(lengthOf(held)));
});

const lengthOf = (records: readonly RunRecord[]) =>
  records.reduce((sum, { details = '' }) => sum + details.length, 0);
