import { AsyncLocalStorage } from 'node:async_hooks';
import { sql } from 'kysely';
import { ChangeFeed } from './changes/change-feed.ts';
import { recordChanges } from './changes/change-log.ts';
import type { Change } from './changes/change-log.ts';
import type { ConnectionUsage } from '../operations/metrics.ts';
import { describeDatabaseError } from './describe-error.ts';
import type { Engine } from './engine.ts';
import { isUpToDate } from './migrations/migrate.ts';
import { RunLookup } from './run-lookup.ts';
import type { Storage, StorageOptions, StorageState } from './storage.ts';
import { createTables, createTransactionTables } from './tables.ts';
import type { Tables, TransactionTables } from './tables.ts';
import { ProgramCache } from './tables/programs.ts';

/** The storage in the database of an engine; closing it closes the engine. */
export class DatabaseStorage implements Storage {
  readonly tables: Tables;
  readonly runs: RunLookup;
  readonly #engine: Engine;
  readonly #options: StorageOptions;
  readonly #programs = new ProgramCache();
  readonly #feed: ChangeFeed;
  readonly #inTransaction = new AsyncLocalStorage<true>();
  #isSchemaReady = false;
  #unavailability: string | undefined;
  #stopWaiting: () => void = () => {};

  /** Opens the storage. It waits for the schema in the background where that is older than this release needs. */
  static async open(engine: Engine, options: StorageOptions): Promise<DatabaseStorage> {
    const storage = new DatabaseStorage(engine, options);
    if (await isUpToDate(engine, engine.db)) await storage.#start();
    else storage.#stopWaiting = waitForSchema(engine, () => storage.#start());
    return storage;
  }

  private constructor(engine: Engine, options: StorageOptions) {
    this.#engine = engine;
    this.#options = options;
    this.tables = createTables(engine.db, engine, this.#programs);
    const offlineFor = (options.offlineRunSeconds ?? 30) * 1000;
    let hungAt = -Infinity;
    this.runs = new RunLookup(this.tables, {
      isCurrent: () => this.#feed.isCurrent,
      holdsOffline: () => this.#feed.age <= offlineFor,
      isHanging: () => performance.now() - hungAt < this.#feed.age,
      onHang: () => (hungAt = performance.now()),
    });
    this.#feed = new ChangeFeed(engine, (changes) => this.runs.handleChanges(changes), options);
  }

  get engine(): Engine['name'] {
    return this.#engine.name;
  }

  get isSchemaReady(): boolean {
    return this.#isSchemaReady;
  }

  get unavailability(): string | undefined {
    return this.#unavailability;
  }

  async transaction<T>(work: (tables: TransactionTables) => Promise<T>): Promise<T> {
    // On SQLite the inner transaction would wait for the outer one, which waits for it, until it times out.
    if (this.#inTransaction.getStore())
      throw new Error('A transaction is under way already: use its tables.');
    const changes: Change[] = [];
    const result = await this.#engine.db.transaction().execute(async (transaction) => {
      const record = (change: Change) => changes.push(change);
      const tables = createTransactionTables(transaction, this.#engine, this.#programs, record);
      const value = await this.#inTransaction.run(true, () => work(tables));
      if (changes.length) await recordChanges(transaction, this.#engine, changes, Date.now());
      return value;
    });
    // Handled on this node before the caller learns that the transaction was committed.
    if (changes.length) this.runs.handleChanges(changes);
    return result;
  }

  async check(): Promise<StorageState> {
    const { db } = this.#engine;
    try {
      await sql`select 1`.execute(db);
    } catch {
      return { database: false, schema: false };
    }
    try {
      return { database: true, schema: this.#isSchemaReady && (await isUpToDate(this.#engine, db)) };
    } catch {
      return { database: true, schema: false };
    }
  }

  connections(): ConnectionUsage | undefined {
    return this.#engine.connections?.();
  }

  readChanges(): Promise<void> {
    return this.#feed.poll();
  }

  async close(): Promise<void> {
    this.#stopWaiting();
    await this.#feed.close();
    await this.#engine.close();
  }

  /** Starts to read changes, before the first request is accepted, because the caches rely on them. */
  async #start(): Promise<void> {
    await this.#feed.start((cause) => {
      this.#unavailability = cause === undefined ? undefined : describeDatabaseError(cause);
      this.#options.onAvailability?.(this.#unavailability);
    });
    this.#isSchemaReady = true;
  }
}

/** How often to check whether another process has migrated the schema, in ms. */
const schemaInterval = 500;

/**
 * Calls `onReady` once another process has migrated the schema, and again at intervals for as long as it rejects.
 * @returns the function that ends the waiting
 */
function waitForSchema(engine: Engine, onReady: () => Promise<void>): () => void {
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;
  const check = async () => {
    try {
      if ((await isUpToDate(engine, engine.db)) && !isStopped) return await onReady();
    } catch {
      // The database is unavailable, or its schema has become too new; `check` of the storage reports both.
    }
    schedule();
  };
  const schedule = () => {
    if (!isStopped) timer = setTimeout(() => void check(), schemaInterval).unref();
  };
  schedule();
  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}
