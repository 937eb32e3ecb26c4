import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { test } from 'node:test';
import { sql } from 'kysely';
import { storeBatch } from '../../../service/src/runs/recording.ts';
import { RunRetention } from '../../../service/src/runs/retention.ts';
import type { DatabaseAddress } from '../../../service/src/storage/database-url.ts';
import { migrate } from '../../../service/src/storage/migrations/migrate.ts';
import { migrations } from '../../../service/src/storage/migrations/migrations.ts';
import { migrateDatabase, openEngine } from '../../../service/src/storage/storage.ts';
import type { Storage } from '../../../service/src/storage/storage.ts';
import {
  StorageFullError,
  endExemptions,
  findTenantsWithTooManyRecords,
  readTenantUsage,
} from '../../../service/src/storage/tables/tenant-storage.ts';
import {
  cleanUpFirst,
  databaseWithSchema,
  engines,
  freshDatabase,
  freshStorage,
  openDuring,
  openForInspection,
  patientStorage,
  postgresTest,
} from './databases.ts';
import type { Cleanup } from './databases.ts';
import {
  seedTenant,
  build,
  deploy,
  otherPlugin,
  plugin,
  programOf,
  save,
  saveSource,
  sourceOf,
} from './plugins.ts';
import { deployed, failed, recordOf, recordedRuns } from '../runs/records.ts';
import { deletePlugin, pinVersion } from '../../../service/src/storage/tables/plugins.ts';
import { deleteVersion, findNewestVersion } from '../../../service/src/storage/tables/versions.ts';
import { overwriteDraft } from '../../../service/src/storage/tables/drafts.ts';
import { findPluginRecord } from '../../../service/src/storage/tables/plugin-records.ts';
import { dropOldestDetails } from '../../../service/src/storage/tables/runs.ts';
import { lockPlugin } from '../../../service/src/storage/db.ts';
import { eraseSome } from '../../../service/src/storage/erasing/erase.ts';

/** What the rows of all plugins take that are not deleted, added up anew. */
async function summedUp(t: Cleanup, address: DatabaseAddress): Promise<number> {
  const db = await openForInspection(t, address);
  const { rows } = await sql<{ size: number }>`
    select coalesce(sum(size), 0) + 0 as size from (
      select plugin_id, octet_length(record) as size from drafts
      union all select plugin_id, octet_length(record) + octet_length(program) from versions
        join programs on hash = program_hash
      union all select plugin_id, octet_length(program) from builds join programs on hash = program_hash
    ) as sizes join plugins on plugins.id = plugin_id where deleted_at is null`.execute(db);
  return Number(rows[0]?.size);
}

const stored = async ({ db }: Storage) => (await readTenantUsage(db, plugin)).storage;

const removePlugin = (storage: Storage, of = plugin) =>
  storage.transaction(async (db) => {
    await lockPlugin(db, of);
    await deletePlugin(db, of, 1);
  });

const removeVersion = (storage: Storage, version: string) =>
  storage.transaction(async (db) => {
    await lockPlugin(db, plugin);
    return deleteVersion(db, plugin, version);
  });

/** Saves a draft where a tenant may store `allowed` bytes. */
const saveWithin = (storage: Storage, allowed: number, length: number, of = plugin) =>
  overwriteDraft(storage.db, of, sourceOf('x'.repeat(length)), { now: 0, allowed });

