import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { LogConfig } from 'kysely';
import type { ConnectionUsage } from '../operations/metrics.ts';
import type { TenantKey } from '../plugins/plugin-key.ts';
import { StartError } from '../start-error.ts';
import { mebibyte } from '../units.ts';
import { ChangeFeed } from './changes/change-feed.ts';
import type { ChangeFeedOptions } from './changes/change-feed.ts';
import { recordChanges } from './changes/change-log.ts';
import type { Change } from './changes/change-log.ts';
import { describeClockDifference } from './clocks.ts';
import type { DatabaseAddress } from './database-url.ts';
import { LockedError } from './db.ts';
import type { Db, Transaction } from './db.ts';
import type { Engine } from './engine.ts';
import { NewerDatabaseError, StorageUnavailableError, describeDatabaseError } from './errors.ts';
import { isUpToDate, migrate, readOldestProgram, requireProgram } from './migrations/migrate.ts';
import { firstReaderOfPackedTexts } from './migrations/migrations.ts';
import { openPostgres, unusableDatabase } from './postgres/engine.ts';
import { isStartingUp } from './postgres/errors.ts';
import { postgresLimits } from './postgres/limits.ts';
import type { PostgresLimits } from './postgres/limits.ts';
import { repeatWhile } from './repeat.ts';
import { RunLookup } from './run-lookup.ts';
import type { SqliteLimits } from './sqlite/dialect.ts';
import { openSqlite, unusableFile } from './sqlite/engine.ts';
import { tenantCacheKey } from './tables/names.ts';
import { ProgramCache } from './tables/programs.ts';
import { KeyedTurns } from './turns.ts';

export interface StorageState {
  /** Whether the database responds. */
  readonly database: boolean;
  /** Whether the schema is the one that this release needs; false when the database does not respond. */
  readonly schema: boolean;
}

/** The other processes of a node. */
export interface Siblings {
  /** Tells them of changes that are committed, and resolves once each of them knows. Never rejects. */
  tell(changes: readonly Change[]): Promise<void>;
  /** Calls back with the changes of which they tell. */
  onChanges(listener: (changes: readonly Change[]) => void): void;
}

export interface StorageOptions extends ChangeFeedOptions {
  /**
   * Whether to migrate the schema (default true). Otherwise a storage with an older schema waits until another process has
   * migrated it.
   */
  readonly autoMigrate?: boolean;
  /** How long cached plugins can still be run after the database became unavailable, in seconds (default 30). */
  readonly offlineRunSeconds?: number;
  /** How long to wait at start for a database that cannot be reached yet, in ms (default 0). */
  readonly startTimeout?: number;
  /** Called once, with the reason, when the start has to wait for the database. */
  readonly onWait?: (reason: string) => void;
  /** Called with the reason when the database becomes unavailable, and with `undefined` when it is available again. */
  readonly onAvailability?: (reason: string | undefined) => void;
  /** The other processes of the node, which know of a change before the caller learns that it was committed. */
  readonly siblings?: Siblings | undefined;
  /** Override those of `postgres/limits.ts`. */
  readonly postgresLimits?: Partial<PostgresLimits>;
  /** Override the defaults of `sqlite/dialect.ts`. */
  readonly sqliteLimits?: SqliteLimits;
  /** Called for every statement, with its time; for tests. */
  readonly log?: LogConfig;
}

/** All state of the service, in one database, which several processes may have open at once. Closing it closes the engine. */
export class Storage {
  readonly db: Db & { packsTexts: boolean };
  /** Cached look-ups of what runs depend on. */
  readonly runs: RunLookup;
  readonly #engine: Engine;
  readonly #options: StorageOptions;
  readonly #feed: ChangeFeed;
  readonly #inTransaction = new AsyncLocalStorage<true>();
  /** How long a transaction waits for locks, in ms. */
  readonly #lockTimeout: number;
  readonly #turns: KeyedTurns;
  #isSchemaReady = false;
  #unavailability: string | undefined;
  #stopWaiting: () => void = () => {};

