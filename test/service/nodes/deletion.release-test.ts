import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Storage } from '../../../service/src/storage/storage.ts';
import { engines, databaseWithSchema, openForInspection, openDuring } from '../storage/databases.ts';
import { seedTenant, plugin, packedProgramOf, digestOf, sourceOf } from '../storage/plugins.ts';
import { ServiceProcess } from '../service-process.ts';
import { until } from '../../support/until.ts';
import { createDraft } from '../../../service/src/storage/tables/drafts.ts';
import { saveBuild } from '../../../service/src/storage/tables/builds.ts';

const manyPlugins = 400;
const tenant = '/api/v1/tenant/com.acme.t1';

for (const engine of engines) {
  test(`${engine}: a deletion that kill -9 interrupted is finished by another node, or after a restart`, async (t) => {
    const address = await databaseWithSchema(t, engine);
    const storage = await openDuring(t, address);
    await fill(storage);
    const db = await openForInspection(t, address);
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
    await until('the first erased plugins', async () => (await left()) < manyPlugins);
    await first.kill();
    const before = await left();
    assert.ok(before > 0, 'The process was killed too late for this test.');

    const second = await ServiceProcess.start(t, address, environmentToken);
    assert.equal((await second.request('GET', tenant, environmentToken)).status, 404);
    await until('more erased plugins', async () => (await left()) < before);
    // While another node is there, the death of one is no more than a pause.
    await ServiceProcess.start(t, address, environmentToken);
    await second.kill();
    await until('the end of the deletion', async () => {
      const row = await db.selectFrom('tenants').select('erased_at').executeTakeFirst();
      return row?.erased_at != null;
    });
    for (const table of ['drafts', 'builds', 'programs'] as const) {
      assert.deepEqual(await db.selectFrom(table).selectAll().execute(), [], table);
    }
  });
}

/** Makes the plugins some at a time, as a transaction may take only so long. */
async function fill(storage: Storage): Promise<void> {
  await seedTenant(storage);
  for (let first = 0; first < manyPlugins; first += 50) {
    await storage.transaction(async (db) => {
      for (let i = first; i < first + 50; i++) {
        const one = { ...plugin, pluginName: `p${i}` };
        await createDraft(db, one, sourceOf(`${i}`), { now: 0 });
        await saveBuild(db, one, digestOf(`${i}`), await packedProgramOf(db, `${i}`), 0);
      }
    });
  }
}
