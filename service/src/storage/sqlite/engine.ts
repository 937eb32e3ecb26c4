import { closeSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { Kysely, sql } from 'kysely';
import type { LogConfig, RawBuilder, Transaction } from 'kysely';
import type { ColumnTypes, DatabaseListener, Engine } from '../engine.ts';
import { StartError } from '../../start-error.ts';
import { describeDatabaseError } from '../errors.ts';
import type { Schema } from '../schema.ts';
import { NodeSqliteDialect, retryWhileBusy } from './dialect.ts';
import type { SqliteConnections, SqliteLimits } from './dialect.ts';
import { DiskSpace } from './disk-space.ts';
import { FileIdentity } from './file-identity.ts';
import { loadSqlite } from './load-sqlite.ts';

/** The two connections to a file. */
type SqliteDatabases = Pick<SqliteConnections, 'writer' | 'reader'>;

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
  openWith(connect, file, log, limits);

/** Opens an existing SQLite file read-only. Throws as {@link openSqlite}. */
export const openSqliteReadOnly = (file: string): Promise<Engine> => openWith(connectReadOnly, file);

async function openWith(
  connectTo: typeof connect,
  file: string,
  log?: LogConfig,
  limits: SqliteLimits = {},
): Promise<Engine> {
  let databases;
  try {
    databases = await connectTo(file);
  } catch (error) {
    throw unusableFile(file, error);
  }
  return new SqliteEngine(file, databases, log, limits);
}

class SqliteEngine implements Engine {
  readonly name = 'sqlite';
  readonly shown: string;
  readonly file: string;
  readonly db: Kysely<Schema>;
  readonly changesDb: Kysely<Schema>;
  readonly columns = columns;
  // No other transaction can write meanwhile, so that rows need not be locked.
  readonly forUpdate = sql``;
  readonly skipLocked = sql``;
  readonly named = sql``;
  readonly readsTextsLater = false;
  readonly agedRuns = 'runs';
  readonly #identity: FileIdentity;
  readonly #writer: DatabaseSync;
  readonly #reader: DatabaseSync;
  readonly #space: DiskSpace;
  readonly #dataVersion: StatementSync;
  #onAvailability: DatabaseListener['onAvailability'] = () => {};
  #isAway = false;

  constructor(
    file: string,
    { writer, reader }: SqliteDatabases,
    log: LogConfig | undefined,
    limits: SqliteLimits,
  ) {
    this.file = file;
    this.shown = file;
    this.#identity = new FileIdentity(file);
    this.#writer = writer;
    this.#reader = reader;
    this.#space = new DiskSpace(file);
    this.#dataVersion = reader.prepare('PRAGMA data_version');
    const checkFile = () => this.#identity.check();
    const checkSpace = () => this.#space.require();
    this.db = new Kysely<Schema>({
      dialect: new NodeSqliteDialect({ writer, reader, checkFile, checkSpace }, limits),
      ...(log && { log }),
    });
    this.changesDb = this.db;
  }

  async hasTable(db: Kysely<Schema>, name: string): Promise<boolean> {
    const { rows } = await sql`select 1 from sqlite_master where type = 'table' and name = ${name}`.execute(
      db,
    );
    return rows.length > 0;
  }

  // The write lock, which a transaction takes at its beginning, keeps other processes from migrating.
  migrationTransaction(work: (db: Transaction<Schema>) => Promise<void>): Promise<void> {
    return this.db.transaction().execute(work);
  }

  async forbidUpdates(db: Kysely<Schema>, table: keyof Schema, message: string): Promise<void> {
    await sql`create trigger ${sql.id(`${table}_stay_as_they_are`)} before update on ${sql.table(table)}
      begin select raise(abort, ${sql.lit(message)}); end`.execute(db);
  }

  async reclaimSpace(): Promise<boolean> {
    if (readPragma(this.#reader, 'freelist_count') <= keptPages) return false;
    // In a transaction of Kysely, which takes the turn to write.
    await this.db
      .transaction()
      .execute(async () => this.#writer.exec(`PRAGMA incremental_vacuum(${reclaimedPages})`));
    return true;
  }

  async makeReclaimable(maxSize = Infinity): Promise<void> {
    if (readPragma(this.#writer, 'auto_vacuum') !== 0) return;
    const size = readPragma(this.#writer, 'page_count') * readPragma(this.#writer, 'page_size');
    // The new pages are written to the log first, and then to the file.
    if (size > maxSize || !this.#space.has(2 * size)) return;
    try {
      this.#writer.exec('PRAGMA auto_vacuum = INCREMENTAL; VACUUM');
    } catch {
      // Another process uses the file. The next start tries again.
    }
  }

  // The transaction already holds the only write lock.
  async lock(): Promise<void> {}
  async tryLock(): Promise<boolean> {
    return true;
  }

  forKeyShare(): RawBuilder<unknown> {
    return sql``;
  }

  jsonRows(json: string, names: Readonly<Record<string, 'text' | 'integer'>>): RawBuilder<unknown> {
    const values = Object.keys(names).map((name) => sql`value ->> ${sql.lit(name)} as ${sql.id(name)}`);
    return sql`(select ${sql.join(values)} from json_each(${json}))`;
  }

  fromHex(column: string): RawBuilder<Uint8Array> {
    return sql`unhex(${sql.ref(column)})`;
  }

  // Polling reads the data version, which takes microseconds: announcements would save nothing.
  async announceChanges(): Promise<void> {}

  async watch({ onAvailability }: DatabaseListener): Promise<void> {
    this.#onAvailability = onAvailability;
  }

  dataVersion(): number {
    this.#checkAvailability();
    return Number(this.#dataVersion.get()?.['data_version']);
  }

  close(): Promise<void> {
    return this.db.destroy();
  }

  /** Throws while the file is missing, and notifies the listener when that changes. */
  #checkAvailability(): void {
    try {
      this.#identity.check();
    } catch (error) {
      if (!this.#isAway) this.#onAvailability((error as Error).cause);
      this.#isAway = true;
      throw error;
    }
    if (this.#isAway) this.#onAvailability(undefined);
    this.#isAway = false;
  }
}

/** The error for a file that cannot be used, which says what to do about it. */
export function unusableFile(file: string, error: unknown): StartError {
  return new StartError(
    `The data file ${file} cannot be used: ${describeDatabaseError(error)}. Choose another folder with DATA_DIR or another file with DATABASE_URL. To begin with no data, move this file away.`,
    { cause: error },
  );
}

async function connectReadOnly(file: string): Promise<SqliteDatabases> {
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

/** How many free pages a file keeps for new rows, and how many are given back at once: few, because others wait meanwhile. */
const [keptPages, reclaimedPages] = [1024, 256];

const readPragma = (database: DatabaseSync, name: string): number =>
  Number(Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0]);

async function connect(file: string): Promise<SqliteDatabases> {
  const { DatabaseSync } = loadSqlite();
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  // Created here, because SQLite would use the umask of the process. The WAL files get the mode of this file.
  closeSync(openSync(file, 'a', 0o600));
  const writer = new DatabaseSync(file, { timeout: 0, enableForeignKeyConstraints: true });
  try {
    // Other files are converted by `makeReclaimable`.
    if (statSync(file).size === 0)
      await retryWhileBusy(() => writer.exec('PRAGMA auto_vacuum = INCREMENTAL'));
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
