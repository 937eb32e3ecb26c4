import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import type { LogEvent } from 'kysely';
import { sql } from 'kysely';
import { RunRetention } from '../../../service/src/runs/retention.ts';
import type { StorageOptions } from '../../../service/src/storage/storage.ts';
import { createToken } from '../../../service/src/tokens.ts';
import { engines, databaseWithSchema, openForInspection, openDuring, postgresTest } from './databases.ts';
import type { EngineName } from './databases.ts';
import { build, deploy, environmentOfToken, otherPlugin, plugin, programOf, setToken } from './plugins.ts';
import { until } from '../../support/until.ts';
import { setEnvironmentToken } from '../../../service/src/storage/tables/environments.ts';

// What is known holds until it is known to have changed: whether the last poll is recent is not what these tests are about.
const trusting: StorageOptions = { trustedFor: Infinity };
// Only a call of the test polls.
const manual: StorageOptions = { ...trusting, pollInterval: 2 ** 30 };

/** A storage and the statements that it has run, but for those that ask for changes. */
async function counted(t: TestContext, engine: EngineName, options = trusting) {
  const address = await databaseWithSchema(t, engine);
  const statements: string[] = [];
  const log = ({ query }: LogEvent) => {
    if (!query.sql.includes('change_counter')) statements.push(query.sql);
  };
  const storage = await openDuring(t, address, { ...options, log });
  return { address, storage, statements };
}

