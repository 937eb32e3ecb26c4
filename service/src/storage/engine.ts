import type { Kysely, RawBuilder, Transaction } from 'kysely';
import type { ConnectionUsage } from '../operations/metrics.ts';
import type { Schema } from './schema.ts';

/** The SQL types of columns in an engine. */
export interface ColumnTypes {
  /** Text that is compared and sorted by its bytes. */
  readonly key: RawBuilder<unknown>;
  readonly text: RawBuilder<unknown>;
  readonly bytes: RawBuilder<unknown>;
  /** Whole numbers up to 2^53: times in milliseconds and counts. */
  readonly integer: RawBuilder<unknown>;
  /** A primary key that the database numbers itself. */
  readonly id: RawBuilder<unknown>;
  /** The options after the columns of a new table. */
  readonly tableOptions: RawBuilder<unknown>;
}

export interface DatabaseListener {
  /** Another node may have committed changes. Calls may be missed, and there may be too many. */
  readonly onChange: () => void;
  /** The database became unavailable, with the cause; or, with `undefined`, available again. */
  readonly onAvailability: (cause: unknown) => void;
}

/** The differences between the databases. All other code is the same for both. */
export interface Engine {
  readonly name: 'sqlite' | 'postgres';
  /** The database as messages name it, without a password. */
  readonly shown: string;
  /** The SQLite file's absolute path. */
  readonly file?: string;
  readonly db: Kysely<Schema>;

  readonly columns: ColumnTypes;
  /** Whether a table is there. */
  hasTable(db: Kysely<Schema>, name: string): Promise<boolean>;
  /** Runs `work` in one transaction, while no other process migrates the database. */
  migrationTransaction(work: (db: Transaction<Schema>) => Promise<void>): Promise<void>;
  /** Makes the database refuse every UPDATE of a table, with this message. */
  forbidUpdates(db: Kysely<Schema>, table: keyof Schema, message: string): Promise<void>;

  /**
   * Takes a lock until the transaction ends. Transactions of any process that ask for the same lock wait for it. Take it before
   * reading the rows that it guards.
   */
  lock(db: Transaction<Schema>, name: string): Promise<void>;
  /** As {@link lock} for several locks, without waiting. Resolves with whether the transaction has all of them. */
  tryLock(db: Transaction<Schema>, ...names: readonly string[]): Promise<boolean>;
  /**
   * The end of a select whose rows are to be written. It locks the rows of `table` in it, which the written rows refer to: until
   * the transaction ends, no other one can delete them, or lock them by {@link forUpdate}.
   */
  forKeyShare(table: keyof Schema): RawBuilder<unknown>;
  /** The end of a select that locks its rows. It waits for transactions that have locked them by {@link forKeyShare}. */
  readonly forUpdate: RawBuilder<unknown>;
  /** The end of a subselect whose rows are about to be deleted: it leaves out rows that another transaction has locked. */
  readonly skipLocked: RawBuilder<unknown>;

  /**
   * The end of a statement that is frequent, and whose text is always the same or one of a few: the database parses and plans it once
   * for each connection.
   */
  readonly named: RawBuilder<unknown>;
  /**
   * The rows of a JSON array of objects, as a table with these columns. So many rows can be passed as one parameter, and the
   * statement is the same for any number of them.
   */
  jsonRows(json: string, columns: Readonly<Record<string, 'text' | 'integer'>>): RawBuilder<unknown>;
  /** The bytes of a column with hexadecimal text. */
  fromHex(column: string): RawBuilder<Uint8Array>;

  /** Notifies other nodes of a commit with changes. It only saves time: they also find the changes by polling. */
  announceChanges(db: Transaction<Schema>): Promise<void>;
  /** Begins to watch the database, until the engine is closed. Rejects when it is unavailable. */
  watch(listener: DatabaseListener): Promise<void>;
  /** The connection for reading changes, which has to be quick even while all others are in use. Not for transactions. */
  readonly changesDb: Kysely<Schema>;
  /**
   * A number that changes with every commit of another connection, as a cheap way to know that there is nothing to read.
   * `undefined` where the database has no such number. Throws when the database is unavailable.
   */
  dataVersion(): number | undefined;

  /** Whether the database reads long texts of a row apart from the rest of it, when they are used. */
  readonly readsTextsLater: boolean;
  /** The table with the records of runs that are deleted row by row once they are old. */
  readonly agedRuns: 'runs' | 'runs_rest';
  /**
   * Drops the days of records of runs that are older than `keptDays`, and makes room for those to come. Missing where old records are
   * deleted row by row. `now` is in ms since the epoch. Resolves at once where another node does it, and with false where
   * records have to be deleted from `runs` row by row: the role does not own the table, or records were kept for longer before.
   * `signal` ends it.
   */
  keepRunDays?(now: number, keptDays: number, signal: AbortSignal): Promise<boolean>;

  /**
   * Gives some of the space of deleted rows back to the system, so little that others hardly wait. Resolves with whether there may
   * be more. Missing where the database does it by itself.
   */
  reclaimSpace?(): Promise<boolean>;
  /**
   * Converts a file whose space cannot be given back yet, because an earlier release made it: one of up to `maxSize` bytes (default:
   * any), where nothing else uses it and the disk has room. It takes some seconds for each gigabyte.
   */
  makeReclaimable?(maxSize?: number): Promise<void>;

  /** The time by the database's clock, in ms since the epoch; missing where that is this machine's. */
  now?(): Promise<number>;
  /** The usage of the pool of connections; missing where the database needs no pool. */
  connections?(): ConnectionUsage;
  close(): Promise<void>;
}
