import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { dayOf } from '../../../service/src/runs/usage-sum.ts';
import type { Storage } from '../../../service/src/storage/storage.ts';
import { runCommand } from '../cli/service-command.ts';
import { bearer, temporaryDirectory } from '../harness.ts';
import { ServiceProcess } from '../service-process.ts';
import { engines, freshDatabase, openDuring } from '../storage/databases.ts';
import type { EngineName } from '../storage/databases.ts';
import { deployed, recordedRuns } from './records.ts';
import { until } from '../../support/until.ts';

const key = { environment: 'com.acme', tenant: 't1', namespace: 'default', pluginName: 'add-record' };
const text = 'export const run = (input) => input;';

const usedRuns = async ({ tables }: Storage) =>
  (await tables.usage.list(key.environment, [dayOf(Date.now() - 86_400_000), dayOf(Date.now())], 10)).reduce(
    (sum, { runs }) => sum + runs,
    0,
  );

/** Two processes on one database with a version to run. */
async function twoNodes(t: TestContext, engine: EngineName) {
  const address = await freshDatabase(t, engine);
  const first = await ServiceProcess.start(t, address);
  const second = await ServiceProcess.start(t, address, first.environmentToken);
  const token = await first.editorToken();
  await first.build(token, text);
  await first.deploy(token);
  const storage = await openDuring(t, address);
  return { address, first, second, storage };
}

for (const engine of engines) {
  test(`${engine}: runs of two nodes are listed together, newest first, and counted once each`, async (t) => {
    const { first, second, storage } = await twoNodes(t, engine);
    const ids: (string | null)[] = [];
    for (let i = 0; i < 20; i++) {
      ids.push((await (i % 2 ? first : second).run('v1.0.0')).headers.get('x-request-id'));
    }
    await until('all are recorded', async () => (await recordedRuns(storage, key)).length === 20);
    const recorded = (await recordedRuns(storage, key)).map(({ id }) => id);
    // The clocks of both are that of this machine.
    assert.deepEqual(recorded, ids.toReversed());
    assert.equal(await usedRuns(storage), 20);
  });

  test(`${engine}: recorded runs survive the kill of a node, and usage equals what is recorded`, async (t) => {
    const { first, second, storage } = await twoNodes(t, engine);
    await first.run('v1.0.0');
    await until('the first is recorded', async () => (await recordedRuns(storage, key)).length === 1);
    let answered = 1;
    const load = (async () => {
      try {
        for (;;) {
          await first.run('v1.0.0');
          answered += 1;
        }
      } catch {
        // It was killed.
      }
    })();
    await until('there are many', async () => (await recordedRuns(storage, key)).length > 20);
    await first.kill();
    await load;
    assert.equal((await second.run('v1.0.0')).status, 200);
    await until('the other node records on', async () => {
      const runs = await recordedRuns(storage, key);
      return runs.length > 21 && runs.length === (await usedRuns(storage));
    });
    // One more was answered by the other node, and one may have been on its way.
    assert.ok((await recordedRuns(storage, key)).length <= answered + 2);
  });

  test(`${engine}: a node that is told to end records its pending runs before it ends`, async (t) => {
    const address = await freshDatabase(t, engine);
    const place = { DATA_DIR: temporaryDirectory(t), DRAIN_SECONDS: '0' };
    const { out } = await runCommand(t, address, ['env-token', 'com.acme'], place).done();
    const storage = await openDuring(t, address);
    await deployed(storage, key, text);
    const command = runCommand(t, address, ['serve'], place);
    const { base } = await command.serving();
    const headers = { ...bearer(out.trim()), 'content-type': 'text/plain' };
    const path = `${base}/exec/com.acme.t1/default/add-record/v1.0.0`;
    for (let i = 0; i < 50; i++) {
      const response = await fetch(path, { method: 'POST', headers, body: `${i}` });
      assert.equal(response.status, 200);
      await response.text();
    }
    command.kill('SIGTERM');
    assert.equal((await command.done()).status, 0);
    assert.equal((await recordedRuns(storage, key)).length, 50);
    assert.equal(await usedRuns(storage), 50);
  });
}