for (const engine of engines) {
  test(`${engine}: a run of a known version asks the database nothing`, async (t) => {
    const { storage, statements } = await counted(t, engine);
    const token = createToken('environment');
    await build(storage, 'text');
    await deploy(storage, 'text');
    await setToken(storage, token);
    await storage.readChanges();
    const lookUp = async () => {
      assert.equal(await environmentOfToken(storage, token), 'com.acme');
      const [pinned, newest] = [
        await storage.runs.version(plugin, 'v1.0.0'),
        await storage.runs.liveVersion(plugin),
      ];
      assert.equal(pinned?.hash, newest?.hash);
      return pinned;
    };
    const stored = await lookUp();
    statements.length = 0;
    for (let i = 0; i < 3; i++) await lookUp();
    assert.deepEqual(statements, []);
    assert.deepEqual(await stored?.load(), programOf('text'));
    assert.equal(statements.length, 1);
  });

  test(`${engine}: a missing version is looked up each time`, async (t) => {
    const { storage, statements } = await counted(t, engine);
    const token = createToken('environment');
    assert.equal(await environmentOfToken(storage, token), undefined);
    assert.equal(await storage.runs.version(plugin, 'v1.0.0'), undefined);
    assert.equal(await storage.runs.liveVersion(plugin), undefined);
    await setToken(storage, token);
    await build(storage, 'text');
    await deploy(storage, 'text');
    statements.length = 0;
    assert.equal(await environmentOfToken(storage, token), 'com.acme');
    assert.ok(await storage.runs.version(plugin, 'v1.0.0'));
    assert.ok(await storage.runs.liveVersion(plugin));
    assert.equal(statements.length, 3);
  });

  test(`${engine}: a change takes effect at once on the node that made it`, async (t) => {
    const { storage } = await counted(t, engine, manual);
    let before = createToken('environment');
    await setToken(storage, before);
    for (let i = 0; i < 5; i++) {
      assert.equal(await environmentOfToken(storage, before), 'com.acme');
      const next = createToken('environment');
      await setToken(storage, next);
      assert.equal(await environmentOfToken(storage, before), undefined);
      before = next;
      await build(storage, String(i));
      await deploy(storage, String(i));
      assert.deepEqual(await (await storage.runs.liveVersion(plugin))?.load(), programOf(String(i)));
    }
  });

  test(`${engine}: a change takes effect soon on another node`, async (t) => {
    const { address, storage } = await counted(t, engine);
    const other = await openDuring(t, address, trusting);
    const [before, after] = [createToken('environment'), createToken('environment')];
    await setToken(storage, before);
    await build(storage, 'old');
    await deploy(storage, 'old');
    assert.equal(await environmentOfToken(other, before), 'com.acme');
    assert.deepEqual(await (await other.runs.liveVersion(plugin))?.load(), programOf('old'));
    await setToken(storage, after);
    await build(storage, 'new');
    await deploy(storage, 'new');
    await until('the token that was replaced ends', async () => !(await environmentOfToken(other, before)));
    assert.equal(await environmentOfToken(other, after), 'com.acme');
    await until('the newest version is known', async () => {
      const program = await (await other.runs.liveVersion(plugin))?.load();
      return program?.kind === 'script' && program.code === 'new';
    });
  });

  test(`${engine}: a change leaves cached versions of other plugins`, async (t) => {
    const { address, storage, statements } = await counted(t, engine);
    const [token, kept] = [createToken('environment'), createToken('environment')];
    await setToken(storage, token);
    await setToken(storage, kept, 'com.acme.other');
    for (const one of [plugin, otherPlugin]) {
      await build(storage, 'text', one);
      await deploy(storage, 'text', one);
    }
    await storage.readChanges();
    for (const one of [plugin, otherPlugin]) await storage.runs.liveVersion(one);
    for (const one of [token, kept]) await environmentOfToken(storage, one);
    const other = await openDuring(t, address);
    await deploy(other, 'text');
    await setToken(other, createToken('environment'));
    await until('the change is known', async () => !(await environmentOfToken(storage, token)));
    statements.length = 0;
    assert.equal(await environmentOfToken(storage, kept), 'com.acme.other');
    assert.ok(await storage.runs.liveVersion(otherPlugin));
    assert.deepEqual(statements, []);
  });

  test(`${engine}: a node that has not heard from the database for long asks it for each run`, async (t) => {
    const { storage, statements } = await counted(t, engine, { trustedFor: -1 });
    const token = createToken('environment');
    await setToken(storage, token);
    await environmentOfToken(storage, token);
    statements.length = 0;
    for (let i = 0; i < 3; i++) await environmentOfToken(storage, token);
    assert.equal(statements.length, 3);
  });

  test(`${engine}: a node that was away for longer than changes are kept forgets its whole cache`, async (t) => {
    const { address, storage, statements } = await counted(t, engine);
    const token = createToken('environment');
    await setToken(storage, token);
    await storage.readChanges();
    await environmentOfToken(storage, token);
    const db = await openForInspection(t, address);
    // As though an hour had passed over this change of something else.
    await db.transaction().execute(async (transaction) => {
      await transaction
        .updateTable('change_counter')
        .set({ last: sql`last + 1` })
        .execute();
      await transaction.deleteFrom('changes').execute();
    });
    await until('the token is asked for anew', async () => {
      statements.length = 0;
      assert.equal(await environmentOfToken(storage, token), 'com.acme');
      return statements.length > 0;
    });
  });

  test(`${engine}: a node that is far behind forgets its whole cache`, async (t) => {
    const { address, storage, statements } = await counted(t, engine, manual);
    const token = createToken('environment');
    await setToken(storage, token);
    await storage.readChanges();
    await environmentOfToken(storage, token);
    const db = await openForInspection(t, address);
    const missed = Array.from({ length: 10_001 }, (_, i) => ({
      id: 2 + i,
      kind: 'plugin',
      key: `other ${i}`,
      created_at: Date.now(),
    }));
    await db.transaction().execute(async (transaction) => {
      await transaction
        .updateTable('change_counter')
        .set({ last: 1 + missed.length })
        .execute();
      for (let i = 0; i < missed.length; i += 2000) {
        await transaction
          .insertInto('changes')
          .values(missed.slice(i, i + 2000))
          .execute();
      }
    });
    await storage.readChanges();
    statements.length = 0;
    assert.equal(await environmentOfToken(storage, token), 'com.acme');
    assert.equal(statements.length, 1);
    // It knows the end of the log.
    await setToken(await openDuring(t, address), createToken('environment'), 'com.acme.other');
    await storage.readChanges();
    statements.length = 0;
    assert.equal(await environmentOfToken(storage, token), 'com.acme');
    assert.deepEqual(statements, []);
  });

  test(`${engine}: a node that starts reads no earlier changes`, async (t) => {
    const { address, storage } = await counted(t, engine);
    await setToken(storage, createToken('environment'));
    const statements: string[] = [];
    const log = ({ query }: LogEvent) => void statements.push(query.sql);
    await openDuring(t, address, { ...manual, log });
    assert.ok(statements.some((one) => one.includes('"change_counter"')));
    assert.deepEqual(
      statements.filter((one) => one.includes('"changes"')),
      [],
    );
  });

  test(`${engine}: changes are kept for an hour, and deleted apart from other changes`, async (t) => {
    const { address, storage } = await counted(t, engine);
    const db = await openForInspection(t, address);
    const ids = async () =>
      (await db.selectFrom('changes').select('id').orderBy('id').execute()).map(({ id }) => id);
    const setAge = (id: number, minutes: number) =>
      db
        .updateTable('changes')
        .set({ created_at: Date.now() - minutes * 60_000 })
        .where('id', '=', id)
        .execute();
    const change = () => setToken(storage, createToken('environment'));
    for (let i = 0; i < 4; i++) await change();
    await setAge(1, 61);
    // Written by a node whose clock is far ahead.
    await setAge(2, -1000);
    await setAge(3, 59);
    await change();
    assert.deepEqual(await ids(), [1, 2, 3, 4, 5]);
    // The clock of a service, which a test may turn, is not that by which changes are recorded.
    await new RunRetention({ storage, days: 14, count: 10, now: () => 0 }).sweep();
    assert.deepEqual(await ids(), [3, 4, 5]);
  });

  test(`${engine}: a transaction that is undone changes nothing in the caches of others`, async (t) => {
    const { address, storage, statements } = await counted(t, engine);
    const token = createToken('environment');
    await setToken(storage, token);
    await storage.readChanges();
    await environmentOfToken(storage, token);
    const failing = storage.transaction(async (db) => {
      await setEnvironmentToken(db, 'com.acme', { holder: 'owner', token: createToken('environment') }, 0);
      throw new Error('no');
    });
    await assert.rejects(failing, /^Error: no$/);
    statements.length = 0;
    assert.equal(await environmentOfToken(storage, token), 'com.acme');
    assert.deepEqual(statements, []);
    const db = await openForInspection(t, address);
    assert.equal((await db.selectFrom('change_counter').select('last').executeTakeFirst())?.last, 1);
  });
}

postgresTest('postgres: a node that loses its connection for announcements polls instead', async (t) => {
  const { address, storage } = await counted(t, 'postgres');
  const other = await openDuring(t, address, trusting);
  const db = await openForInspection(t, address);
  const listeners = sql<{ ended: boolean }>`select pg_terminate_backend(pid) as ended from pg_stat_activity
    where application_name = 'plugin-editor-service changes' and datname = current_database()`;
  await until('both nodes listen', async () => {
    const { rows } = await sql<{ n: number }>`select count(*) as n from pg_stat_activity
      where application_name = 'plugin-editor-service changes' and datname = current_database()`.execute(db);
    return rows[0]?.n === 2;
  });
  const before = createToken('environment');
  await setToken(storage, before);
  assert.equal(await environmentOfToken(other, before), 'com.acme');
  await listeners.execute(db);
  await setToken(storage, createToken('environment'));
  await until('the token that was replaced ends', async () => !(await environmentOfToken(other, before)));
});
