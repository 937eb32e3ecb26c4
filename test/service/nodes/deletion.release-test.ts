import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Kysely, sql } from 'kysely';
import type { Schema } from '../../../service/src/storage/schema.ts';
import type { Storage } from '../../../service/src/storage/storage.ts';
import { engines, databaseWithSchema, openForInspection, openDuring } from '../storage/databases.ts';
import type { EngineName } from '../storage/databases.ts';
import { seedTenant, plugin, packedProgramOf, digestOf, sourceOf } from '../storage/plugins.ts';
import { ServiceProcess } from '../service-process.ts';
import { until } from '../../support/until.ts';
import { createDraft } from '../../../service/src/storage/tables/drafts.ts';
import { saveBuild } from '../../../service/src/storage/tables/builds.ts';

/** More than are erased at once, three times. Their names sort as their numbers do, which is the order of erasing. */
const manyPlugins = 120;
const nameOf = (i: number) => `p${100 + i}`;
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
    await blockErasing(db, engine, nameOf(40));
    assert.equal((await first.request('DELETE', tenant, environmentToken)).status, 204);
    await until('the first erased plugins', async () => (await left()) < manyPlugins);
    await first.kill();
    const before = await left();
    assert.ok(before >= manyPlugins - 40);

    await unblockErasing(db, engine);
    await blockErasing(db, engine, nameOf(80));
    const second = await ServiceProcess.start(t, address, environmentToken);
    assert.equal((await second.request('GET', tenant, environmentToken)).status, 404);
    await until('more erased plugins', async () => (await left()) < before);
    // While another node is there, the death of one is no more than a pause.
    await ServiceProcess.start(t, address, environmentToken);
    await second.kill();
    await unblockErasing(db, engine);
    await until('the end of the deletion', async () => {
      const row = await db.selectFrom('tenants').select('erased_at').executeTakeFirst();
      return row?.erased_at != null;
    });
    for (const table of ['drafts', 'builds', 'programs'] as const) {
      assert.deepEqual(await db.selectFrom(table).selectAll().execute(), [], table);
    }
  });
}

/** Makes the database refuse to erase a plugin, so that no node erases it or the plugins after it. */
async function blockErasing(db: Kysely<Schema>, engine: EngineName, name: string): Promise<void> {
  const when = sql`when (old.name = ${sql.lit(name)})`;
  if (engine === 'sqlite') {
    await sql`create trigger blocked before delete on plugins ${when}
      begin select raise(abort, 'blocked'); end`.execute(db);
    return;
  }
  await sql`create or replace function refuse() returns trigger language plpgsql
    as 'begin raise exception ''blocked''; end'`.execute(db);
  await sql`create trigger blocked before delete on plugins for each row ${when}
    execute function refuse()`.execute(db);
}

async function unblockErasing(db: Kysely<Schema>, engine: EngineName): Promise<void> {
  await sql`drop trigger blocked ${engine === 'sqlite' ? sql`` : sql`on plugins`}`.execute(db);
}

/** Makes the plugins some at a time, as a transaction may take only so long. */
async function fill(storage: Storage): Promise<void> {
  await seedTenant(storage);
  for (let first = 0; first < manyPlugins; first += 40) {
    await storage.transaction(async (db) => {
      for (let i = first; i < first + 40; i++) {
        const one = { ...plugin, pluginName: nameOf(i) };
        await createDraft(db, one, sourceOf(`${i}`), { now: 0 });
        await saveBuild(db, one, {
          program: await packedProgramOf(db, `${i}`),
          digest: digestOf(`${i}`),
          now: 0,
        });
      }
    });
  }
}