for (const engine of engines) {
  test(`${engine}: what a tenant stores is counted with each write, in UTF-8`, async (t) => {
    const address = await databaseWithSchema(t, engine);
    const storage = await openDuring(t, address);
    await seedTenant(storage);
    await save(storage, '\u0001ä\u{1f600}');
    assert.equal(await stored(storage), Buffer.byteLength(JSON.stringify(sourceOf('\u0001ä\u{1f600}'))));
    for (const text of ['a', 'longer', 'b']) {
      await build(storage, text);
      await build(storage, text, otherPlugin);
      await deploy(storage, text);
    }
    assert.equal(await stored(storage), await summedUp(t, address));
    assert.equal(await removeVersion(storage, 'v1.0.1'), 'deleted');
    assert.equal(await stored(storage), await summedUp(t, address));
    await removePlugin(storage);
    assert.equal(await stored(storage), await summedUp(t, address));
    while (await storage.transaction((db) => eraseSome(db, 2, 8)));
    assert.equal(await stored(storage), await summedUp(t, address));
    await removePlugin(storage, otherPlugin);
    assert.equal(await stored(storage), 0);
  });

  test(`${engine}: long programs and details are compressed, and count by their length`, async (t) => {
    const address = await databaseWithSchema(t, engine);
    const storage = await openDuring(t, address);
    const code = `/* ${'ä'.repeat(5000)} */`;
    const version = await deployed(storage, plugin, code);
    const json = Buffer.byteLength(JSON.stringify(programOf(code)));
    // The draft and the version have the source, and the build and the version the program.
    const all = 2 * (Buffer.byteLength(JSON.stringify(sourceOf(code))) + json);
    assert.equal(await stored(storage), all);
    const message = 'ä'.repeat(5000);
    const record = recordOf(version, failed('plugin-error', message));
    await storeBatch(storage, { records: [record], usage: [] });
    const records = Buffer.byteLength(record.details ?? '');
    assert.equal((await readTenantUsage(storage.db, plugin)).records, records);

    const db = await openForInspection(t, address);
    const { rows: programs } = await sql<{ text: string; packed: Uint8Array; bytes: number }>`
      select 1 as part, program as text, packed, bytes from programs union all
      select 2, details, packed_details, details_bytes from runs order by part`.execute(db);
    assert.deepEqual(
      programs.map(({ text, bytes }) => ({ text, bytes })),
      [json, records].map((bytes) => ({ text: '', bytes })),
    );
    assert.ok(programs.every(({ packed }) => packed.length < 500));
    // Without what this process remembers.
    const other = await openDuring(t, address);
    assert.deepEqual(await (await findNewestVersion(other.db, plugin))?.load(), programOf(code));
    assert.equal((await recordedRuns(other, plugin))[0]?.details.message, message);

    // Such as of a text that would fill the memory.
    await db
      .updateTable('programs')
      .set({ bytes: 100 } as object)
      .execute();
    const tampered = await openDuring(t, address);
    await assert.rejects(async () => (await findNewestVersion(tampered.db, plugin))?.load());
    await db
      .updateTable('programs')
      .set({ bytes: json } as object)
      .execute();
    await removePlugin(storage);
    assert.deepEqual(await readTenantUsage(storage.db, plugin), { storage: 0, records: 0 });
  });

  test(`${engine}: nothing is compressed while an older program may use the database`, async (t) => {
    const address = await databaseWithSchema(t, engine);
    const db = await openForInspection(t, address);
    await migrateDatabase(address);
    await db.updateTable('schema_requirements').set({ oldest_program: 1 }).execute();
    const code = 'x'.repeat(10_000);
    await deployed(await openDuring(t, address), plugin, code);
    const countPacked = async () => {
      const rows = await db.selectFrom('programs').select('packed').execute();
      return rows.filter(({ packed }) => packed !== null).length;
    };
    assert.equal(await countPacked(), 0);
    await migrateDatabase(address, true);
    const storage = await openDuring(t, address);
    await build(storage, 'y'.repeat(10_000));
    assert.equal(await countPacked(), 1);
    assert.deepEqual(await (await findNewestVersion(storage.db, plugin))?.load(), programOf(code));
  });

  test(`${engine}: a draft that would take more than its tenant may store is refused, and what makes room is not`, async (t) => {
    const storage = await freshStorage(t, engine);
    await seedTenant(storage);
    await saveSource(storage, sourceOf('x'.repeat(900)));
    await saveSource(storage, sourceOf(''), otherPlugin);
    await assert.rejects(saveWithin(storage, 1000, 1000), StorageFullError);
    await assert.rejects(saveWithin(storage, 1000, 50, otherPlugin), StorageFullError);
    assert.ok(await saveWithin(storage, 500, 800), 'It is shorter, although not short enough.');
    assert.ok(await saveWithin(storage, 1000, 850));
    assert.ok(await saveWithin(storage, 1000, 0));
    assert.ok(await saveWithin(storage, 1000, 800, otherPlugin));
  });

  test(`${engine}: writes of two nodes at once never take more than the tenant may store`, async (t) => {
    const address = await databaseWithSchema(t, engine);
    const nodes = [
      await openDuring(t, address, patientStorage),
      await openDuring(t, address, patientStorage),
    ] as const;
    await seedTenant(nodes[0]);
    const plugins = Array.from({ length: 20 }, (_, i) => ({ ...plugin, pluginName: `p${i}` }));
    for (const one of plugins) await saveSource(nodes[0], sourceOf(''), one);
    const allowed = (await stored(nodes[0])) + 550;
    const ends = await Promise.allSettled(
      plugins.map((one, i) => saveWithin(nodes[i % 2 ? 1 : 0], allowed, 100, one)),
    );
    assert.equal(ends.filter(({ status }) => status === 'fulfilled').length, 5);
    assert.equal(await stored(nodes[1]), allowed - 50);
  });

  test(`${engine}: a version that is the newest or live stays, and the number of another is not used again`, async (t) => {
    const storage = await freshStorage(t, engine);
    for (const text of ['a', 'b', 'c']) {
      await build(storage, text);
      await deploy(storage, text);
    }
    await storage.transaction((db) => pinVersion(db, plugin, 'v1.0.0', { now: 1 }));
    assert.ok(await storage.runs.version(plugin, 'v1.0.1'));
    const outcomes = [];
    for (const version of ['v1.0.0', 'v1.0.2', 'v1.0.1', 'v1.0.1', 'v1.0.9', 'x'])
      outcomes.push(await removeVersion(storage, version));
    assert.deepEqual(outcomes, ['in-use', 'in-use', 'deleted', 'missing', 'missing', 'missing']);
    assert.equal(await storage.runs.version(plugin, 'v1.0.1'), undefined);
    assert.equal((await findPluginRecord(storage.db, plugin))?.versions, 2);
    await build(storage, 'b');
    assert.equal(await deploy(storage, 'b'), 'v1.0.3');
  });

  test(`${engine}: what was stored before there were quotas is counted, and only refused once it was below`, async (t) => {
    const address = await freshDatabase(t, engine);
    const former = await openEngine(address);
    await migrate(former, migrations.slice(0, 4));
    const record = JSON.stringify(sourceOf('x'.repeat(1000)));
    for (const statement of [
      sql`insert into environments values ('com.acme', null, 0)`,
      sql`insert into tenants (id, environment, name, created_at) values (7, 'com.acme', 't1', 0)`,
      sql`insert into plugins (id, tenant_id, namespace, name, created_at, last_patch)
        values (1, 7, 'default', 'x', 0, 0), (2, 7, 'default', 'y', 0, -1)`,
      sql`insert into drafts values (1, ${record}, 'javascript', 'tag', 'b', 'd', 1, 0, null),
        (2, '{"contents":""}', 'javascript', 'tag', 'b', 'd', 1, 0, null)`,
      sql`insert into programs values ('h', '{"kind":"script"}')`,
      sql`insert into versions (plugin_id, patch, record, lang, digest, program_hash, created_at)
        values (1, 0, ${record}, 'javascript', 'd', 'h', 0)`,
    ])
      await statement.execute(former.db);
    await former.close();
    const storage = await openDuring(t, address);
    assert.equal(await stored(storage), await summedUp(t, address));
    assert.ok((await stored(storage)) > 2000);
    const { db } = storage;
    await endExemptions(db, 2000);
    assert.ok(await saveWithin(storage, 2000, 1100), 'It has not been below yet.');
    await saveWithin(storage, 2000, 0);
    await assert.rejects(saveWithin(storage, 2000, 2000, otherPlugin), StorageFullError);
    await endExemptions(db, 2000);
    await saveWithin(storage, 10_000, 3000);
    await assert.rejects(saveWithin(storage, 2000, 3001), StorageFullError);
  });

  test(`${engine}: the oldest details of a tenant's runs go first, and outcomes stay`, async (t) => {
    const storage = await freshStorage(t, engine);
    const versions = [await deployed(storage), await deployed(storage, otherPlugin)];
    const retention = new RunRetention({ storage, days: 14, count: 1000, bytes: 20_000 });
    cleanUpFirst(t, () => retention.close());
    const records = Array.from({ length: 60 }, (_, i) =>
      recordOf(
        versions[i % 2] ?? versions[0]!,
        failed('plugin-error', 'x'.repeat(980)),
        Date.now() - 60_000 + i * 1000,
      ),
    );
    await storeBatch(storage, { records, usage: [] });
    // More than one statement takes as parameters.
    const pluginIds = Array.from({ length: 70_000 }, (_, id) => id);
    assert.equal((await findTenantsWithTooManyRecords(storage.db, pluginIds, 20_000)).length, 1);
    retention.handleStored(records);
    await retention.sweep();
    const all = [...(await recordedRuns(storage, plugin)), ...(await recordedRuns(storage, otherPlugin))];
    assert.equal(all.length, 60);
    assert.ok(all.every(({ code }) => code === 'plugin-error'));
    const newest = all
      .toSorted((a, b) => (a.id < b.id ? 1 : -1))
      .map(({ details }) => details.message !== undefined);
    assert.deepEqual(
      newest,
      Array.from({ length: 60 }, (_, i) => i < 20),
    );
    assert.ok((await readTenantUsage(storage.db, plugin)).records <= 20_000);
    await removePlugin(storage);
    await removePlugin(storage, otherPlugin);
    assert.equal((await readTenantUsage(storage.db, plugin)).records, 0);
  });
}

