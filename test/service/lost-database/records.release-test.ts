import assert from 'node:assert/strict';
import { copyFileSync, renameSync } from 'node:fs';
import { test } from 'node:test';
import type { Storage } from '../../../service/src/storage/storage.ts';
import { dayOf } from '../../../service/src/runs/usage-sum.ts';
import { accessPath, bearer, startService } from '../harness.ts';
import { deployed, recordedRuns } from '../runs/records.ts';
import { databaseWithSchema, openDuring } from '../storage/databases.ts';
import { pluginPath, proxiedService } from './proxied.ts';
import { until } from '../../support/until.ts';
import { listUsage } from '../../../service/src/storage/tables/usage.ts';

const key = { environment: 'com.acme', tenant: 't1', namespace: 'default', pluginName: 'add-record' };
const program = 'export const run = (input) => `ran ${input}`;';

const usedRuns = async ({ db }: Storage, now: number) =>
  (await listUsage(db, { environment: key.environment, days: [dayOf(now)] }, { limit: 10 }))[0]?.runs;

test('runs during a loss of PostgreSQL are recorded once it is back', async (t) => {
  const { proxy, storage, run, buildProgram, deployProgram, errors, clock } = await proxiedService(t);
  await buildProgram(program);
  await deployProgram(program);
  assert.equal((await run('v1.0.0')).status, 200);
  await until('the first is recorded', async () => (await recordedRuns(storage, key)).length === 1);
  // The news of the deploy may have come during the first run, whose version was then not cached. It has come by now.
  assert.equal((await run('v1.0.0')).status, 200);
  await until('the second is recorded', async () => (await recordedRuns(storage, key)).length === 2);
  await proxy.refuse();
  await until('it is known to be away', () => storage.unavailability !== undefined);
  for (let i = 0; i < 20; i++) assert.equal((await run('v1.0.0')).status, 200);
  await proxy.listen();
  await until('it is known to be back', () => storage.unavailability === undefined);
  await until('all are recorded', async () => (await recordedRuns(storage, key)).length === 22);
  assert.equal(await usedRuns(storage, clock.now), 22);
  assert.deepEqual(errors, []);
});

test('runs whose commit was not acknowledged are recorded and counted once', async (t) => {
  const { proxy, storage, run, buildProgram, deployProgram, clock } = await proxiedService(t);
  await buildProgram(program);
  await deployProgram(program);
  // From the moment that a batch is sent, its commit is the first that follows.
  let isArmed = false;
  let isCut = false;
  proxy.watch((sent) => {
    if (sent.includes('into "runs"')) isArmed = true;
    if (!isArmed || isCut || !/\bcommit\b/i.test(sent.toString('latin1'))) return 'pass';
    isCut = true;
    return 'cut';
  });
  for (let i = 0; i < 5; i++) assert.equal((await run('v1.0.0')).status, 200);
  await until('a commit was not answered', () => isCut);
  await until('all are recorded', async () => {
    try {
      return (await recordedRuns(storage, key)).length === 5;
    } catch {
      return false;
    }
  });
  assert.equal((await run('v1.0.0')).status, 200);
  await until('one more is recorded', async () => (await recordedRuns(storage, key)).length === 6);
  assert.equal(await usedRuns(storage, clock.now), 6);
});

test('runs are recorded once a moved SQLite file is back', async (t) => {
  const address = await databaseWithSchema(t, 'sqlite');
  const { file } = address as { file: string };
  const storage = await openDuring(t, address);
  const { fetch, environmentToken, editorToken, clock } = await startService(t, { storage });
  const token = await environmentToken();
  await editorToken(accessPath, token);
  await deployed(storage, key, program);
  const run = async () => {
    const headers = { ...bearer(token), 'content-type': 'text/plain' };
    const response = await fetch(`/exec/${pluginPath}/v1.0.0`, { method: 'POST', headers, body: 'x' });
    assert.equal(response.status, 200);
  };
  for (let i = 0; i < 20; i++) await run();
  renameSync(file, `${file}.moved`);
  copyFileSync(`${file}.moved`, file);
  await until('it is known to be away', () => storage.unavailability !== undefined);
  renameSync(`${file}.moved`, file);
  await until('it is known to be back', () => storage.unavailability === undefined);
  await until('all are recorded', async () => (await recordedRuns(storage, key)).length === 20);
  assert.equal(await usedRuns(storage, clock.now), 20);
});
