import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { DatabaseAddress } from '../../../service/src/storage/database-url.ts';
import { migrate } from '../../../service/src/storage/migrations/migrate.ts';
import { migrations } from '../../../service/src/storage/migrations/migrations.ts';
import type { Migration } from '../../../service/src/storage/migrations/migrations.ts';
import type { Schema } from '../../../service/src/storage/schema.ts';
import { openEngine, openStorage } from '../../../service/src/storage/storage.ts';
import { cleanUpFirst, engines, freshDatabase, openDuring } from './databases.ts';
import { startMigration } from './migration-process.ts';
import { seedTenant, plugin, save } from './plugins.ts';
import { readDraft } from '../../../service/src/storage/tables/drafts.ts';

async function engineOf(t: TestContext, address: DatabaseAddress) {
  const engine = await openEngine(address);
  cleanUpFirst(t, () => engine.close());
  return engine;
}

/** A migration that a later release might have. */
const later = (name: string, oldestProgram: number): Migration => ({
  name,
  oldestProgram,
  async up(db) {
    await sql`alter table drafts add column ${sql.id(name)} integer`.execute(db);
  },
});

/** The names of the migrations of this release. */
const known = migrations.map(({ name }) => name);

/** The first program that this release is too old for. */
const newer = migrations.length + 1;

const migrationsIn = async (db: Kysely<Schema>) => {
  const { rows } = await sql<{ name: string }>`select name from schema_migrations order by name`.execute(db);
  return rows.map(({ name }) => name);
};

for (const engine of engines) {
  test(`${engine}: a later release adds to the schema, and the data stays`, async (t) => {
    const address = await freshDatabase(t, engine);
    const storage = await openDuring(t, address);
    await seedTenant(storage);
    const saved = await save(storage, 'text');
    const opened = await engineOf(t, address);
    const all = [...migrations, later('9001-later', 1), later('9002-later', 2)];
    await migrate(opened, all);
    await migrate(opened, all);
    assert.deepEqual(
      await migrationsIn(opened.db),
      all.map(({ name }) => name),
    );
    assert.deepEqual(await readDraft(storage.db, plugin), saved);
  });

  test(`${engine}: an older program goes on if the newer schema allows it, and one that is too old is refused`, async (t) => {
    const address = await freshDatabase(t, engine);
    const opened = await engineOf(t, address);
    const second = [...migrations, later('9001-later', 1)];
    await migrate(opened, second);
    const storage = await openDuring(t, address);
    await seedTenant(storage);
    assert.equal((await save(storage, 'text'))?.revision, 1);

    await migrate(opened, [...second, later('9002-later', newer)]);
    await migrate(opened, second);
    await assert.rejects(openStorage(address), (error: Error) => {
      assert.equal(error.name, 'StartError');
      // One line that ends so: it does not say to move the database away.
      const expected = ` cannot be used: it needs a program of schema ${newer} or later, and this one is of schema ${newer - 1}; use a newer release.`;
      assert.ok(error.message.endsWith(expected), error.message);
      assert.ok(!error.message.includes('\n'));
      return true;
    });
    assert.equal((await migrationsIn(opened.db)).length, migrations.length + 2);
  });

  test(`${engine}: a failed migration leaves the schema as it was`, async (t) => {
    const opened = await engineOf(t, await freshDatabase(t, engine));
    const failing: Migration = {
      name: '9003-failing',
      oldestProgram: 1,
      async up(db) {
        await sql`create table half_done (id integer)`.execute(db);
        throw new Error('no');
      },
    };
    await assert.rejects(migrate(opened, [...migrations, later('9001-later', 1), failing]), /^Error: no$/);
    assert.equal(await opened.hasTable(opened.db, 'drafts'), false);
    await migrate(opened);
    assert.deepEqual(await migrationsIn(opened.db), known);
    await assert.rejects(migrate(opened, [...migrations, failing]), /^Error: no$/);
    assert.equal(await opened.hasTable(opened.db, 'half_done'), false);
    assert.equal(await opened.hasTable(opened.db, 'drafts'), true);
  });

  test(`${engine}: of many nodes that start at once on an empty database, one makes the schema`, async (t) => {
    const address = await freshDatabase(t, engine);
    const started = Array.from({ length: 2 }, () => startMigration(t, address, 'quick'));
    const here = Array.from({ length: 4 }, () => openDuring(t, address));
    const ends = await Promise.all(started.map(({ exited }) => exited));
    assert.deepEqual(
      ends.map(([code]) => code),
      [0, 0],
    );
    const [storage] = await Promise.all(here);
    assert.ok(storage);
    await seedTenant(storage);
    await save(storage, 'text');
    const opened = await engineOf(t, address);
    assert.deepEqual(await migrationsIn(opened.db), known);
  });
}