postgresTest('details of records that another node is deleting are left to it', async (t) => {
  const address = await databaseWithSchema(t, 'postgres');
  const storage = await openDuring(t, address);
  const version = await deployed(storage);
  const record = recordOf(version, failed('plugin-error', 'x'.repeat(980)), Date.now() - 60_000);
  await storeBatch(storage, { records: [record], usage: [] });
  const { id: tenant } = await (
    await openForInspection(t, address)
  )
    .selectFrom('tenants')
    .select('id')
    .executeTakeFirstOrThrow();
  const dropDetails = () => storage.transaction((db) => dropOldestDetails(db, tenant, 0, Date.now()));
  const otherNode = await openForInspection(t, address);
  await otherNode.transaction().execute(async (transaction) => {
    await sql`select id from runs for update`.execute(transaction);
    // Waiting for the row would be a deadlock, because the other node takes the tenant's counter next.
    assert.equal(await dropDetails(), false);
  });
  assert.equal((await recordedRuns(storage, plugin))[0]?.details.message?.length, 980);
  await dropDetails();
  assert.equal((await recordedRuns(storage, plugin))[0]?.details.message, undefined);
});

test('an SQLite file gives the space of deleted rows back, also one that an earlier release made', async (t) => {
  const address = await freshDatabase(t, 'sqlite');
  const { file } = address as { file: string };
  const engine = await openEngine(address);
  await sql`pragma auto_vacuum = none`.execute(engine.db);
  await migrate(engine, migrations.slice(0, 4));
  await engine.close();
  const storage = await openDuring(t, address);
  await seedTenant(storage);
  for (let i = 0; i < 10; i++)
    await saveSource(storage, sourceOf('x'.repeat(1_000_000)), { ...plugin, pluginName: `p${i}` });
  for (let i = 0; i < 10; i++) await removePlugin(storage, { ...plugin, pluginName: `p${i}` });
  while (await storage.transaction((db) => eraseSome(db, 2, 8)));
  while (await storage.reclaimSpace());
  await storage.close();
  assert.ok(statSync(file).size < 6_000_000, `It has ${statSync(file).size} bytes.`);
});
