import { accessSync, constants } from 'node:fs';
import { dirname } from 'node:path';
import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import { describeClockDifference } from './clocks.ts';
import type { DatabaseAddress } from './database-url.ts';
import { hasSchema, isUpToDate } from './migrations/migrate.ts';
import { openPostgres } from './postgres/engine.ts';
import { describeDatabaseError } from './errors.ts';
import type { Schema } from './schema.ts';
import { countSealedTexts } from './tables/sealed-texts.ts';
import { DiskSpace } from './sqlite/disk-space.ts';
import { openSqliteReadOnly } from './sqlite/engine.ts';

/** The result of an inspection. `problem`: why the database cannot be used. */
export type Inspection =
  | { readonly problem: string }
  | {
      readonly description: string;
      /** Whether acknowledged writes are on the disk. */
      readonly isDurable: boolean;
      /** That the clocks of this machine and of the database differ; `undefined` where they do not. */
      readonly clockProblem: string | undefined;
      readonly schema: 'current' | 'old' | 'none' | { readonly problem: string };
      /** Why this user could not migrate the schema; `undefined` where they could. */
      readonly migrationProblem: string | undefined;
      /** How many encrypted texts there are of each key, by its id; `undefined` where the schema is not the current one. */
      readonly sealedTexts?: ReadonlyMap<string, number>;
    };

/** The parts of an inspection without the schema. */
type Description = Pick<
  Exclude<Inspection, { problem: string }>,
  'description' | 'isDurable' | 'migrationProblem'
>;

/** Inspects an existing database without changing it. */
export async function inspectDatabase(address: DatabaseAddress): Promise<Inspection> {
  let engine;
  try {
    engine =
      address.engine === 'sqlite' ? await openSqliteReadOnly(address.file) : await openPostgres(address);
  } catch (error) {
    return { problem: describeDatabaseError(error) };
  }
  try {
    const described =
      engine.file === undefined
        ? await describePostgres(engine.db, engine.shown)
        : describeSqlite(engine.file);
    if (typeof described === 'string') return { problem: described };
    const clockProblem = await describeClockDifference(engine);
    try {
      const { db } = engine;
      const schema = (await isUpToDate(engine, db))
        ? 'current'
        : (await hasSchema(engine, db))
          ? 'old'
          : 'none';
      return {
        ...described,
        clockProblem,
        schema,
        ...(schema === 'current' && { sealedTexts: await countSealedTexts(db) }),
      };
    } catch (error) {
      return { ...described, clockProblem, schema: { problem: describeDatabaseError(error) } };
    }
  } catch (error) {
    return { problem: describeDatabaseError(error) };
  } finally {
    await engine.close();
  }
}

/** Describes an SQLite file, or returns the reason why it cannot be used. */
function describeSqlite(file: string): Description | string {
  // The folder must be writable, too, because the write-ahead log is beside the file.
  for (const path of [file, dirname(file)]) {
    try {
      accessSync(path, constants.W_OK);
    } catch {
      return `SQLite at ${file} takes no writes, because ${path} cannot be written to`;
    }
  }
  try {
    new DiskSpace(file).require();
  } catch (error) {
    return `SQLite at ${file} takes nothing new, because ${describeDatabaseError(error)}`;
  }
  const description = `SQLite at ${file}; the service makes every write synchronous`;
  return { description, isDurable: true, migrationProblem: undefined };
}

/** Describes a PostgreSQL database, or returns the reason why it cannot be used. */
async function describePostgres(db: Kysely<Schema>, shown: string): Promise<Description | string> {
  const { rows } = await sql<{
    version: string;
    fsync: string;
    commit: string;
    isReadOnly: boolean;
    role: string;
    canCreate: boolean | null;
  }>`select
    current_setting('server_version') as version,
    current_setting('fsync') as fsync,
    current_setting('synchronous_commit') as commit,
    current_setting('transaction_read_only') = 'on' as "isReadOnly",
    current_user::text as role,
    has_schema_privilege(current_schema(), 'create') as "canCreate"`.execute(db);
  const [found] = rows;
  if (!found) return `The database ${shown} returned no settings`;
  const { version, fsync, commit, isReadOnly, role, canCreate } = found;
  const name = `PostgreSQL ${version} at ${shown}`;
  if (isReadOnly) return `${name} takes no writes, as a standby does; name the primary in DATABASE_URL`;
  const denied = await findDeniedTables(db);
  if (denied.length) return `${name}: the role ${role} may not read and write ${denied.join(', ')}`;
  // All values but "off" write to the disk first; they only differ in what standbys have done by then.
  const isDurable = fsync === 'on' && commit !== 'off';
  const advice = isDurable ? '' : '; both must be on, or acknowledged writes can be lost';
  return {
    description: `${name}; fsync is ${fsync}, synchronous_commit is ${commit}${advice}`,
    isDurable,
    migrationProblem: canCreate
      ? undefined
      : `the role ${role} may not create tables: grant it CREATE on the schema, or run plugin-editor-service migrate as one that may`,
  };
}

/** The tables of the service that this role lacks privileges for. */
async function findDeniedTables(db: Kysely<Schema>): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select relname::text as name from pg_class
    where relkind in ('r', 'p') and (not relispartition or relname = 'runs_rest')
      and relnamespace = current_schema()::regnamespace
      -- Others may have tables in the same schema.
      and relowner = (select relowner from pg_class where oid = to_regclass('schema_migrations'))
      and not (has_table_privilege(oid, 'select') and has_table_privilege(oid, 'insert')
        and has_table_privilege(oid, 'update') and has_table_privilege(oid, 'delete'))
    order by relname`.execute(db);
  return rows.map(({ name }) => name);
}