  /** Opens the storage. It waits for the schema in the background where that is older than this release needs. */
  static async open(engine: Engine, options: StorageOptions): Promise<Storage> {
    const storage = new Storage(engine, options);
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
    this.db = { query: engine.db, engine, programs: new ProgramCache(), packsTexts: false };
    const offlineFor = (options.offlineRunSeconds ?? 30) * 1000;
    let timedOutAt = -Infinity;
    this.runs = new RunLookup(this.db, {
      isCurrent: () => this.#feed.isCurrent,
      allowStale: () => this.#feed.age <= offlineFor,
      isTimedOut: () => performance.now() - timedOutAt < this.#feed.age,
      onTimeout: () => (timedOutAt = performance.now()),
    });
    this.#feed = new ChangeFeed(engine, (changes) => this.runs.handleChanges(changes), options);
    options.siblings?.onChanges((changes) => this.runs.handleChanges(changes));
  }

  get engine(): Engine['name'] {
    return this.#engine.name;
  }

  /** Whether the schema is the one that this release needs. Until then nothing but {@link check} works. */
  get isSchemaReady(): boolean {
    return this.#isSchemaReady;
  }

  /** Why the database is unavailable, for the operator; `undefined` while it is available. */
  get unavailability(): string | undefined {
    return this.#unavailability;
  }

