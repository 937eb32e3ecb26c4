import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import { storeBatch } from '../../../service/src/runs/recording.ts';
import { RunRetention } from '../../../service/src/runs/retention.ts';
import type { RetentionOptions } from '../../../service/src/runs/retention.ts';
import { lockPlugin } from '../../../service/src/storage/db.ts';
import { eraseSome } from '../../../service/src/storage/erasing/erase.ts';
import { migrate } from '../../../service/src/storage/migrations/migrate.ts';
import { migrations } from '../../../service/src/storage/migrations/migrations.ts';
import type { Schema } from '../../../service/src/storage/schema.ts';
import { openEngine } from '../../../service/src/storage/storage.ts';
import type { Storage } from '../../../service/src/storage/storage.ts';
import { parseDatabaseUrl } from '../../../service/src/storage/database-url.ts';
import { deletePlugin } from '../../../service/src/storage/tables/plugins.ts';
import { ProgramCache } from '../../../service/src/storage/tables/programs.ts';
import { deleteRunsBefore, listRuns, trimRuns } from '../../../service/src/storage/tables/runs.ts';
import type { RunRecord } from '../../../service/src/storage/tables/runs.ts';
import { readTenantUsage } from '../../../service/src/storage/tables/tenant-storage.ts';
import { uuidToBytes } from '../../../service/src/storage/tables/uuids.ts';
import { eventually, until } from '../../support/until.ts';
import { deployed, failed, recordOf, recordedRuns, unknownVersion } from '../runs/records.ts';
import {
  cleanUpFirst,
  databaseUrl,
  databaseWithSchema,
  freshDatabase,
  freshStorage,
  openDuring,
  openForInspection,
  postgresTest,
} from './databases.ts';
import type { Cleanup } from './databases.ts';
import { otherPlugin, plugin } from './plugins.ts';

const day = 86_400_000;
const start = Date.UTC(2026, 4, 1, 12);

/** The partitions that records are in, with how many there are in each. */
async function countByTable(storage: Storage): Promise<Record<string, number>> {
  const { rows } = await sql<{ name: string; count: number }>`
    select tableoid::regclass::text as name, count(*) as count from runs group by tableoid order by 1`.execute(
    storage.db.query,
  );
  return Object.fromEntries(rows.map(({ name, count }) => [name, count]));
}

