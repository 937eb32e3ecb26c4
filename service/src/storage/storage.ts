import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LogConfig } from 'kysely';
import { ChangeFeed } from './changes/change-feed.ts';
import type { ChangeFeedOptions } from './changes/change-feed.ts';
import { recordChanges } from './changes/change-log.ts';
import type { Change } from './changes/change-log.ts';
import type { DatabaseAddress } from './database-url.ts';
import type { ConnectionUsage } from '../operations/metrics.ts';
import type { Engine } from './engine.ts';
import { sql } from 'kysely';
import { isUpToDate, migrate } from './migrations/migrate.ts';
import { openPostgres, unusableDatabase } from './postgres/engine.ts';
import { isStartingUp } from './postgres/errors.ts';
import type { PostgresLimits } from './postgres/limits.ts';
import { reasonOf } from './reason.ts';
import { StartError } from '../start-error.ts';
import { RunLookup } from './run-lookup.ts';
import type { SqliteLimits } from './sqlite/dialect.ts';
import { openSqlite, unusableFile } from './sqlite/engine.ts';
import { createTables, createTransactionTables } from './tables.ts';
import type { Tables, TransactionTables } from './tables.ts';
import { ProgramCache } from './tables/programs.ts';

/** All that the service remembers, in one database, which several processes may have open at once. */
export interface Storage {
  readonly engine: 'sqlite' | 'postgres';
  /** Each call by itself. */
  readonly tables: Tables;
  /** What a run needs, mostly without asking the database. */
  readonly runs: RunLookup;
  /**
   * Runs `work` as one change: all of it happens, or, when it throws, none. It must use the tables that it is given and
   * wait for nothing but the database, as others wait for it. What is decided upon is to be locked before it is read.
   */
  transaction<T>(work: (tables: TransactionTables) => Promise<T>): Promise<T>;
  /** Whether the schema is the one that this program needs. Until then nothing but {@link check} works. */
  readonly isSchemaReady: boolean;
  /** Whether the database answers at this moment, and its schema is the one that this program needs. Never rejects. */
  check(): Promise<StorageState>;
  /** Of the pool of connections; not there where the database needs none. */
  readonly connections?: (() => ConnectionUsage) | undefined;
  /** Why the database is away, in words for the operator; `undefined` while it is there. */
  readonly unavailability: string | undefined;
  /** Learns now of what other nodes have changed, which by itself happens several times a second. Never rejects. */
  readChanges(): Promise<void>;
  /** Lets transactions that are under way end, and lets go of the database. */
  close(): Promise<void>;
}

export interface StorageState {
  readonly database: boolean;
  readonly schema: boolean;
}

export interface StorageOptions extends ChangeFeedOptions {
  /**
   * Whether to bring the schema up to date (default true). Else a storage with an older schema waits until another program
   * has done it.
   */
  readonly autoMigrate?: boolean;
  /** How long after the database went away runs of what is known go on, in seconds (default 30). */
  readonly offlineRunSeconds?: number;
  /** How long a database that cannot be reached yet is waited for at start, in ms (default 0). */
  readonly startTimeout?: number;
  /** Told, in words and once, why the database that is waited for at start cannot be reached. */
  readonly onWait?: (reason: string) => void;
  /** Told, in words, why the database went away; and with `undefined` that it came back. */
  readonly onAvailability?: (reason: string | undefined) => void;
  /** In place of those of `postgres/limits.ts`. */
  readonly postgresLimits?: Partial<PostgresLimits>;
  /** In place of those of `sqlite/dialect.ts`. */
  readonly sqliteLimits?: SqliteLimits;
  /** Told of every statement and how long it took; for tests and metrics. */
  readonly log?: LogConfig;
}

/**
 * Opens the database and, unless told otherwise, brings its schema up to date. Throws a `StartError` that names the database
 * when it cannot be used.
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
      if (!isWaiting) options.onWait?.(reasonOf(error.cause));
      isWaiting = true;
    }
    await sleep(startInterval);
  }
}

/** How long after one try to open the database the next is, in ms. */
const startInterval = 500;

async function tryToOpen(address: DatabaseAddress, options: StorageOptions): Promise<Storage> {
  const engine = await openEngine(address, options);
  try {
    if (options.autoMigrate ?? true) await migrate(engine);
    return await createStorage(engine, options, await isUpToDate(engine, engine.db));
  } catch (error) {
    await engine.close();
    throw unusable(engine, error);
  }
}

