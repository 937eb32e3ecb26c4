import { setTimeout as sleep } from 'node:timers/promises';
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import {
  InsertQueryNode,
  RawNode,
  SelectQueryNode,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  TableNode,
  UpdateQueryNode,
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
} from 'kysely';
import { LRUCache } from 'lru-cache';
import { isBusy, translateErrors } from './errors.ts';
import { Turns } from '../turns.ts';

/** How long a write may wait, in ms. */
export interface SqliteLimits {
  /** For other processes, before it fails with "database is locked" (default 10,000). */
  readonly lockTimeout?: number;
  /** For earlier writes of this process (default 5000). */
  readonly turnTimeout?: number;
}

/** The two connections that a process has to its file. */
export interface SqliteConnections {
  /** Has no busy timeout: {@link retryWhileBusy} waits for the locks of other processes without blocking the event loop. */
  readonly writer: DatabaseSync;
  /** For reads outside of transactions, which must not see uncommitted changes of this process. */
  readonly reader: DatabaseSync;
  /** Throws when the file was moved or replaced, so that writes would be lost. */
  readonly checkFile: () => void;
  /** Throws when the disk is nearly full. */
  readonly checkSpace: () => void;
}

/** How long writes may go on when the file is closed, in ms. */
const closeTimeout = 3000;

/** How many writes may wait for their turn at once. */
const maxWaiting = 1000;

/**
 * A Kysely dialect for `node:sqlite`. Writes take turns on one connection. A transaction takes the write lock at its beginning, so
 * that rows which it has read cannot change before it writes, although other processes use the same file.
 */
export class NodeSqliteDialect implements Dialect {
  readonly #connections: SqliteConnections;
  readonly #limits: SqliteLimits;

  constructor(connections: SqliteConnections, limits: SqliteLimits = {}) {
    this.#connections = connections;
    this.#limits = limits;
  }

  createDriver = (): Driver => new NodeSqliteDriver(this.#connections, this.#limits);
  createQueryCompiler = () => new SqliteQueryCompiler();
  createAdapter = () => new NodeSqliteAdapter();
  createIntrospector: Dialect['createIntrospector'] = (db) => new SqliteIntrospector(db);
}

class NodeSqliteAdapter extends SqliteAdapter {
  // Without this, Kysely would use one connection at a time. The driver below makes only writes wait for each other.
  override get supportsMultipleConnections(): boolean {
    return true;
  }

  // DDL is transactional in SQLite. Kysely says otherwise, because foreign keys cannot be switched inside a transaction.
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

/** What all connections of Kysely share. */
interface SharedFile {
  readonly writer: Statements;
  readonly reader: Statements;
  readonly checkFile: () => void;
  readonly checkSpace: () => void;
  readonly lockTimeout: number;
  /** The turns to write. */
  readonly turns: Turns;
}

class NodeSqliteDriver implements Driver {
  readonly #shared: SharedFile;

  constructor(
    { writer, reader, checkFile, checkSpace }: SqliteConnections,
    { lockTimeout = 10_000, turnTimeout = 5000 }: SqliteLimits,
  ) {
    this.#shared = {
      writer: new Statements(writer),
      reader: new Statements(reader),
      checkFile,
      checkSpace,
      lockTimeout,
      turns: new Turns({ slots: 1, waiting: maxWaiting, timeout: turnTimeout }),
    };
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<SqliteConnection> {
    return new SqliteConnection(this.#shared);
  }

  async releaseConnection(): Promise<void> {}

  beginTransaction = (connection: DatabaseConnection) => (connection as SqliteConnection).begin();
  commitTransaction = (connection: DatabaseConnection) => (connection as SqliteConnection).commit();
  rollbackTransaction = (connection: DatabaseConnection) => (connection as SqliteConnection).rollback();

  /** Waits for the current transaction. One that takes too long is rolled back. */
  async destroy(): Promise<void> {
    const release = await this.#shared.turns.acquire(closeTimeout).catch(() => () => {});
    // The last connection to close empties the write-ahead log into the file, which the reader could not.
    this.#shared.reader.close();
    this.#shared.writer.close();
    release();
  }
}

class SqliteConnection implements DatabaseConnection {
  readonly #shared: SharedFile;
  /** Set during a transaction. */
  #release: (() => void) | undefined;

  constructor(shared: SharedFile) {
    this.#shared = shared;
  }

  executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const { writer, reader, checkFile, checkSpace, turns, lockTimeout } = this.#shared;
    return translateErrors(async () => {
      if (addsData(query)) checkSpace();
      if (this.#release) return writer.execute<R>(query);
      checkFile();
      if (isRead(query)) return reader.execute<R>(query);
      const release = await turns.acquire();
      try {
        return await retryWhileBusy(() => writer.execute<R>(query), lockTimeout);
      } finally {
        release();
      }
    });
  }

  async *streamQuery<R>(query: CompiledQuery): AsyncIterableIterator<QueryResult<R>> {
    yield await this.executeQuery<R>(query);
  }

  begin(): Promise<void> {
    const { writer, checkFile, turns, lockTimeout } = this.#shared;
    return translateErrors(async () => {
      const release = await turns.acquire();
      try {
        checkFile();
        await retryWhileBusy(() => writer.database.exec('BEGIN IMMEDIATE'), lockTimeout);
      } catch (error) {
        release();
        throw error;
      }
      this.#release = release;
    });
  }

  commit(): Promise<void> {
    return translateErrors(() => {
      this.#shared.checkFile();
      this.#shared.writer.database.exec('COMMIT');
      this.#end();
    });
  }

  async rollback(): Promise<void> {
    const { database } = this.#shared.writer;
    try {
      // SQLite may have rolled back by itself, for instance because the disk is full.
      if (database.isTransaction) database.exec('ROLLBACK');
    } finally {
      this.#end();
    }
  }

  #end(): void {
    this.#release?.();
    this.#release = undefined;
  }
}

/** Whether a statement is a read, which need not wait for its turn. The check of health uses a raw `select`. */
const isRead = ({ query, sql }: CompiledQuery): boolean =>
  SelectQueryNode.is(query) || (RawNode.is(query) && sql.trimStart().slice(0, 7).toLowerCase() === 'select ');

/** The tables that get rows also while something is deleted, and those that a token takes, without which nothing could be. */
const smallTables: ReadonlySet<string> = new Set([
  'audit_entries',
  'audit_sizes',
  'changes',
  'webhook_deliveries',
  'rate_counters',
  'editor_tokens',
  'environment_tokens',
  'environments',
  'verification_codes',
]);

/** Whether a statement makes the database larger, so that it is refused while the disk is nearly full. */
function addsData({ query }: CompiledQuery): boolean {
  if (InsertQueryNode.is(query)) return !smallTables.has(query.into?.table.identifier.name ?? '');
  if (!UpdateQueryNode.is(query) || !query.table || !TableNode.is(query.table)) return false;
  return ['drafts', 'namespaces'].includes(query.table.table.identifier.name);
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
 * Retries while another process holds the write lock. SQLite's own busy timeout would block the event loop, and with it a
 * transaction of this process that holds the lock.
 */
export async function retryWhileBusy<T>(attempt: () => T, lockTimeout = 10_000): Promise<T> {
  const deadline = performance.now() + lockTimeout;
  for (;;) {
    try {
      return attempt();
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw error;
    }
    // A random time, so that two waiting processes do not collide again and again.
    await sleep(1 + Math.random() * 10);
  }
}
