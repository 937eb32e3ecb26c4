import type { Kysely, Transaction } from 'kysely';
import { Migrator } from 'kysely/migration';
import type { Engine } from '../engine.ts';
import type { Schema } from '../schema.ts';
import { migrations as allMigrations } from './migrations.ts';
import type { Migration } from './migrations.ts';

const migrationTable = 'schema_migrations';

/**
 * Brings the database's schema up to date, all or nothing; of several programs that start at once, one does it and the
 * others find it done. A database that a newer program has migrated further stays as it is. Throws when the database says
 * that this program is too old for it.
 */
export async function migrate(engine: Engine, migrations = allMigrations): Promise<void> {
  // Without a lock, which most starts then never need.
  if (await isUpToDate(engine, engine.db, migrations)) return;
  await engine.migrationTransaction(async (db) => {
    if (await isUpToDate(engine, db, migrations)) return;
    await migrateWithin(db, engine, migrations);
  });
}

/**
 * Whether the database has every migration that this program knows. Throws when it needs a newer program.
 */
export async function isUpToDate(
  engine: Engine,
  db: Kysely<Schema>,
  migrations: readonly Migration[] = allMigrations,
): Promise<boolean> {
  if (!(await engine.hasTable(db, migrationTable))) return false;
  const { oldest_program: oldestProgram } = await db
    .selectFrom('schema_requirements')
    .select('oldest_program')
    .executeTakeFirstOrThrow();
  if (migrations.length < oldestProgram) {
    throw new Error(
      `it needs a program of schema ${oldestProgram} or later, and this one is of schema ${migrations.length}; use a newer release`,
    );
  }
  const done = await (db as unknown as Kysely<{ [migrationTable]: { name: string } }>)
    .selectFrom(migrationTable)
    .select('name')
    .execute();
  const names = new Set(done.map(({ name }) => name));
  return migrations.every(({ name }) => names.has(name));
}

async function migrateWithin(
  db: Transaction<Schema>,
  engine: Engine,
  migrations: readonly Migration[],
): Promise<void> {
  const migrator = new Migrator({
    db,
    migrationTableName: migrationTable,
    migrationLockTableName: `${migrationTable}_lock`,
    provider: {
      getMigrations: async () =>
        Object.fromEntries(
          migrations.map(({ name, up }) => [
            name,
            // The migrator hands on the very transaction that it was given.
            { up: () => up(db, engine) },
          ]),
        ),
    },
  });
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined) throw error;
  await db
    .updateTable('schema_requirements')
    .set({ oldest_program: Math.max(...migrations.map(({ oldestProgram }) => oldestProgram)) })
    .execute();
}