/** Brings the schema up to date and lets go of the database. Throws a `StartError` when that cannot be done. */
export async function migrateDatabase(address: DatabaseAddress): Promise<void> {
  const engine = await openEngine(address);
  try {
    await migrate(engine);
  } catch (error) {
    throw unusable(engine, error);
  } finally {
    await engine.close();
  }
}

const unusable = ({ file, shown }: Engine, error: unknown) =>
  file === undefined ? unusableDatabase(shown, error) : unusableFile(file, error);

/** How often it is looked whether another program has brought the schema up to date, in ms. */
const schemaInterval = 500;

/** Connects to the database as it is. The caller closes the engine. */
export const openEngine = (
  address: DatabaseAddress,
  { log, postgresLimits, sqliteLimits }: Pick<StorageOptions, 'log' | 'postgresLimits' | 'sqliteLimits'> = {},
): Promise<Engine> =>
  address.engine === 'sqlite'
    ? openSqlite(address.file, log, sqliteLimits)
    : openPostgres(address, log, postgresLimits);

async function createStorage(
  engine: Engine,
  options: StorageOptions,
  isUpToDateAlready: boolean,
): Promise<Storage> {
  const held = new ProgramCache();
  const tables = createTables(engine.db, engine, held);
  const offlineFor = (options.offlineRunSeconds ?? 30) * 1000;
  let hungAt = -Infinity;
  const runs = new RunLookup(tables, {
    isCurrent: () => feed.isCurrent,
    holdsOffline: () => feed.age <= offlineFor,
    isHanging: () => performance.now() - hungAt < feed.age,
    onHang: () => (hungAt = performance.now()),
  });
  const feed = new ChangeFeed(engine, (changes) => runs.handleChanges(changes), options);
  let unavailability: string | undefined;
  const startFeed = () =>
    feed.start((cause) => {
      unavailability = cause === undefined ? undefined : reasonOf(cause);
      options.onAvailability?.(unavailability);
    });
  let isClosed = false;
  let isSchemaReady = isUpToDateAlready;
  let schemaTimer: NodeJS.Timeout | undefined;
  if (isSchemaReady) await startFeed();
  else {
    // Before the first request is let through, as the caches rely on it.
    const startWhenReady = async () => {
      try {
        if ((await isUpToDate(engine, engine.db)) && !isClosed) {
          await startFeed();
          isSchemaReady = true;
          return;
        }
      } catch {
        // The database is away, or the schema has become too new; `check` says so.
      }
      if (!isClosed) schemaTimer = setTimeout(() => void startWhenReady(), schemaInterval).unref();
    };
    schemaTimer = setTimeout(() => void startWhenReady(), schemaInterval).unref();
  }
  const inTransaction = new AsyncLocalStorage<true>();

  return {
    engine: engine.name,
    tables,
    runs,
    get unavailability() {
      return unavailability;
    },
    async transaction(work) {
      // On SQLite it would wait for the one that it is part of, for ever.
      if (inTransaction.getStore()) throw new Error('A transaction is under way already: use its tables.');
      const changes: Change[] = [];
      const result = await engine.db.transaction().execute(async (transaction) => {
        const record = (change: Change) => changes.push(change);
        const value = await inTransaction.run(true, () =>
          work(createTransactionTables(transaction, engine, held, record)),
        );
        if (changes.length) await recordChanges(transaction, engine, changes, Date.now());
        return value;
      });
      // Known here before anybody is told that it was done.
      if (changes.length) runs.handleChanges(changes);
      return result;
    },
    get isSchemaReady() {
      return isSchemaReady;
    },
    async check() {
      try {
        await sql`select 1`.execute(engine.db);
      } catch {
        return { database: false, schema: false };
      }
      try {
        return { database: true, schema: isSchemaReady && (await isUpToDate(engine, engine.db)) };
      } catch {
        return { database: true, schema: false };
      }
    },
    connections: engine.connections,
    readChanges: () => feed.poll(),
    async close() {
      isClosed = true;
      clearTimeout(schemaTimer);
      await feed.close();
      await engine.close();
    },
  };
}
