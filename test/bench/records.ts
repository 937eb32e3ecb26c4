import { sql } from 'kysely';
import { v7 as createUuid } from 'uuid';
import { openStorage } from '../../service/src/storage/storage.ts';
import type { Storage } from '../../service/src/storage/storage.ts';
import { addRuns, listRuns } from '../../service/src/storage/tables/runs.ts';
import { createDurableDatabase } from '../service/storage/durable-database.ts';
import type { Figure } from './figures.ts';
import { median } from './figures.ts';
import { timeInTurns } from './turns.ts';

const day = 86_400_000;
const mebibyte = 2 ** 20;

/** How many records there are of each plugin, and how many plugins of each tenant. */
const [recordsOfPlugin, pluginsOfTenant] = [1000, 100];
const [few, many] = [5000, 5_000_000];

/** For how many days records are kept, and how many there are in each of the oldest, which are dropped. */
const [keptDays, droppedDays, recordsOfDay] = [14, 3, 150_000];

const details = JSON.stringify({
  logs: ['an order of 17 items', 'a discount of 12 % for a customer of 3 years'],
});

/** Lists, adds and drops records on PostgreSQL, where there are few and where there are many. */
export async function measureRecords(): Promise<Figure[]> {
  await using small = await fill(few);
  await using large = await fill(many);
  const lists = await timeInTurns({ small: small.list, large: large.list }, 2000, 500);
  const inserts = await timeInTurns({ small: small.insert, large: large.insert }, 300, 100);
  const drops: { ms: number; wal: number }[] = [];
  for (let i = 1; i <= droppedDays; i++) drops.push(await large.dropDay(keptDays - i));
  const compared = (name: string, { small: a, large: b }: typeof lists, limit: number): Figure => ({
    name: `${name} at ${many} records ÷ at ${few}`,
    value: median(b) / median(a),
    limit,
    unit: '×',
    note: `${median(b).toFixed(2)} ms against ${median(a).toFixed(2)} ms`,
  });
  const note = `the slowest, and the most, of ${droppedDays}`;
  return [
    compared('list of 50 runs', lists, 1.5),
    compared('500 records added', inserts, 1.15),
    {
      name: `a day of ${recordsOfDay} records dropped`,
      value: Math.max(...drops.map(({ ms }) => ms)),
      limit: 200,
      unit: 'ms',
      note,
    },
    {
      name: `its write-ahead log`,
      value: Math.max(...drops.map(({ wal }) => wal)) / mebibyte,
      limit: 1,
      unit: 'MB',
      note,
    },
  ];
}

/** A database with `total` records of the days that are kept. */
async function fill(total: number) {
  const cleanUp = new AsyncDisposableStack();
  const database = await createDurableDatabase('postgres');
  cleanUp.defer(database.remove);
  // Filling it takes long.
  const patience = { statementTimeout: 600_000, holdTimeout: 600_000 };
  const storage = await openStorage(database.address, { postgresLimits: patience });
  cleanUp.defer(() => storage.close());
  const { db } = storage;
  const now = Date.now();
  const keep = (at: number, days: number) =>
    db.engine.keepRunDays?.(at, days, new AbortController().signal) ?? false;
  for (let ago = keptDays + 3; ago >= 0; ago--) await keep(now - ago * day, keptDays);
  const plugins = total / recordsOfPlugin;
  await addPlugins(storage, plugins);
  await addRecords(storage, now, total, plugins);
  const pluginOf = (i: number) => {
    const number = 1 + ((i * 7919) % plugins);
    return {
      environment: 'com.acme',
      tenant: tenantOf(number),
      namespace: 'default',
      pluginName: `p${number}`,
    };
  };
  return {
    list: async (i: number) => {
      const { runs: found } = await listRuns(db, pluginOf(i), {}, { limit: 50, maxBytes: mebibyte / 4 });
      if (found.length !== 50) throw new Error(`${found.length} runs were listed.`);
    },
    insert: async () => {
      const records = Array.from({ length: 500 }, (_, i) => ({
        ...pluginOf(i % 5),
        pluginId: 1 + (i % 5),
        id: createUuid(),
        version: 'v1.0.0',
        code: undefined,
        took: 1.25,
        inputBytes: 100,
        outputBytes: 100,
        details,
      }));
      const added = await storage.transaction((transaction) => addRuns(transaction, records));
      if (added.size !== records.length) throw new Error(`${added.size} records were added.`);
    },
    /** Drops the oldest day. */
    dropDay: async (days: number) => {
      const before = await readState(storage);
      const began = performance.now();
      await keep(now, days);
      const ms = performance.now() - began;
      const after = await readState(storage);
      const dropped = before.records - after.records;
      if (dropped !== recordsOfDay) throw new Error(`${dropped} records were dropped.`);
      return { ms, wal: after.wal - before.wal };
    },
    [Symbol.asyncDispose]: () => cleanUp.disposeAsync(),
  };
}

