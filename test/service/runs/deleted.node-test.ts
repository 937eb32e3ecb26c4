import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { storeBatch } from '../../../service/src/runs/recording.ts';
import { dayOf } from '../../../service/src/runs/usage-sum.ts';
import { bearer } from '../harness.ts';
import { running, startPlugin } from '../plugin.ts';
import {
  engines,
  databaseWithSchema,
  openForInspection,
  openDuring,
  patientStorage,
} from '../storage/databases.ts';
import type { EngineName } from '../storage/databases.ts';
import { otherPlugin, plugin } from '../storage/plugins.ts';
import { deployed, recordedRuns, recordOf } from './records.ts';
import { until } from '../../support/until.ts';
import { createTenant, deleteTenant } from '../../../service/src/storage/tables/tenants.ts';
import { findRun } from '../../../service/src/storage/tables/runs.ts';
import { listUsage } from '../../../service/src/storage/tables/usage.ts';
import { deletePlugin } from '../../../service/src/storage/tables/plugins.ts';
import { lockPlugin, lockTenant } from '../../../service/src/storage/db.ts';
import { eraseSome } from '../../../service/src/storage/erasing/erase.ts';

const neighbour = { ...plugin, tenant: 't2' };
const tenantPath = '/api/v1/tenant/com.acme.t1';

async function setUp(t: TestContext, engine: EngineName) {
  // Usage is counted by day, and a test must not begin on one and end on the next.
  t.mock.timers.enable({ apis: ['Date'], now: new Date().setUTCHours(12, 0, 0, 0) });
  const address = await databaseWithSchema(t, engine);
  const storage = await openDuring(t, address, patientStorage);
  const db = await openForInspection(t, address);
  const count = async () => (await db.selectFrom('runs').select('id').execute()).length;
  const eraseAll = async () => {
    while (await storage.transaction((tx) => eraseSome(tx, 2, 4)));
  };
  return { storage, count, eraseAll };
}

for (const engine of engines) {
  test(`${engine}: records of a deleted tenant are hidden at once and erased, without those of others; usage stays`, async (t) => {
    const { storage, count, eraseAll } = await setUp(t, engine);
    const versions = [await deployed(storage), await deployed(storage, otherPlugin)];
    const other = await deployed(storage, neighbour);
    const records = versions.flatMap((version) => Array.from({ length: 60 }, () => recordOf(version)));
    const kept = recordOf(other, { plugin: neighbour });
    await storeBatch(storage, { records: [...records, kept], usage: [] });
    await storage.transaction(async (db) => {
      await lockTenant(db, plugin);
      assert.ok(await deleteTenant(db, plugin, 1));
    });
    assert.deepEqual(await recordedRuns(storage, plugin), []);
    assert.equal(await findRun(storage.db, records[0]?.id ?? '', plugin.environment), undefined);
    assert.equal(await count(), 121);
    await eraseAll();
    assert.equal(await count(), 1);
    assert.equal((await recordedRuns(storage, neighbour))[0]?.id, kept.id);
    const usage = await listUsage(
      storage.db,
      { environment: plugin.environment, days: [dayOf(Date.now())] },
      { limit: 10 },
    );
    assert.deepEqual(
      usage.map(({ tenant, runs }) => [tenant, runs]),
      [
        ['t1', 120],
        ['t2', 1],
      ],
    );
    // One that is made anew under the name has none of them.
    await storage.transaction((db) => createTenant(db, plugin, {}, 3));
    await deployed(storage);
    assert.deepEqual(await recordedRuns(storage, plugin), []);
  });

  test(`${engine}: records of a deleted plugin are hidden at once and erased, without those of the tenant's other plugins`, async (t) => {
    const { storage, count, eraseAll } = await setUp(t, engine);
    const record = recordOf(await deployed(storage));
    const kept = recordOf(await deployed(storage, otherPlugin), { plugin: otherPlugin });
    await storeBatch(storage, { records: [record, kept], usage: [] });
    await storage.transaction(async (db) => {
      await lockPlugin(db, plugin);
      assert.ok(await deletePlugin(db, plugin, 1));
    });
    assert.deepEqual(await recordedRuns(storage, plugin), []);
    assert.equal(await findRun(storage.db, record.id, plugin.environment), undefined);
    // What ran when it was deleted comes too late to be recorded, and counts as usage. What was stored before counts once.
    const late = { ...record, id: recordOf(await deployed(storage, neighbour)).id };
    await storeBatch(storage, { records: [record, late], usage: [] });
    await eraseAll();
    assert.equal(await count(), 1);
    assert.equal((await recordedRuns(storage, otherPlugin))[0]?.id, kept.id);
    const [usage] = await listUsage(
      storage.db,
      { environment: plugin.environment, days: [dayOf(Date.now())] },
      { limit: 10 },
    );
    assert.deepEqual([usage?.tenant, usage?.runs], [plugin.tenant, 3]);
  });

  test(`${engine}: a record that is written while its plugin is being erased is not left behind`, async (t) => {
    const { storage, count, eraseAll } = await setUp(t, engine);
    for (let round = 0; round < 10; round++) {
      const version = await deployed(storage, { ...plugin, pluginName: `x${round}` });
      const records = Array.from({ length: 20 }, () => recordOf(version));
      await Promise.all([
        storeBatch(storage, { records, usage: [] }),
        storage.transaction(async (db) => {
          await lockPlugin(db, { ...plugin, pluginName: `x${round}` });
          await deletePlugin(db, { ...plugin, pluginName: `x${round}` }, 1);
        }),
        eraseAll(),
      ]);
      await eraseAll();
      assert.equal(await count(), 0);
    }
  });
}

