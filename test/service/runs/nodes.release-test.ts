import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { provisionEnvironmentToken } from '../../../service/src/accounts/environment-token.ts';
import type { PluginKey } from '../../../service/src/plugins/plugin-key.ts';
import { dayOf } from '../../../service/src/runs/usage-sum.ts';
import type { Storage } from '../../../service/src/storage/storage.ts';
import { runCommand } from '../cli/service-command.ts';
import { bearer, temporaryDirectory } from '../harness.ts';
import { ServiceProcess } from '../service-process.ts';
import { engines, databaseWithSchema, openDuring } from '../storage/databases.ts';
import type { EngineName } from '../storage/databases.ts';
import { deployed, recordedRuns } from './records.ts';
import { until } from '../../support/until.ts';
import { listUsage } from '../../../service/src/storage/tables/usage.ts';

const key = { environment: 'com.acme', tenant: 't1', namespace: 'default', pluginName: 'add-record' };
/** Another plugin of the same tenant. */
const otherKey = { ...key, pluginName: 'other' };
const code = 'export const run = (input) => input;';

const usedRuns = async ({ db }: Storage) =>
  (
    await listUsage(
      db,
      { environment: key.environment, days: [dayOf(Date.now() - 86_400_000), dayOf(Date.now())] },
      { limit: 10 },
    )
  ).reduce((sum, { runs }) => sum + runs, 0);

/** Two processes on one database with a version to run of each of these plugins. */
async function twoNodes(t: TestContext, engine: EngineName, plugins: readonly PluginKey[]) {
  const address = await databaseWithSchema(t, engine);
  const first = await ServiceProcess.start(t, address);
  const second = await ServiceProcess.start(t, address, first.environmentToken);
  const storage = await openDuring(t, address);
  for (const plugin of plugins) await deployed(storage, plugin, code);
  return { first, second, storage };
}

for (const engine of engines) {
  test(`${engine}: two nodes`, async (t) => {
    const { first, second, storage } = await twoNodes(t, engine, [key, otherKey]);

    await t.test('list their runs together, newest first, and count them once each', async () => {
      const ids: (string | null)[] = [];
      for (let i = 0; i < 20; i++) {
        ids.push((await (i % 2 ? first : second).run('v1.0.0')).headers.get('x-request-id'));
        // Of two processes, runs of one millisecond have no order.
        for (const now = Date.now(); Date.now() <= now;) await sleep(1);
      }
      await until('all are recorded', async () => (await recordedRuns(storage, key)).length === 20);
      const recorded = (await recordedRuns(storage, key)).map(({ id }) => id);
      // The clocks of both are that of this machine.
      assert.deepEqual(recorded, ids.toReversed());
      assert.equal(await usedRuns(storage), 20);
    });

    // The last of those that share the nodes, because it kills one.
    await t.test(
      'keep recorded runs when one of them is killed, and usage equals what is recorded',
      async () => {
        const [killed, other] = [first.withPlugin('other'), second.withPlugin('other')];
        const recorded = () => recordedRuns(storage, otherKey);
        const usedBefore = await usedRuns(storage);
        await killed.run('v1.0.0');
        await until('the first is recorded', async () => (await recorded()).length === 1);
        let answered = 1;
        const load = (async () => {
          try {
            for (;;) {
              await killed.run('v1.0.0');
              answered += 1;
            }
          } catch {
            // It was killed.
          }
        })();
        await until('there are many', async () => (await recorded()).length > 20);
        await killed.kill();
        await load;
        assert.equal((await other.run('v1.0.0')).status, 200);
        await until('the other node records on', async () => {
          const runs = await recorded();
          return runs.length > 21 && runs.length === (await usedRuns(storage)) - usedBefore;
        });
        // One more was answered by the other node, and one may have been on its way.
        assert.ok((await recorded()).length <= answered + 2);
      },
    );
  });

  test(`${engine}: a node that is told to end records its pending runs before it ends`, async (t) => {
    const address = await databaseWithSchema(t, engine);
    const place = { DATA_DIR: temporaryDirectory(t), DRAIN_SECONDS: '0', RUN_TIMEOUT_MS: '20000' };
    const storage = await openDuring(t, address);
    const token = await provisionEnvironmentToken(storage, 'com.acme');
    await deployed(storage, key, code);
    const command = runCommand(t, address, ['serve'], place);
    const { base } = await command.serving();
    const headers = { ...bearer(token), 'content-type': 'text/plain' };
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