  /**
   * Runs `work` in a transaction: all of it is committed, or, when it throws, nothing. It must use the transaction that it is given,
   * and wait for nothing but the database, because other transactions wait for it. Lock what it decides upon before reading it:
   * where a lock is taken, all is rolled back, and `work` is called again later.
   * @param tenant whose writes of this process wait for this transaction, without a connection; see {@link inTurn}
   */
  async transaction<T>(work: (db: Transaction) => Promise<T>, tenant?: TenantKey): Promise<T> {
    // On SQLite the inner transaction would wait for the outer one, which waits for it, until it times out.
    if (this.#inTransaction.getStore()) throw new Error('This is in a transaction: use that one.');
    return tenant ? this.inTurn(tenant, () => this.#withRetries(work)) : this.#withRetries(work);
  }

  /**
   * Does `work` once the earlier writes of this process for the same tenant are done. In the database they would wait for each
   * other, too, and hold a connection each.
   */
  inTurn<T>(tenant: TenantKey, work: () => Promise<T>): Promise<T> {
    return this.#turns.run(tenantCacheKey(tenant), work);
  }

  /** Does a transaction, and where a lock that it needs is taken, again and again in the turn of that lock. */
  async #withRetries<T>(work: (db: Transaction) => Promise<T>): Promise<T> {
    try {
      return await this.#transact(work);
    } catch (error) {
      if (!(error instanceof LockedError)) throw error;
      return this.#turns.run(`lock ${error.message}`, () => this.#untilUnlocked(work));
    }
  }

  async #untilUnlocked<T>(work: (db: Transaction) => Promise<T>): Promise<T> {
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

  /** Does a transaction, and again where another one, such as that of a node of an older release, deadlocks with it. */
  #transact<T>(work: (db: Transaction) => Promise<T>): Promise<T> {
    const isConflict = (error: unknown) => error instanceof StorageUnavailableError && error.isConflict;
    return repeatWhile(isConflict, () => this.#transactOnce(work));
  }

  async #transactOnce<T>(work: (db: Transaction) => Promise<T>): Promise<T> {
    const changes: Change[] = [];
    const result = await this.#engine.db.transaction().execute(async (query) => {
      const value = await this.#inTransaction.run(true, () => work({ ...this.db, query, changes }));
      if (changes.length) await recordChanges(query, this.#engine, changes, Date.now());
      return value;
    });
    // Handled on this node before the caller learns that the transaction was committed.
    if (changes.length) {
      this.runs.handleChanges(changes);
      await this.#options.siblings?.tell(changes);
    }
    return result;
  }

  /** Whether the database responds now, and its schema is the one that this release needs. Never rejects. */
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

  /** Gives some of the space of deleted rows back to the system. Resolves with whether there may be more. */
  async reclaimSpace(): Promise<boolean> {
    return (await this.#engine.reclaimSpace?.()) ?? false;
  }

  /** The usage of the pool of connections; `undefined` where the database needs no pool. */
  connections(): ConnectionUsage | undefined {
    return this.#engine.connections?.();
  }

  /** Says that the clocks of this machine and of the database differ; `undefined` if they do not, or it cannot be known. */
  describeClockDifference(): Promise<string | undefined> {
    return describeClockDifference(this.#engine).catch(() => undefined);
  }

  /** Reads the changes of other nodes now; this also happens several times a second by itself. Never rejects. */
  readChanges(): Promise<void> {
    return this.#feed.poll();
  }

  /** Waits for unfinished transactions, and closes the database. */
  async close(): Promise<void> {
    this.#stopWaiting();
    await this.#feed.close();
    await this.#engine.close();
  }

  /** Starts to read changes, before the first request is accepted, because the caches rely on them. */
  async #start(): Promise<void> {
    this.db.packsTexts = (await readOldestProgram(this.db.query)) >= firstReaderOfPackedTexts;
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

/**
 * Opens the database and, unless `autoMigrate` is false, migrates its schema. Throws a `StartError` that names the database when
 * it cannot be used.
 */
export async function openStorage(address: DatabaseAddress, options: StorageOptions = {}): Promise<Storage> {
  const deadline = performance.now() + (options.startTimeout ?? 0);
  let isWaiting = false;
  for (;;) {
    try {
      return await tryToOpen(address, options);
    } catch (error) {
      const isEarly = error instanceof StartError && isStartingUp(error.cause);
      if (!isEarly || performance.now() > deadline) throw error;
      if (!isWaiting) options.onWait?.(describeDatabaseError(error.cause));
      isWaiting = true;
    }
    await sleep(startInterval);
  }
}

/** Up to how many bytes an SQLite file is converted when the service starts. Larger ones are by `migrate`. */
const convertedAtStart = 256 * mebibyte;

/** The time between two attempts to open the database at start, in ms. */
const startInterval = 500;

async function tryToOpen(address: DatabaseAddress, options: StorageOptions): Promise<Storage> {
  const engine = await openEngine(address, options);
  try {
    if (options.autoMigrate ?? true) {
      await migrate(engine);
      await engine.makeReclaimable?.(convertedAtStart);
    }
    return await Storage.open(engine, options);
  } catch (error) {
    await engine.close();
    throw unusable(engine, error);
  }
}

/**
 * Migrates the schema, converts a file whose space cannot be given back yet, and closes the database. Throws a `StartError` when
 * that cannot be done. `isFinal`: no older program uses the database any more, or will.
 */
export async function migrateDatabase(address: DatabaseAddress, isFinal = false): Promise<void> {
  const engine = await openEngine(address);
  try {
    await migrate(engine);
    if (isFinal) await requireProgram(engine.db);
    await engine.makeReclaimable?.();
  } catch (error) {
    throw unusable(engine, error);
  } finally {
    await engine.close();
  }
}

function unusable({ file, shown }: Engine, error: unknown): StartError {
  // The usual advice, to choose another database or to move the file away, would lose sound data.
  if (error instanceof NewerDatabaseError)
    return new StartError(`The database ${shown} cannot be used: ${error.message}.`, { cause: error });
  return file === undefined ? unusableDatabase(shown, error) : unusableFile(file, error);
}

/** Connects to the database without migrating it. The caller closes the engine. */
export const openEngine = (
  address: DatabaseAddress,
  {
    log,
    postgresLimits: limits,
    sqliteLimits,
  }: Pick<StorageOptions, 'log' | 'postgresLimits' | 'sqliteLimits'> = {},
): Promise<Engine> =>
  address.engine === 'sqlite'
    ? openSqlite(address.file, log, sqliteLimits)
    : openPostgres(address, log, limits);
