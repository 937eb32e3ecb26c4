import { sql } from 'kysely';
import type { Transaction } from 'kysely';
import type { Engine } from '../engine.ts';
import type { Schema } from '../schema.ts';
import type { Migration } from './migrations.ts';

/**
 * Counts what tenants store, in UTF-8. Triggers keep the counters in the transaction of each write, so that writes of the release
 * before, which knows no quotas and may run beside this one, are counted, too.
 *
 * The rows of a plugin count until it is deleted, not until they are erased. Each trigger locks the tenant's counter before it
 * looks whether the plugin is deleted, and the deletion locks it before it sums up: so whichever comes second sees the first.
 */
export const tenantStorage: Migration = {
  name: '0005-tenant-storage',
  oldestProgram: 1,
  async up(db, engine) {
    const { integer, tableOptions } = engine.columns;
    // The eraser is the only one that writes to all of these tables, in another order than the locks are taken here.
    await engine.lock(db, 'erasing');
    if (engine.name === 'postgres')
      await sql`lock table plugins, runs, versions, builds, drafts in share row exclusive mode`.execute(db);
    for (const table of ['tenant_storage', 'tenant_records'] as const) {
      const created = db.schema
        .createTable(table)
        .modifyEnd(tableOptions)
        .addColumn('tenant_id', integer, (column) => column.primaryKey())
        .addColumn('bytes', integer, (column) => column.notNull().defaultTo(0));
      await (
        table === 'tenant_storage'
          ? created.addColumn('is_exempt', integer, (column) => column.notNull().defaultTo(0))
          : created
      ).execute();
    }
    await db.schema
      .createIndex('tenant_storage_exempt')
      .on('tenant_storage')
      .column('tenant_id')
      .where(sql.ref('is_exempt'), '=', 1)
      .execute();
    // For finding the oldest details of a tenant.
    await db.schema
      .createIndex('runs_with_details')
      .on('runs')
      .columns(['plugin_id', 'id'])
      .where(sql.ref('details'), 'is not', null)
      .execute();
    await countExisting(db);
    await createCounting(db, engine, originalSizes);
    if (engine.name === 'postgres') await createPostgresTriggers(db);
  },
};

/** How many bytes of UTF-8 a program and the details of a run take, of the row with this name and a period, or of the only one. */
export interface CountedSizes {
  readonly program: string;
  readonly details: (row?: 'new.' | 'old.' | '') => string;
}

const originalSizes: CountedSizes = {
  program: 'octet_length(program)',
  details: (row = '') => `octet_length(${row}details)`,
};

/** Creates what the triggers do: on SQLite the triggers, and on PostgreSQL the functions that they call. */
const createCounting = (db: Transaction<Schema>, engine: Engine, sizes: CountedSizes) =>
  engine.name === 'postgres' ? createPostgresFunctions(db, sizes) : createSqliteTriggers(db, sizes);

/** Does the same with other sizes, where it was done before. */
export async function replaceCounting(
  db: Transaction<Schema>,
  engine: Engine,
  sizes: CountedSizes,
): Promise<void> {
  if (engine.name === 'sqlite') {
    const ofStorage = storageChanges.map(([table, event]) => `${table}_${event}_counts`);
    const ofRuns = ['insert', 'update', 'delete'].map((event) => `runs_${event}_counts`);
    for (const name of [...ofStorage, ...ofRuns, 'plugins_deletion_counts'])
      await run(db, `drop trigger ${name}`);
  }
  await createCounting(db, engine, sizes);
}

/** Counts what is there. Both databases know the length of a text without reading it. */
async function countExisting(db: Transaction<Schema>): Promise<void> {
  await sql`insert into tenant_storage (tenant_id, bytes, is_exempt)
    select tenant_id, sum(size), 1 from (
      select plugin_id, octet_length(record) as size from drafts
      union all select plugin_id, octet_length(record) from versions
      union all select plugin_id, octet_length(program) from versions join programs on hash = program_hash
      union all select plugin_id, octet_length(program) from builds join programs on hash = program_hash
    ) as sizes join plugins on plugins.id = plugin_id where deleted_at is null group by tenant_id`.execute(
    db,
  );
  await sql`insert into tenant_records (tenant_id, bytes)
    select tenant_id, sum(octet_length(details))
    from runs join plugins on plugins.id = plugin_id
    where details is not null and deleted_at is null group by tenant_id`.execute(db);
}

