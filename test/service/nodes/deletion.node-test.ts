import assert from 'node:assert/strict';
import { test } from 'node:test';
import { engines, freshDatabase, lookInto, openDuring, until } from '../storage/databases.ts';
import { build, plugin } from '../storage/plugins.ts';
import { ServiceProcess } from '../service-process.ts';

const manyPlugins = 400;
const tenant = '/api/v1/tenant/com.acme.t1';

for (const engine of engines) {
  test(`${engine}: what kill -9 left of a deleted tenant is erased by another node, and by one after a restart`, async (t) => {
    const address = await freshDatabase(t, engine);
    const storage = await openDuring(t, address);
    for (let i = 0; i < manyPlugins; i++) await build(storage, `${i}`, { ...plugin, pluginName: `p${i}` });
    const db = await lookInto(t, address);
    const left = async () => {
      const { n } = await db
        .selectFrom('plugins')
        .select(({ fn }) => fn.countAll<number>().as('n'))
        .executeTakeFirstOrThrow();
      return n;
    };
    const first = await ServiceProcess.start(t, address);
    const { environmentToken } = first;
    assert.equal((await first.request('DELETE', tenant, environmentToken)).status, 204);
    await until('some of it is erased', async () => (await left()) < manyPlugins);
    await first.kill();
    const before = await left();
    assert.ok(before > 0, 'The process was killed too late for this test.');

    const second = await ServiceProcess.start(t, address, environmentToken);
    assert.equal((await second.request('GET', tenant, environmentToken)).status, 404);
    await until('the next process goes on with it', async () => (await left()) < before);
    // While another node is there, the death of one is no more than a pause.
    await ServiceProcess.start(t, address, environmentToken);
    await second.kill();
    await untilWithin(60_000, async () => (await left()) === 0);
    await until('the tenant is done with', async () => {
      const row = await db.selectFrom('tenants').select('erased_at').executeTakeFirst();
      return row?.erased_at != null;
    });
    for (const table of ['drafts', 'builds', 'programs'] as const) {
      assert.deepEqual(await db.selectFrom(table).selectAll().execute(), [], table);
    }
  });
}

async function untilWithin(ms: number, condition: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + ms;
  while (!(await condition())) {
    assert.ok(performance.now() < deadline, `It took longer than ${ms} ms.`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
