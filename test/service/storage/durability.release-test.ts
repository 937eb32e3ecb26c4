import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { sql } from 'kysely';
import { measureCrashes } from '../../soak/crashes.ts';
import { until } from '../../support/until.ts';
import { migrations } from '../../../service/src/storage/migrations/migrations.ts';
import { openEngine, openStorage } from '../../../service/src/storage/storage.ts';
import { cleanUpFirst, engines, freshDatabase } from './databases.ts';
import type { EngineName } from './databases.ts';
import { startMigration } from './migration-process.ts';
import { createDurableDatabase } from './durable-database.ts';
import { ServiceProcess } from '../service-process.ts';
import { readDraft } from '../../../service/src/storage/tables/drafts.ts';

const plugin = { environment: 'com.acme', tenant: 't1', namespace: 'default', pluginName: 'add-record' };

async function durableDatabase(t: TestContext, engine: EngineName) {
  const database = await createDurableDatabase(engine);
  cleanUpFirst(t, database.remove);
  return database;
}

for (const engine of engines) {
  test(`${engine}: an acknowledged save survives kill -9 at any moment`, async (t) => {
    const { address, crash, restart } = await durableDatabase(t, engine);
    let acknowledged = 0;
    for (const saves of [1, 12]) {
      const service = await ServiceProcess.start(t, address);
      const token = await service.editorToken();
      const save = () => service.save(token, { contents: `revision ${acknowledged + 1}` });
      const last = acknowledged + saves;
      while (acknowledged < last) {
        assert.equal((await save()).status, 200);
        acknowledged += 1;
      }
      // One more is pending when the process goes: it may be there afterwards or not, but whole.
      const cut = save().then(
        ({ ok }) => ok,
        () => false,
      );
      await Promise.all([service.kill(), crash()]);
      await restart();
      if (await cut) acknowledged += 1;

      const storage = await openStorage(address);
      const draft = await readDraft(storage.db, plugin);
      await storage.close();
      assert.ok(
        draft && draft.revision >= acknowledged,
        `${draft?.revision} of ${acknowledged} saves are there`,
      );
      assert.equal(draft.source.contents, `revision ${draft.revision}`);
      acknowledged = draft.revision;
    }
  });

  test(`${engine}: an acknowledged build and version survive kill -9`, async (t) => {
    const { address, crash, restart } = await durableDatabase(t, engine);
    const textOf = (output: number) => `export const run = () => "${output}";`;
    for (const n of [0, 1]) {
      const service = await ServiceProcess.start(t, address);
      const token = await service.editorToken();
      // What the process before built is there to deploy.
      if (n) assert.equal((await service.deploy(token)).version, `v1.0.${n * 2 - 1}`);
      await service.build(token, textOf(n * 2));
      assert.equal((await service.deploy(token)).version, `v1.0.${n * 2}`);
      await service.build(token, textOf(n * 2 + 1));
      await Promise.all([service.kill(), crash()]);
      await restart();
    }
    const service = await ServiceProcess.start(t, address);
    assert.equal((await service.deploy(await service.editorToken())).version, 'v1.0.3');
    for (const patch of [0, 1, 2, 3]) {
      assert.equal(await (await service.run(`v1.0.${patch}`)).text(), String(patch));
    }
  });
}

// `npm run bench -- storage kill` has a hundred rounds of it on each.
for (const engine of engines) {
  test(`${engine}: acknowledged writes of many clients survive kill -9 at a random moment`, async () => {
    for (const { name, value, limit, note } of await measureCrashes(engine, 1)) {
      assert.ok(value <= limit, `${name}: ${value} (${note})`);
    }
  });

  test(`${engine}: kill -9 during a migration leaves nothing of it, and the next start repeats it`, async (t) => {
    const address = await freshDatabase(t, engine);
    const slow = startMigration(t, address, 'slow');
    assert.equal(await slow.nextLine(), 'in the middle');
    // One that comes meanwhile waits for the lock.
    const waiting = startMigration(t, address, 'quick');
    assert.equal(await waiting.nextLine(), 'asks');
    const opened = await openEngine(address);
    cleanUpFirst(t, () => opened.close());
    const migrationsIn = async () => {
      const { rows } = await sql<{ name: string }>`select name from schema_migrations order by name`.execute(
        opened.db,
      );
      return rows.map(({ name }) => name);
    };
    const known = migrations.map(({ name }) => name);
    if (engine === 'postgres') {
      await until('it waits for the lock', async () => {
        const { rows } = await sql`select 1 from pg_locks where locktype = 'advisory' and not granted
          and database = (select oid from pg_database where datname = current_database())`.execute(opened.db);
        return rows.length > 0;
      });
    }
    slow.child.kill('SIGKILL');
    await slow.exited;
    assert.equal(await waiting.nextLine(), 'done');
    assert.deepEqual(await migrationsIn(), known);
    assert.equal(await opened.hasTable(opened.db, 'half_done'), false);

    const again = startMigration(t, address, 'slow');
    assert.equal(await again.nextLine(), 'in the middle');
    again.child.kill('SIGKILL');
    await again.exited;
    const third = startMigration(t, address, 'slow');
    assert.equal(await third.nextLine(), 'in the middle');
    third.child.stdin.end();
    assert.equal(await third.nextLine(), 'done');
    assert.deepEqual(await migrationsIn(), [...known, '9001-slow']);
  });
}
