import { setTimeout as sleep } from 'node:timers/promises';
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import {
  SelectQueryNode,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
} from 'kysely';
import { LRUCache } from 'lru-cache';
import { Mutex } from './mutex.ts';

/** The two connections that a process has to its file. */
export interface SqliteConnections {
  /** Has no busy timeout: waiting for another process's lock happens here, without blocking the event loop. */
  readonly writer: DatabaseSync;
  /**
   * For reads outside of transactions, which must not see what a transaction of this very process has not committed yet.
   */
  readonly reader: DatabaseSync;
}

/** How long a write waits for other processes, in ms, before it fails with "database is locked". */
const lockTimeout = 10_000;

/**
 * SQLite by `node:sqlite`. Writes take turns on one connection; a transaction takes the write lock at its beginning, so
 * that what it reads cannot have changed by the time it writes, although another process uses the same file.
 */
export class NodeSqliteDialect implements Dialect {
  readonly #connections: SqliteConnections;

  constructor(connections: SqliteConnections) {
    this.#connections = connections;
  }

  createDriver = (): Driver => new NodeSqliteDriver(this.#connections);
  createQueryCompiler = () => new SqliteQueryCompiler();
  createAdapter = () => new NodeSqliteAdapter();
  createIntrospector: Dialect['createIntrospector'] = (db) => new SqliteIntrospector(db);
}

class NodeSqliteAdapter extends SqliteAdapter {
  // The driver below lets reads and writes take turns better than Kysely, which would allow one at a time.
  override get supportsMultipleConnections(): boolean {
    return true;
  }

  // It is transactional in SQLite. Kysely says otherwise because SQLite cannot switch foreign keys inside a transaction.
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

class NodeSqliteDriver implements Driver {
  readonly #writer: Statements;
  readonly #reader: Statements;
  readonly #turns = new Mutex();

  constructor({ writer, reader }: SqliteConnections) {
    this.#writer = new Statements(writer);
    this.#reader = new Statements(reader);
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<SqliteConnection> {
    return new SqliteConnection(this.#writer, this.#reader, this.#turns);
  }

  async releaseConnection(): Promise<void> {}

  beginTransaction = (connection: DatabaseConnection) => (connection as SqliteConnection).begin();
  commitTransaction = (connection: DatabaseConnection) => (connection as SqliteConnection).commit();
  rollbackTransaction = (connection: DatabaseConnection) => (connection as SqliteConnection).rollback();

  /** Lets the transaction that is under way come to its end first. */
  async destroy(): Promise<void> {
    const release = await this.#turns.acquire();
    // The last connection to close empties the write-ahead log into the file, which the reader could not.
    this.#reader.close();
    this.#writer.close();
    release();
  }
}

class SqliteConnection implements DatabaseConnection {
  readonly #writer: Statements;
  readonly #reader: Statements;
  readonly #turns: Mutex;
  /** Set while a transaction is under way. */
  #release: (() => void) | undefined;

  constructor(writer: Statements, reader: Statements, turns: Mutex) {
    this.#writer = writer;
    this.#reader = reader;
    this.#turns = turns;
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    if (this.#release) return this.#writer.execute(query);
    if (SelectQueryNode.is(query.query)) return this.#reader.execute(query);
    const release = await this.#turns.acquire();
    try {
      return await unlessBusy(() => this.#writer.execute<R>(query));
    } finally {
      release();
    }
  }

  async *streamQuery<R>(query: CompiledQuery): AsyncIterableIterator<QueryResult<R>> {
    yield await this.executeQuery<R>(query);
  }

  async begin(): Promise<void> {
    const release = await this.#turns.acquire();
    try {
      await unlessBusy(() => this.#writer.database.exec('BEGIN IMMEDIATE'));
    } catch (error) {
      release();
      throw error;
    }
    this.#release = release;
  }

  async commit(): Promise<void> {
    this.#writer.database.exec('COMMIT');
    this.#end();
  }

  async rollback(): Promise<void> {
    try {
      // A full disk, for one, has SQLite roll back by itself.
      if (this.#writer.database.isTransaction) this.#writer.database.exec('ROLLBACK');
    } finally {
      this.#end();
    }
  }

  #end(): void {
    this.#release?.();
    this.#release = undefined;
  }
}

/** A connection with its prepared statements, the most recently used. */
class Statements {
  readonly database: DatabaseSync;
  readonly #prepared = new LRUCache<string, { statement: StatementSync; hasRows: boolean }>({ max: 200 });

  constructor(database: DatabaseSync) {
    this.database = database;
  }

  execute<R>({ sql, parameters }: CompiledQuery): QueryResult<R> {
    const { statement, hasRows } = this.#prepare(sql);
    const values = parameters as readonly SQLInputValue[];
    if (hasRows) return { rows: statement.all(...values) as R[] };
    const { changes } = statement.run(...values);
    return { rows: [], numAffectedRows: BigInt(changes) };
  }

  close(): void {
    this.#prepared.clear();
    if (this.database.isOpen) this.database.close();
  }

  #prepare(sql: string) {
    const known = this.#prepared.get(sql);
    if (known) return known;
    const statement = this.database.prepare(sql);
    const prepared = { statement, hasRows: statement.columns().length > 0 };
    this.#prepared.set(sql, prepared);
    return prepared;
  }
}

/**
 * Tries until no other process holds the write lock. SQLite's own busy timeout would do the same, but it blocks the event
 * loop, and with it a transaction of another part of this process that holds the lock.
 */
export async function unlessBusy<T>(attempt: () => T): Promise<T> {
  const deadline = performance.now() + lockTimeout;
  for (;;) {
    try {
      return attempt();
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw error;
    }
    // Not the same for everyone, or two that wait would meet again and again.
    await sleep(1 + Math.random() * 10);
  }
}

// SQLITE_BUSY; the bits above tell its kinds apart.
const isBusy = (error: unknown): boolean =>
  error instanceof Error && 'errcode' in error && (Number(error.errcode) & 0xff) === 5;
