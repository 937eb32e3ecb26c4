import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { ChangeFeed } from './changes/change-feed.ts';
import { recordChanges } from './changes/change-log.ts';
import type { Change } from './changes/change-log.ts';
import type { ConnectionUsage } from '../operations/metrics.ts';
import { StorageUnavailableError, describeDatabaseError } from './errors.ts';
import type { Engine } from './engine.ts';
import { isUpToDate } from './migrations/migrate.ts';
import { postgresLimits } from './postgres/limits.ts';
import { RunLookup } from './run-lookup.ts';
import type { Storage, StorageOptions, StorageState } from './storage.ts';
import { createTables, createTransactionTables, LockedError } from './tables.ts';
import type { Tables, TransactionTables } from './tables.ts';
import { tenantCacheKey } from './tables/names.ts';
import { ProgramCache } from './tables/programs.ts';
import { KeyedTurns } from './turns.ts';
import type { TenantKey } from '../plugins/plugin-key.ts';

/** The storage in the database of an engine; closing it closes the engine. */
export class DatabaseStorage implements Storage {
  readonly tables: Tables;
  readonly runs: RunLookup;
  readonly #engine: Engine;
  readonly #options: StorageOptions;
  readonly #programs = new ProgramCache();
  readonly #feed: ChangeFeed;
  readonly #inTransaction = new AsyncLocalStorage<true>();
  /** How long a transaction waits for locks, in ms. */
  readonly #lockTimeout: number;
  readonly #turns: KeyedTurns;
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
    this.#lockTimeout =
      (engine.name === 'sqlite'
        ? options.sqliteLimits?.turnTimeout
        : options.postgresLimits?.acquireTimeout) ?? postgresLimits.acquireTimeout;
    this.#turns = new KeyedTurns(this.#lockTimeout);
    this.tables = createTables(engine.db, engine, this.#programs);
    const offlineFor = (options.offlineRunSeconds ?? 30) * 1000;
    let timedOutAt = -Infinity;
    this.runs = new RunLookup(this.tables, {
      isCurrent: () => this.#feed.isCurrent,
      allowStale: () => this.#feed.age <= offlineFor,
      isTimedOut: () => performance.now() - timedOutAt < this.#feed.age,
      onTimeout: () => (timedOutAt = performance.now()),
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

  async transaction<T>(work: (tables: TransactionTables) => Promise<T>, tenant?: TenantKey): Promise<T> {
    // On SQLite the inner transaction would wait for the outer one, which waits for it, until it times out.
    if (this.#inTransaction.getStore()) throw new Error('This is in a transaction: use its tables.');
    return tenant ? this.inTurn(tenant, () => this.#withRetries(work)) : this.#withRetries(work);
  }

  inTurn<T>(tenant: TenantKey, work: () => Promise<T>): Promise<T> {
    return this.#turns.run(tenantCacheKey(tenant), work);
  }

  /** Does a transaction, and where a lock that it needs is taken, again and again in the turn of that lock. */
  async #withRetries<T>(work: (tables: TransactionTables) => Promise<T>): Promise<T> {
    try {
      return await this.#transact(work);
    } catch (error) {
      if (!(error instanceof LockedError)) throw error;
      return this.#turns.run(`lock ${error.message}`, () => this.#untilUnlocked(work));
    }
  }

  async #untilUnlocked<T>(work: (tables: TransactionTables) => Promise<T>): Promise<T> {
    const deadline = performance.now() + this.#lockTimeout;
    for (;;) {
      try {
        return await this.#transact(work);
      } catch (error) {
        if (!(error instanceof LockedError)) throw error;
        if (performance.now() > deadline) {
          const cause = new Error(`a lock was not free within ${this.#lockTimeout} ms`);
          throw new StorageUnavailableError(cause);
        }
      }
      // A random time, so that nodes that wait for each other's locks do not collide again and again.
      await sleep(2 + Math.random() * 20);
    }
  }

  async #transact<T>(work: (tables: TransactionTables) => Promise<T>): Promise<T> {
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

  async reclaimSpace(): Promise<boolean> {
    return (await this.#engine.reclaimSpace?.()) ?? false;
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
