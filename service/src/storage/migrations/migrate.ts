import type { Kysely, Transaction } from 'kysely';
import { Migrator } from 'kysely/migration';
import type { Engine } from '../engine.ts';
import { NewerDatabaseError } from '../errors.ts';
import type { Schema } from '../schema.ts';
import { migrations as allMigrations } from './migrations.ts';
import type { Migration } from './migrations.ts';

const migrationTable = 'schema_migrations';

/**
 * Migrates the database's schema, all or nothing. Of several programs that start at once, one migrates and the others wait. A
 * database that a newer release has migrated further stays as it is. Throws when this release is too old for the database.
 */
export async function migrate(engine: Engine, migrations = allMigrations): Promise<void> {
  // Checked without a lock first, so that most starts take none.
  if (await isUpToDate(engine, engine.db, migrations)) return;
  await engine.migrationTransaction(async (db) => {
    if (await isUpToDate(engine, db, migrations)) return;
    await migrateWithin(db, engine, migrations);
  });
}

/** Whether the database has every migration of this release. Throws when it needs a newer release. */
export async function isUpToDate(
  engine: Engine,
  db: Kysely<Schema>,
  migrations: readonly Migration[] = allMigrations,
): Promise<boolean> {
  if (!(await hasSchema(engine, db))) return false;
  const oldestProgram = await readOldestProgram(db);
  if (migrations.length < oldestProgram) {
    throw new NewerDatabaseError(
      `it needs a program of schema ${oldestProgram} or later, and this one is of schema ${migrations.length}; use a newer release`,
    );
  }
  const done = await db
    // Kysely's migrator makes this table, which is therefore not in the schema.
    .withTables<{ [migrationTable]: { name: string } }>()
    .selectFrom(migrationTable)
    .select('name')
    .execute();
  const names = new Set(done.map(({ name }) => name));
  return migrations.every(({ name }) => names.has(name));
}

/** Whether any release has migrated the database. */
export const hasSchema = (engine: Engine, db: Kysely<Schema>): Promise<boolean> =>
  engine.hasTable(db, migrationTable);

async function migrateWithin(
  db: Transaction<Schema>,
  engine: Engine,
  migrations: readonly Migration[],
): Promise<void> {
  const isNew = !(await hasSchema(engine, db));
  const migrator = new Migrator({
    db,
    migrationTableName: migrationTable,
    migrationLockTableName: `${migrationTable}_lock`,
    provider: {
      getMigrations: async () =>
        Object.fromEntries(
          migrations.map(({ name, up }) => [
            name,
            // With the transaction from above, in which the migrator itself works, too.
            { up: () => up(db, engine) },
          ]),
        ),
    },
  });
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined) throw error;
  const oldest = migrations.map(({ oldestProgram, isRequiredOfNew }, i) =>
    isNew && isRequiredOfNew ? i + 1 : oldestProgram,
  );
  await requireProgram(db, Math.max(...oldest));
}

/** Refuses the database to programs that are older than this one, and than it was refused to before. */
export async function requireProgram(
  db: Kysely<Schema>,
  oldestProgram = allMigrations.length,
): Promise<void> {
  await db
    .updateTable('schema_requirements')
    .set({ oldest_program: oldestProgram })
    .where('oldest_program', '<', oldestProgram)
    .execute();
}

/** The oldest program that can use the database, as the number of migrations that it knows. */
export async function readOldestProgram(db: Kysely<Schema>): Promise<number> {
  const row = await db.selectFrom('schema_requirements').select('oldest_program').executeTakeFirstOrThrow();
  return row.oldest_program;
}
