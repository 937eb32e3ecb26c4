import assert from 'node:assert/strict';
import { test } from 'node:test';
import { migrate } from '../../../service/src/storage/migrations/migrate.ts';
import { migrations } from '../../../service/src/storage/migrations/migrations.ts';
import { openEngine } from '../../../service/src/storage/storage.ts';
import { errorOf, listen, startService } from '../harness.ts';
import { cleanUpFirst, engines, freshDatabase, openDuring } from '../storage/databases.ts';
import { sharedToolProcesses } from '../tool-processes.ts';
import { until } from '../../support/until.ts';

test('the service is alive and ready, whatever the Host, once a plugin can run', async (t) => {
  const { send } = await listen(t);
  for (const host of ['evil.example', '10.0.0.1:8082']) {
    assert.equal((await send('GET', '/healthz', { host })).status, 200);
    await until('it is ready', async () => (await send('GET', '/readyz', { host })).status === 200);
    const { body } = await send('GET', '/readyz', { host });
    assert.deepEqual(JSON.parse(body), { ready: true, database: true, schema: true, sandbox: true });
  }
});

test('the service is not ready until the sandbox works, and says so', async (t) => {
  const { fetch } = await startService(t);
  t.mock.getter(sharedToolProcesses().sandbox, 'isReady', () => false);
  const response = await fetch('/readyz');
  assert.equal(response.status, 503);
  assert.deepEqual(await response.json(), { ready: false, database: true, schema: true, sandbox: false });
});

test('a service that is ending is alive, says that it ends, and is not ready', async (t) => {
  let isDraining = false;
  const { fetch } = await startService(t, { isDraining: () => isDraining });
  assert.deepEqual(await (await fetch('/healthz')).json(), { alive: true });
  isDraining = true;
  const alive = await fetch('/healthz');
  assert.equal(alive.status, 200);
  assert.deepEqual(await alive.json(), { alive: true, draining: true });
  assert.equal((await fetch('/readyz')).status, 503);
});

test('without its database the service is alive and not ready', async (t) => {
  const { fetch, storage } = await startService(t);
  await storage.close();
  assert.equal((await fetch('/healthz')).status, 200);
  const response = await fetch('/readyz');
  assert.equal(response.status, 503);
  const { ready, database, schema } = (await response.json()) as Record<string, unknown>;
  assert.deepEqual([ready, database, schema], [false, false, false]);
});

for (const engine of engines) {
  test(`${engine}: with AUTO_MIGRATE=off the service waits until another program has made the schema`, async (t) => {
    const address = await freshDatabase(t, engine);
    const opened = await openEngine(address);
    cleanUpFirst(t, () => opened.close());
    await migrate(opened, migrations.slice(0, 1));
    const storage = await openDuring(t, address, { autoMigrate: false });
    const { fetch, environmentToken } = await startService(t, { storage });
    const notReady = await fetch('/readyz');
    assert.equal(notReady.status, 503);
    const { database, schema } = (await notReady.json()) as Record<string, unknown>;
    assert.deepEqual([database, schema], [true, false]);
    assert.equal((await fetch('/healthz')).status, 200);
    const refused = await fetch('/api/v1/features');
    assert.ok(refused.headers.get('retry-after'));
    assert.deepEqual((await errorOf(refused)).code, 'storage-unavailable');
    await migrate(opened);
    await until('it is ready', async () => (await fetch('/readyz')).status === 200);
    assert.equal((await fetch('/api/v1/features')).status, 200);
    assert.match(await environmentToken(), /^pe_env_/);
  });

  test(`${engine}: with AUTO_MIGRATE=off the service waits at an empty database, too`, async (t) => {
    const storage = await openDuring(t, await freshDatabase(t, engine), { autoMigrate: false });
    assert.deepEqual(await storage.check(), { database: true, schema: false });
    assert.equal(storage.isSchemaReady, false);
  });
}