type ProgramSize = (row: 'new' | 'old') => string;

/** The writes that change what a tenant stores, and by how much. */
const storageChanges = [
  ['drafts', 'insert', 'new', () => 'octet_length(new.record)'],
  ['drafts', 'update', 'new', () => 'octet_length(new.record) - octet_length(old.record)'],
  ['drafts', 'delete', 'old', () => '- octet_length(old.record)'],
  ['builds', 'insert', 'new', (size: ProgramSize) => size('new')],
  ['builds', 'update', 'new', (size: ProgramSize) => `${size('new')} - ${size('old')}`],
  ['builds', 'delete', 'old', (size: ProgramSize) => `- ${size('old')}`],
  ['versions', 'insert', 'new', (size: ProgramSize) => `octet_length(new.record) + ${size('new')}`],
  ['versions', 'delete', 'old', (size: ProgramSize) => `- octet_length(old.record) - ${size('old')}`],
] as const;

const programSize =
  ({ program }: CountedSizes): ProgramSize =>
  (row) =>
    `(select ${program} from programs where hash = ${row}.program_hash)`;

/** What a plugin stores, and what the records of its runs do. */
const storageOfPlugin = ({ program }: CountedSizes) => `(
  select coalesce(sum(size), 0) from (
    select octet_length(record) as size from drafts where plugin_id = new.id
    union all select ${program} from builds join programs on hash = program_hash where plugin_id = new.id
    union all select octet_length(record) + ${program} from versions join programs on hash = program_hash
      where plugin_id = new.id
  ) as sizes)`;
const recordsOfPlugin = ({ details }: CountedSizes) => `(
  select coalesce(sum(${details()}), 0) from runs where plugin_id = new.id and details is not null)`;

const run = (db: Transaction<Schema>, statement: string) => sql.raw(statement).execute(db);

async function createSqliteTriggers(db: Transaction<Schema>, sizes: CountedSizes): Promise<void> {
  const addTo = (table: string, row: 'new' | 'old', change: string) => `
    insert into ${table} (tenant_id, bytes)
      select tenant_id, ${change} from plugins where id = ${row}.plugin_id and deleted_at is null
      on conflict (tenant_id) do update set bytes = bytes + excluded.bytes;`;
  for (const [table, event, row, change] of storageChanges) {
    await run(
      db,
      `create trigger ${table}_${event}_counts after ${event} on ${table} begin ${addTo('tenant_storage', row, change(programSize(sizes)))} end`,
    );
  }
  for (const [event, row, condition, change] of [
    ['insert', 'new', 'new.details is not null', sizes.details('new.')],
    [
      'update of details',
      'new',
      'true',
      `coalesce(${sizes.details('new.')}, 0) - coalesce(${sizes.details('old.')}, 0)`,
    ],
    ['delete', 'old', 'old.details is not null', `- ${sizes.details('old.')}`],
  ] as const) {
    await run(
      db,
      `create trigger runs_${event.slice(0, 6)}_counts after ${event} on runs when ${condition}
        begin ${addTo('tenant_records', row, change)} end`,
    );
  }
  await run(
    db,
    `create trigger plugins_deletion_counts after update of deleted_at on plugins
      when old.deleted_at is null and new.deleted_at is not null begin
        update tenant_storage set bytes = bytes - ${storageOfPlugin(sizes)} where tenant_id = new.tenant_id;
        update tenant_records set bytes = bytes - ${recordsOfPlugin(sizes)} where tenant_id = new.tenant_id;
      end`,
  );
}