const tenantOf = (plugin: number) => `t${Math.ceil(plugin / pluginsOfTenant)}`;

async function addPlugins({ db }: Storage, count: number): Promise<void> {
  await sql`insert into environments values ('com.acme', null, 0)`.execute(db.query);
  await sql`insert into tenants (id, environment, name, created_at)
    select i, 'com.acme', 't' || i, 0
    from generate_series(1, ${Math.ceil(count / pluginsOfTenant)}::int) as i`.execute(db.query);
  await sql`insert into plugins (id, tenant_id, namespace, name, created_at, last_patch)
    select i, (i + ${pluginsOfTenant - 1}::int) / ${pluginsOfTenant}::int, 'default', 'p' || i, 0, 0
    from generate_series(1, ${count}::int) as i`.execute(db.query);
}

/** Adds records as quickly as can be: past the triggers, and what these count at the end. */
async function addRecords({ db }: Storage, now: number, total: number, plugins: number): Promise<void> {
  await sql`alter table runs disable trigger user`.execute(db.query);
  const today = Math.floor(now / day) * day;
  const isLarge = total > droppedDays * recordsOfDay;
  const others = keptDays + 1 - droppedDays;
  for (let i = 0; i <= keptDays; i++) {
    const from = today - (keptDays - i) * day;
    const length = Math.min(day, now - from);
    const count = !isLarge
      ? total / (keptDays + 1)
      : i < droppedDays
        ? recordsOfDay
        : (total - droppedDays * recordsOfDay) / others;
    await addDay(db, { from, length, count: Math.round(count), plugins });
  }
  await sql`alter table runs enable trigger user`.execute(db.query);
  await sql`insert into tenant_records (tenant_id, bytes)
    select tenant_id, sum(octet_length(details)) from runs join plugins on plugins.id = plugin_id
    group by tenant_id`.execute(db.query);
  // As the server does it by itself after a while.
  await sql`vacuum analyze`.execute(db.query);
}

const addDay = (
  { query }: Storage['db'],
  { from, length, count, plugins }: { from: number; length: number; count: number; plugins: number },
) =>
  sql`insert into runs
    select
      decode(lpad(to_hex(${from}::bigint + i * ${length}::bigint / ${count}::bigint), 12, '0')
        || '7' || substr(md5(i::text), 1, 3) || 'b' || substr(md5(i::text), 4, 15), 'hex'),
      1 + i * 7919 % ${plugins}::bigint, 0, case when i / ${plugins}::bigint % 10 = 0 then 0 else 1 end,
      case when i / ${plugins}::bigint % 10 = 0 then 'plugin-error' end, 1250, 100, 100, ${details}
    from generate_series(0, ${count - 1}::bigint) as i`.execute(query);

async function readState({ db }: Storage): Promise<{ records: number; wal: number }> {
  const { rows } = await sql<{ records: number; wal: string }>`select
    (select count(*) from runs) as records, pg_current_wal_insert_lsn() - '0/0' as wal`.execute(db.query);
  return { records: rows[0]?.records ?? NaN, wal: Number(rows[0]?.wal) };
}