async function tablesOfRuns(db: Kysely<Schema>): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select relname::text as name from pg_class where relkind = 'r' and relname like 'runs%' order by 1`.execute(
    db,
  );
  return rows.map(({ name }) => name);
}

/** What the details of all records take whose plugin is not deleted, added up anew. */
async function summedUp(db: Kysely<Schema>): Promise<number> {
  const { rows } = await sql<{ size: number }>`
    select coalesce(sum(octet_length(details)), 0)::bigint as size from runs
    join plugins on plugins.id = plugin_id where deleted_at is null`.execute(db);
  return rows[0]?.size ?? NaN;
}

const counted = async ({ db }: Storage) => (await readTenantUsage(db, plugin)).records;

const removePlugin = (storage: Storage, of = plugin) =>
  storage.transaction(async (db) => {
    await lockPlugin(db, of);
    await deletePlugin(db, of, 1);
  });

function createRetention(t: Cleanup, storage: Storage, now: number, options: Partial<RetentionOptions> = {}) {
  const retention = new RunRetention({ storage, days: 14, count: 1000, now: () => now, ...options });
  cleanUpFirst(t, () => retention.close());
  return retention;
}

async function sweepAt(t: Cleanup, storage: Storage, now: number): Promise<void> {
  const errors: unknown[] = [];
  await createRetention(t, storage, now, { onError: (error) => errors.push(error) }).sweep();
  assert.deepEqual(errors, []);
}

const store = (storage: Storage, records: readonly RunRecord[]) =>
  storeBatch(storage, { records, usage: [] });

postgresTest(
  'records are partitioned while a node of the release before reads and writes them',
  async (t) => {
    const address = await freshDatabase(t, 'postgres');
    const engine = await openEngine(address);
    cleanUpFirst(t, () => engine.close());
    const before = migrations.findIndex(({ name }) => name === '0013-run-days');
    await migrate(engine, migrations.slice(0, before));
    for (const statement of [
      sql`insert into environments values ('com.acme', null, 0)`,
      sql`insert into tenants (id, environment, name, created_at) values (7, 'com.acme', 't1', 0)`,
      sql`insert into plugins (id, tenant_id, namespace, name, created_at, last_patch) values (1, 7, 'default', 'x', 0, 0)`,
    ])
      await statement.execute(engine.db);
    const roleName = `nodes_${randomBytes(8).toString('hex')}`;
    const role = sql.id(roleName);
    await sql`create role ${role} login password 'secret'`.execute(engine.db);
    cleanUpFirst(t, async () => {
      await sql`drop owned by ${role}`.execute(engine.db);
      await sql`drop role ${role}`.execute(engine.db);
    });
    const grant = sql`grant select, insert, update, delete on all tables in schema public to ${role}`;
    await grant.execute(engine.db);
    const node = { query: engine.db, engine, programs: new ProgramCache(), packsTexts: false };
    const written: string[] = [];
    const write = async (at?: number) => {
      const { id, code, details } = recordOf(unknownVersion, failed(), at);
      const bytes = uuidToBytes(id);
      await sql`insert into runs
        (id, plugin_id, patch, success, error_code, microseconds, input_bytes, output_bytes, details)
        values (${bytes}, 1, 0, 0, ${code}, 0, 0, 0, ${details})`.execute(engine.db);
      written.push(id);
      const { rows } = await sql`select details from runs where id = ${bytes}`.execute(engine.db);
      assert.equal(rows.length, 1);
    };
    for (let i = 0; i < 30; i++) await write(Date.now() - (30 - i) * day);
    const ended = new AbortController();
    const writing = (async () => {
      while (!ended.signal.aborted) await write();
    })();
    const untilWritten = async () => {
      const count = written.length;
      await Promise.race([writing, until('more records', () => written.length > count + 3)]);
    };
    try {
      await untilWritten();
      const reader = await openForInspection(t, address);
      let migrating: Promise<void> | undefined;
      // A transaction that has the table for a while holds the migration up, and nobody else.
      await reader.transaction().execute(async (transaction) => {
        // It idles while the migration and the other node are waited for.
        await sql`set local idle_in_transaction_session_timeout = 0`.execute(transaction);
        await sql`select from runs limit 1`.execute(transaction);
        migrating = migrate(engine);
        const waiting = sql`select from pg_locks where relation = 'runs'::regclass and not granted`;
        await until('it waits', async () => (await waiting.execute(reader)).rows.length > 0);
        await untilWritten();
        assert.deepEqual(await tablesOfRuns(reader), ['runs']);
      });
      await migrating;
      await untilWritten();
    } finally {
      ended.abort();
      await writing;
    }

    const storage = await openDuring(t, address);
    const all = await recordedRuns(storage, plugin);
    assert.deepEqual(all.map(({ id }) => id).toReversed(), written.toSorted());
    assert.equal(await counted(storage), await summedUp(engine.db));
    // It goes on to delete, too.
    await deleteRunsBefore(node, Date.now() - 14.5 * day, 'runs');
    // In batches, of which a quick machine has several.
    while (await trimRuns(node, { pluginId: 1, success: false }, 3));
    assert.equal((await recordedRuns(storage, plugin)).length, 3);
    assert.equal(await counted(storage), await summedUp(engine.db));

    // A role that does not own the tables has them as ever.
    const url = new URL(databaseUrl(address));
    Object.assign(url, { username: roleName, password: 'secret' });
    const other = await openDuring(t, parseDatabaseUrl(url.href), { autoMigrate: false });
    await store(other, [recordOf(unknownVersion, failed(), start)]);
    await sweepAt(t, other, start + 14.5 * day);
    assert.equal((await recordedRuns(other, plugin)).length, 3);
    assert.deepEqual(await tablesOfRuns(engine.db), ['runs_rest']);
  },
);

postgresTest(
  'records are in a partition for each day, and else in the rest, and pages go through all',
  async (t) => {
    const storage = await freshStorage(t, 'postgres');
    const version = await deployed(storage);
    await sweepAt(t, storage, start);
    const days = [0, 1, 2, 2, 3, 7, 8, 40, -20];
    const records = days.map((after) => recordOf(version, failed(), start + after * day));
    await store(storage, records);
    assert.deepEqual(await countByTable(storage), {
      runs_20260503_20260504: 2,
      runs_20260504_20260505: 1,
      runs_20260508_20260509: 1,
      runs_rest: 5,
    });
    const listed: string[] = [];
    for (let before: string | undefined; ; before = listed.at(-1)) {
      const { runs: page } = await listRuns(storage.db, plugin, {}, { limit: 2, before });
      listed.push(...page.map(({ id }) => id));
      if (page.length < 2) break;
    }
    assert.deepEqual(
      listed,
      records
        .map(({ id }) => id)
        .toSorted()
        .toReversed(),
    );
    // The node was away for a while. The rest has records of the day 40 days ahead.
    await sweepAt(t, storage, start + 35 * day);
    const tables = await tablesOfRuns(storage.db.query);
    assert.deepEqual(tables, [
      'runs_20260607_20260608',
      'runs_20260608_20260609',
      'runs_20260609_20260610',
      'runs_rest',
    ]);
    // Records were kept for longer once, and then the old ones of a long partition are deleted row by row.
    await createRetention(t, storage, start + 60 * day, { days: 90 }).sweep();
    const ofLongDays = [62, 64].map((after) => recordOf(version, failed(), start + after * day));
    await store(storage, ofLongDays);
    assert.equal((await countByTable(storage))['runs_20260702_20260705'], 2);
    await sweepAt(t, storage, start + 77 * day);
    assert.deepEqual(
      (await recordedRuns(storage, plugin)).map(({ id }) => id),
      [ofLongDays[1]?.id],
    );
  },
);

postgresTest('a day is dropped at its age, and what it took is subtracted', async (t) => {
  const storage = await freshStorage(t, 'postgres');
  const { query } = storage.db;
  const versions = [await deployed(storage), await deployed(storage, otherPlugin)] as const;
  await sweepAt(t, storage, start);
  const at = (version: (typeof versions)[number], after: number) =>
    recordOf(version, failed('plugin-error', 'x'.repeat(100 + after)), start + after * day);
  await store(
    storage,
    [2, 3, 3, 4, 5].flatMap((after) => versions.map((version) => at(version, after))),
  );
  assert.equal(await counted(storage), await summedUp(query));
  // The third day ends in the middle of this one, 14 days later.
  const noon = start + (3 + 14) * day;
  await sweepAt(t, storage, noon);
  assert.ok((await tablesOfRuns(query)).includes('runs_20260504_20260505'));
  assert.equal((await recordedRuns(storage, plugin)).length, 4);
  assert.equal(await counted(storage), await summedUp(query));
  await sweepAt(t, storage, noon + day);
  assert.equal((await recordedRuns(storage, plugin)).length, 2);
  assert.equal(await counted(storage), await summedUp(query));

  const retention = createRetention(t, storage, noon + day, { count: 1 });
  await store(storage, [at(versions[0], 6)]);
  retention.handleStored([at(versions[0], 6), at(versions[1], 6)]);
  await retention.sweep();
  assert.deepEqual(
    [(await recordedRuns(storage, plugin)).length, (await recordedRuns(storage, otherPlugin)).length],
    [1, 1],
  );
  await removePlugin(storage);
  assert.equal(await counted(storage), await summedUp(query));
  while (await storage.transaction((db) => eraseSome(db, 2, 8)));
  assert.equal((await query.selectFrom('runs').select('id').execute()).length, 1);
});

postgresTest('kill -9 while days are kept leaves what the next node goes on with', async (t) => {
  const address = await databaseWithSchema(t, 'postgres');
  const storage = await openDuring(t, address);
  const { query } = storage.db;
  const versions = [await deployed(storage), await deployed(storage, otherPlugin)];
  await sweepAt(t, storage, start);
  for (const after of [0, 2, 3, 4]) {
    await store(
      storage,
      versions.map((version) => recordOf(version, failed(), start + after * day)),
    );
  }
  // The server's own work would only lock the table at times.
  await sql`alter table runs_rest set (autovacuum_enabled = off)`.execute(query);
  // So much that it is not read under a lock.
  await sql`insert into runs_rest
    select decode(lpad(to_hex(${start}::bigint + i), 12, '0') || '70008000000000000000', 'hex'), 0, 0, 1, null, 1, 1, 1,
      repeat('x', 900)
    from generate_series(1, 10000) as i`.execute(query);
  const lock = sql`select from pg_locks join pg_database on pg_database.oid = database
    where locktype = 'advisory' and datname = current_database()`;
  const killAfter = async (now: number, text: string) => {
    const fixture = join(import.meta.dirname, 'run-days.fixture.ts');
    const args = ['--disable-warning=ExperimentalWarning', fixture, databaseUrl(address), String(now), text];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    cleanUpFirst(t, () => child.kill('SIGKILL'));
    const exited = once(child, 'exit');
    assert.deepEqual(await Promise.race([once(child.stdout, 'data').then(String), exited]), 'there\n');
    child.kill('SIGKILL');
    await exited;
    await until('the server has noticed', async () => (await lock.execute(query)).rows.length === 0);
  };
  const noon = start + (2 + 14 + 1) * day;
  await killAfter(noon, 'drop table');
  assert.equal((await recordedRuns(storage, plugin)).length, 3);
  // Deleted after the day was detached, so that the deletion does not subtract what is in it.
  await removePlugin(storage, otherPlugin);
  await killAfter(noon, 'validate constraint');
  assert.equal(await counted(storage), await summedUp(query));
  assert.equal((await tablesOfRuns(query)).includes('runs_20260503_20260504'), false);
  const late = recordOf(versions[0]!, failed(), noon + 3 * day);
  await assert.rejects(store(storage, [late]), /runs_rest_guard/);
  await eventually(
    async () => {
      await sweepAt(t, storage, noon);
      return tablesOfRuns(query);
    },
    (tables) => tables.includes('runs_20260520_20260521'),
  );
  await store(storage, [late]);
  assert.equal((await recordedRuns(storage, plugin))[0]?.id, late.id);
});

postgresTest('statements lose their names where the server does not know them', async (t) => {
  const storage = await freshStorage(t, 'postgres', { postgresLimits: { connections: 1 } });
  const version = await deployed(storage);
  const list = async () => (await listRuns(storage.db, plugin, {}, { limit: 10 })).runs.length;
  await store(storage, [recordOf(version)]);
  assert.equal(await list(), 1);
  const { query } = storage.db;
  const names = async () =>
    (await sql`select from pg_prepared_statements where not from_sql`.execute(query)).rows.length;
  assert.ok((await names()) > 0);
  // As a pooler does that gives a transaction another connection.
  await sql`deallocate all`.execute(query);
  await store(storage, [recordOf(version)]);
  assert.equal(await list(), 2);
  assert.equal(await names(), 0);
});
