import { closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { Kysely, sql } from 'kysely';
import type { LogConfig } from 'kysely';
import type { ColumnTypes, Engine } from '../engine.ts';
import { StartError } from '../../start-error.ts';
import { describeError } from '../describe-error.ts';
import type { Schema } from '../schema.ts';
import { NodeSqliteDialect, retryWhileBusy } from './dialect.ts';
import type { SqliteLimits } from './dialect.ts';
import { FileIdentity } from './file-identity.ts';
import { renameFormerTables } from './former-schema.ts';
import { loadSqlite } from './load-sqlite.ts';

const columns: ColumnTypes = {
  key: sql`text`,
  text: sql`text`,
  bytes: sql`blob`,
  integer: sql`integer`,
  id: sql`integer primary key`,
  tableOptions: sql`strict`,
};

/**
 * Opens an SQLite file. A missing file or folder is created, with access for this user only (0600, 0700). Throws a
 * {@link StartError} that names the file when it cannot be used.
 */
export const openSqlite = (file: string, log?: LogConfig, limits: SqliteLimits = {}): Promise<Engine> =>
  openEngineOf(file, connect, log, limits);

/** Opens an existing SQLite file read-only. Throws as {@link openSqlite}. */
export const openSqliteReadOnly = (file: string): Promise<Engine> => openEngineOf(file, connectReadOnly);

async function openEngineOf(
  file: string,
  connectTo: typeof connect,
  log?: LogConfig,
  limits: SqliteLimits = {},
): Promise<Engine> {
  let connections;
  try {
    connections = await connectTo(file);
  } catch (error) {
    throw unusableFile(file, error);
  }
  const { writer, reader } = connections;
  const identity = new FileIdentity(file);
  const checkFile = () => identity.check();
  const db = new Kysely<Schema>({
    dialect: new NodeSqliteDialect({ ...connections, checkFile }, limits),
    ...(log && { log }),
  });
  let onAvailability: (cause: unknown) => void = () => {};
  let isAway = false;
  /** Throws while the file is missing, and notifies the listener when that changes. */
  const watchFile = () => {
    try {
      checkFile();
    } catch (error) {
      if (!isAway) onAvailability((error as Error).cause);
      isAway = true;
      throw error;
    }
    if (isAway) onAvailability(undefined);
    isAway = false;
  };
  const dataVersion = reader.prepare('PRAGMA data_version');
  return {
    name: 'sqlite',
    shown: file,
    file,
    db,
    columns,
    async hasTable(executor, name) {
      const { rows } = await sql`select 1 from sqlite_master where type = 'table' and name = ${name}`.execute(
        executor,
      );
      return rows.length > 0;
    },
    // The write lock, which a transaction takes at its beginning, keeps other processes from migrating.
    migrationTransaction: (work) => db.transaction().execute(work),
    renameFormerTables: async () => renameFormerTables(writer),
    async forbidUpdates(executor, table, message) {
      await sql`create trigger ${sql.id(`${table}_stay_as_they_are`)} before update on ${sql.table(table)}
        begin select raise(abort, ${sql.lit(message)}); end`.execute(executor);
    },
    // The transaction already holds the only write lock.
    lock: async () => {},
    lockAll: async () => {},
    tryLock: async () => true,
    // No other transaction can write meanwhile, so that rows need not be locked.
    keepRowsOf: () => sql``,
    lockRows: sql``,
    skipLocked: sql``,
    jsonRows(json, names) {
      const values = Object.keys(names).map((name) => sql`value ->> ${sql.lit(name)} as ${sql.id(name)}`);
      return sql`(select ${sql.join(values)} from json_each(${json}))`;
    },
    fromHex: (column) => sql`unhex(${sql.ref(column)})`,
    announceChanges: async () => {},
    // Polling reads the data version, which takes microseconds: announcements would save nothing.
    async watch(listener) {
      onAvailability = listener.onAvailability;
    },
    changesDb: db,
    dataVersion() {
      watchFile();
      return Number(dataVersion.get()?.['data_version']);
    },
    close: () => db.destroy(),
  };
}

/** The error for a file that cannot be used, which says what to do about it. */
export function unusableFile(file: string, error: unknown): StartError {
  return new StartError(
    `The data file ${file} cannot be used: ${describeError(error)}. Choose another folder with DATA_DIR, or delete this one to start afresh.`,
    { cause: error },
  );
}

async function connectReadOnly(file: string): Promise<{ writer: DatabaseSync; reader: DatabaseSync }> {
  const { DatabaseSync } = loadSqlite();
  const open = () => new DatabaseSync(file, { timeout: 10_000, readOnly: true });
  const reader = open();
  try {
    // Opening a file does not read it, so that a problem would only be found later.
    reader.prepare('PRAGMA schema_version').get();
    return { writer: open(), reader };
  } catch (error) {
    reader.close();
    throw error;
  }
}

async function connect(file: string): Promise<{ writer: DatabaseSync; reader: DatabaseSync }> {
  const { DatabaseSync } = loadSqlite();
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  // Created here, because SQLite would use the umask of the process. The WAL files get the mode of this file.
  closeSync(openSync(file, 'a', 0o600));
  const writer = new DatabaseSync(file, { timeout: 0, enableForeignKeyConstraints: true });
  try {
    // Fails with "busy" when another process switches the same new file at the same time.
    await retryWhileBusy(() => writer.exec('PRAGMA journal_mode = WAL'));
    // In WAL mode, only FULL writes each commit to the disk before it is acknowledged.
    writer.exec('PRAGMA synchronous = FULL');
    return { writer, reader: new DatabaseSync(file, { timeout: 10_000, readOnly: true }) };
  } catch (error) {
    writer.close();
    throw error;
  }
}