/** Replaces functions that are there: then the triggers call the new ones. */
async function createPostgresFunctions(db: Transaction<Schema>, sizes: CountedSizes): Promise<void> {
  const define = (name: string, body: string, declarations = '') =>
    run(db, `create or replace function ${name} language plpgsql as $$ ${declarations} begin ${body} end $$`);
  await define(
    'count_storage(of_plugin bigint, change bigint) returns void',
    `if change = 0 then return; end if;
    select tenant_id into of_tenant from plugins where id = of_plugin;
    perform from tenant_storage where tenant_id = of_tenant for update;
    if not found then
      insert into tenant_storage (tenant_id) values (of_tenant) on conflict do nothing;
      perform from tenant_storage where tenant_id = of_tenant for update;
    end if;
    update tenant_storage set bytes = bytes + change where tenant_id = of_tenant
      and exists (select from plugins where id = of_plugin and deleted_at is null);`,
    'declare of_tenant bigint;',
  );
  for (const [table, event, row, change] of storageChanges) {
    const name = `${table}_${event}_counts`;
    await define(
      `${name}() returns trigger`,
      `perform count_storage(${row}.plugin_id, ${change(programSize(sizes))}); return null;`,
    );
  }
  // Once for each statement, because records are written hundreds at a time.
  const added = `select plugin_id, ${sizes.details()} as size from added where details is not null`;
  const removed = `select plugin_id, - ${sizes.details()} as size from removed where details is not null`;
  for (const [event, changed] of [
    ['insert', added],
    ['update', `${added} union all ${removed}`],
    ['delete', removed],
  ] as const) {
    const name = `runs_${event}_counts`;
    await define(
      `${name}() returns trigger`,
      `select array_agg(distinct plugin_id) into of_plugins from (${changed}) as changed;
      if of_plugins is null then return null; end if;
      insert into tenant_records (tenant_id)
        select distinct tenant_id from plugins where id = any (of_plugins) order by tenant_id on conflict do nothing;
      perform from tenant_records where tenant_id in (
        select tenant_id from plugins where id = any (of_plugins)
      ) order by tenant_id for update;
      update tenant_records set bytes = bytes + summed.size from (
        select tenant_id, sum(size) as size from (${changed}) as changed
          join plugins on plugins.id = plugin_id
          where plugins.id = any (of_plugins) and deleted_at is null group by tenant_id
      ) as summed where summed.tenant_id = tenant_records.tenant_id;
      return null;`,
      // An array: the planner overestimates a transition table, and would read all plugins.
      'declare of_plugins bigint[];',
    );
  }
  await define(
    'plugins_deletion_counts() returns trigger',
    `perform from tenant_storage where tenant_id = new.tenant_id for update;
    perform from tenant_records where tenant_id = new.tenant_id for update;
    update tenant_storage set bytes = bytes - ${storageOfPlugin(sizes)} where tenant_id = new.tenant_id;
    update tenant_records set bytes = bytes - ${recordsOfPlugin(sizes)} where tenant_id = new.tenant_id;
    return null;`,
  );
}

/** Creates the triggers of the table `runs`: those of statements, which are of the table that a statement names. */
export async function createPostgresRunTriggers(db: Transaction<Schema>): Promise<void> {
  for (const [event, tables] of [
    ['insert', 'new table as added'],
    ['update', 'new table as added old table as removed'],
    ['delete', 'old table as removed'],
  ] as const) {
    const name = `runs_${event}_counts`;
    await run(
      db,
      `create trigger ${name} after ${event} on runs referencing ${tables}
        for each statement execute function ${name}()`,
    );
  }
}

async function createPostgresTriggers(db: Transaction<Schema>): Promise<void> {
  for (const [table, event] of storageChanges) {
    const name = `${table}_${event}_counts`;
    await run(
      db,
      `create trigger ${name} after ${event} on ${table} for each row execute function ${name}()`,
    );
  }
  await createPostgresRunTriggers(db);
  await run(
    db,
    `create trigger plugins_deletion_counts after update of deleted_at on plugins for each row
      when (old.deleted_at is null and new.deleted_at is not null) execute function plugins_deletion_counts()`,
  );
}
