import type { Kysely, RawBuilder, Transaction } from 'kysely';
import type { ConnectionUsage } from '../operations/metrics.ts';
import type { Schema } from './schema.ts';

/** How an engine calls the types of columns. */
export interface ColumnTypes {
  /** Text that is compared and sorted by its bytes. */
  readonly key: RawBuilder<unknown>;
  readonly text: RawBuilder<unknown>;
  readonly bytes: RawBuilder<unknown>;
  /** Whole numbers up to 2^53: times in milliseconds and counts. */
  readonly integer: RawBuilder<unknown>;
  /** A primary key that the database numbers itself. */
  readonly id: RawBuilder<unknown>;
  /** What follows the columns of a new table. */
  readonly tableOptions: RawBuilder<unknown>;
}

export interface DatabaseListener {
  /** Another node may have committed changes. It may be missed, and it may be called too often. */
  readonly onChange: () => void;
  /** The database went away, for this reason; or it came back, for `undefined`. */
  readonly onAvailability: (cause: unknown) => void;
}

/** What differs between the databases. All other code is the same for both. */
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
  /** Runs `work` in one transaction that no other process migrates beside: all of it happens, or none. */
  migrationTransaction(work: (db: Transaction<Schema>) => Promise<void>): Promise<void>;
  /**
   * Gives the tables that were made before there were migrations other names. The first migration calls `copyFormerRows` once its
   * own tables are there, which moves all rows into them. `undefined` when there are none.
   */
  renameFormerTables(db: Transaction<Schema>): Promise<{ copyFormerRows: () => void } | undefined>;
  /** Has the database refuse every UPDATE of a table with this message. */
  forbidUpdates(db: Kysely<Schema>, table: keyof Schema, message: string): Promise<void>;

  /**
   * Keeps every other transaction that asks for the same lock waiting until this one has ended, in whichever process. To
   * be taken before what it guards is read.
   */
  lock(db: Transaction<Schema>, name: string): Promise<void>;
  /** The same for several locks, whose order does not matter. */
  lockAll(db: Transaction<Schema>, names: readonly string[]): Promise<void>;
  /** The same as {@link lock} without waiting: says whether this transaction has the lock now. */
  tryLock(db: Transaction<Schema>, name: string): Promise<boolean>;
  /**
   * The end of a statement that writes what hangs on the rows of a table: until its transaction ends nobody takes those rows
   * away, nor locks them to do so.
   */
  keepRowsOf(table: keyof Schema): RawBuilder<unknown>;
  /** The end of a subselect that waits until nobody keeps its rows; see {@link keepRowsOf}. */
  readonly lockRows: RawBuilder<unknown>;
  /** The end of a subselect whose rows are about to be deleted: leaves out those that another transaction holds. */
  readonly skipLocked: RawBuilder<unknown>;

  /**
   * The rows of a JSON array of objects, as a table with these columns: many rows by one parameter, and by a statement that
   * is always the same.
   */
  jsonRows(json: string, columns: Readonly<Record<string, 'text' | 'integer'>>): RawBuilder<unknown>;
  /** The bytes of a column with hexadecimal text. */
  fromHex(column: string): RawBuilder<Uint8Array>;

  /** Tells other nodes of a commit with changes; they learn of it by polling in any case. */
  announceChanges(db: Transaction<Schema>): Promise<void>;
  /** Begins to watch the database, until the engine is closed. Rejects when it cannot be had. */
  watch(listener: DatabaseListener): Promise<void>;
  /** Where changes are asked for, which has to be quick also while everything else waits. Not for transactions. */
  readonly changesDb: Kysely<Schema>;
  /**
   * A number that is another one after every commit by another connection; the cheap way to know that there is nothing to
   * read. `undefined` where the database has no such number. Throws when the database is away.
   */
  dataVersion(): number | undefined;

  /** Of the pool of connections; not there where the database needs none. */
  readonly connections?: () => ConnectionUsage;
  readonly close: () => Promise<void>;
}
