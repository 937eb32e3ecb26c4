import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Transaction } from 'kysely';
import { isLockTimeout } from '../postgres/errors.ts';
import type { Schema } from '../schema.ts';
import { createPostgresRunTriggers } from './0005-tenant-storage.ts';
import type { Migration } from './migrations.ts';

/**
 * Partitions the records of runs by their ids, and so by day, on PostgreSQL. The table that was there becomes the default partition,
 * `runs_rest`, because attaching that one reads no rows. It also takes what no other partition is for, so that writing a record
 * never fails. Nodes of the release before use `runs` as ever.
 */
export const runDays: Migration = {
  name: '0013-run-days',
  oldestProgram: 1,
  async up(db, engine) {
    if (engine.name !== 'postgres') return;
    await lockRuns(db);
    await sql`alter table runs rename to runs_rest`.execute(db);
    await sql`alter index runs_pkey rename to runs_rest_pkey`.execute(db);
    await sql`create table runs (like runs_rest including defaults, primary key (id))
      partition by range (id)`.execute(db);
    for (const [name, columns] of indexes) {
      await sql`alter index ${sql.id(name)} rename to ${sql.id(name.replace('runs', 'runs_rest'))}`.execute(
        db,
      );
      await sql`create index ${sql.id(name)} on runs ${sql.raw(columns)}`.execute(db);
    }
    // What deletes old records names `runs_rest`, which keeps its own.
    await createPostgresRunTriggers(db);
    await copyPrivileges(db);
    await sql`alter table runs attach partition runs_rest default`.execute(db);
  },
};

const indexes = [
  ['runs_by_plugin', '(plugin_id, success, id)'],
  ['runs_by_version', '(plugin_id, patch, success, id)'],
  ['runs_with_details', '(plugin_id, id) where details is not null'],
] as const;

/** How long an attempt to lock the table waits, in ms, because what comes after it waits, too; and how often it is tried. */
const [lockTimeout, attempts] = [300, 100];

/** Locks the table for itself, without anything that waits for long behind a transaction that has it. */
export async function lockRuns(db: Transaction<Schema>, ...others: readonly string[]): Promise<void> {
  const tables = sql.join(['runs', ...others].map((name) => sql.table(name)));
  await sql`set local lock_timeout = ${sql.lit(lockTimeout)}`.execute(db);
  for (let left = attempts; ; left -= 1) {
    await sql`savepoint before_lock`.execute(db);
    try {
      await sql`lock table ${tables} in access exclusive mode`.execute(db);
      break;
    } catch (error) {
      if (left === 0 || !isLockTimeout(error)) throw error;
      await sql`rollback to savepoint before_lock`.execute(db);
    }
    await sleep(lockTimeout);
  }
  await sql`set local lock_timeout to default`.execute(db);
}

/** The service may have another role than the one that migrates. */
const copyPrivileges = (db: Transaction<Schema>) =>
  sql`do $$ declare one record; begin
    for one in select grantee, privilege_type, is_grantable
      from pg_class, aclexplode(relacl) where pg_class.oid = 'runs_rest'::regclass
    loop
      execute format('grant %s on runs to %s%s', one.privilege_type,
        case when one.grantee = 0 then 'public' else quote_ident(pg_get_userbyid(one.grantee)) end,
        case when one.is_grantable then ' with grant option' else '' end);
    end loop;
  end $$`.execute(db);