test('a run whose tenant is deleted meanwhile is answered, and not recorded', async (t) => {
  const { build, deploy, run, send, vendor, storage, service } = await startPlugin(t);
  assert.ok(
    (
      await build(
        running("const end = Date.now() + 400; while (input === 'slow' && Date.now() < end); return input;"),
      )
    ).succeeded,
  );
  const version = await deploy();
  const before = await run(version, 'fast');
  const key = { ...plugin, pluginName: 'add-record' };
  await until('the first is recorded', async () => (await recordedRuns(storage, key)).length === 1);
  const slow = run(version, 'slow');
  // It has begun once nothing waits and its program runs, which a second run beside it shows.
  assert.equal((await run(version, 'fast')).status, 200);
  assert.equal((await send('DELETE', tenantPath, vendor)).status, 204);
  const hidden = await send('GET', `/api/v1/run/${String(before.headers['x-request-id'])}`, vendor);
  assert.equal(hidden.status, 404);
  const response = await slow;
  assert.ok([200, 404].includes(response.status), response.body);
  await service.close();
  const { environment, tenant } = plugin;
  const created = await storage.transaction((db) => createTenant(db, { environment, tenant }, {}, 3));
  assert.ok(created);
  const found = await findRun(storage.db, String(response.headers['x-request-id']), environment);
  assert.equal(found, undefined);
});

test('an editor token reads runs only within its scope, and only with the permission for it', async (t) => {
  const { build, deploy, run, send, vendor, editor, storage } = await startPlugin(t);
  assert.ok((await build(running('return input'))).succeeded);
  const response = await run(await deploy(), 'a');
  const uuid = String(response.headers['x-request-id']);
  const key = { ...plugin, pluginName: 'add-record' };
  await until('it is recorded', async () => (await recordedRuns(storage, key)).length === 1);
  const session = async (ident: string, body: object) => {
    const headers = { ...vendor, 'content-type': 'application/json' };
    const { body: text } = await send(
      'POST',
      `/api/v1/tenant/${ident}/session`,
      headers,
      JSON.stringify(body),
    );
    return bearer((JSON.parse(text) as { token: string }).token);
  };
  const list = '/api/v1/plugin/com.acme.t1/default/add-record/runs';
  const statuses = async (headers: Record<string, string>) =>
    Promise.all([list, `/api/v1/run/${uuid}`].map(async (path) => (await send('GET', path, headers)).status));
  assert.deepEqual(await statuses(editor), [403, 403]);
  const permissions = ['runs'];
  const plugins = { namespace: 'default', fn: 'add-record', permissions };
  assert.deepEqual(await statuses(await session('com.acme.t1', plugins)), [200, 200]);
  assert.deepEqual(await statuses(await session('com.acme.t1', { permissions })), [200, 200]);
  assert.deepEqual(await statuses(await session('com.acme.t1', { ...plugins, fn: 'other' })), [403, 404]);
  assert.deepEqual(await statuses(await session('com.acme.t2', { permissions })), [403, 404]);
  const all = await session('com.acme.t1', { permissions });
  for (const path of ['/api/v1/environment/com.acme/usage', `/api/v2/results/by-uuid/${uuid}`]) {
    assert.equal((await send('GET', path, all)).status, 401, path);
  }
});
