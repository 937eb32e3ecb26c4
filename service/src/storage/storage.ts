import { setTimeout as sleep } from 'node:timers/promises';
import type { LogConfig } from 'kysely';
import type { ChangeFeedOptions } from './changes/change-feed.ts';
import { DatabaseStorage } from './database-storage.ts';
import type { DatabaseAddress } from './database-url.ts';
import type { ConnectionUsage } from '../operations/metrics.ts';
import type { Engine } from './engine.ts';
import { migrate } from './migrations/migrate.ts';
import { openPostgres, unusableDatabase } from './postgres/engine.ts';
import { isStartingUp } from './postgres/errors.ts';
import type { PostgresLimits } from './postgres/limits.ts';
import { describeDatabaseError } from './errors.ts';
import { StartError } from '../start-error.ts';
import { mebibyte } from '../units.ts';
import type { RunLookup } from './run-lookup.ts';
import type { SqliteLimits } from './sqlite/dialect.ts';
import { openSqlite, unusableFile } from './sqlite/engine.ts';
import type { TenantKey } from '../plugins/plugin-key.ts';
import type { Tables, TransactionTables } from './tables.ts';

/** All state of the service, in one database, which several processes may have open at once. */
export interface Storage {
  readonly engine: 'sqlite' | 'postgres';
  /** Each call is a transaction. */
  readonly tables: Tables;
  /** Cached look-ups of what runs depend on. */
  readonly runs: RunLookup;
  /**
   * Runs `work` in a transaction: all of it is committed, or, when it throws, nothing. It must use the tables that it is given,
   * and wait for nothing but the database, because other transactions wait for it. Lock what it decides upon before reading it:
   * where a lock is taken, all is rolled back, and `work` is called again later.
   * @param tenant whose writes of this process wait for this transaction, without a connection; see {@link inTurn}
   */
  transaction<T>(work: (tables: TransactionTables) => Promise<T>, tenant?: TenantKey): Promise<T>;
  /**
   * Does `work` once the earlier writes of this process for the same tenant are done. In the database they would wait for each
   * other, too, and hold a connection each.
   */
  inTurn<T>(tenant: TenantKey, work: () => Promise<T>): Promise<T>;
  /** Whether the schema is the one that this release needs. Until then nothing but {@link check} works. */
  readonly isSchemaReady: boolean;
  /** Whether the database responds now, and its schema is the one that this release needs. Never rejects. */
  check(): Promise<StorageState>;
  /** Gives some of the space of deleted rows back to the system. Resolves with whether there may be more. */
  reclaimSpace(): Promise<boolean>;
  /** The usage of the pool of connections; `undefined` where the database needs no pool. */
  connections(): ConnectionUsage | undefined;
  /** Why the database is unavailable, for the operator; `undefined` while it is available. */
  readonly unavailability: string | undefined;
  /** Reads the changes of other nodes now; this also happens several times a second by itself. Never rejects. */
  readChanges(): Promise<void>;
  /** Waits for unfinished transactions, and closes the database. */
  close(): Promise<void>;
}

export interface StorageState {
  /** Whether the database responds. */
  readonly database: boolean;
  /** Whether the schema is the one that this release needs; false when the database does not respond. */
  readonly schema: boolean;
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
  /** Override those of `postgres/limits.ts`. */
  readonly postgresLimits?: Partial<PostgresLimits>;
  /** Override the defaults of `sqlite/dialect.ts`. */
  readonly sqliteLimits?: SqliteLimits;
  /** Called for every statement, with its time; for tests. */
  readonly log?: LogConfig;
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
    return await DatabaseStorage.open(engine, options);
  } catch (error) {
    await engine.close();
    throw unusable(engine, error);
  }
}

/** Migrates the schema, converts a file whose space cannot be given back yet, and closes the database. Throws a `StartError` when that cannot be done. */
export async function migrateDatabase(address: DatabaseAddress): Promise<void> {
  const engine = await openEngine(address);
  try {
    await migrate(engine);
    await engine.makeReclaimable?.();
  } catch (error) {
    throw unusable(engine, error);
  } finally {
    await engine.close();
  }
}

const unusable = ({ file, shown }: Engine, error: unknown) =>
  file === undefined ? unusableDatabase(shown, error) : unusableFile(file, error);

/** Connects to the database without migrating it. The caller closes the engine. */
export const openEngine = (
  address: DatabaseAddress,
  { log, postgresLimits, sqliteLimits }: Pick<StorageOptions, 'log' | 'postgresLimits' | 'sqliteLimits'> = {},
): Promise<Engine> =>
  address.engine === 'sqlite'
    ? openSqlite(address.file, log, sqliteLimits)
    : openPostgres(address, log, postgresLimits);
