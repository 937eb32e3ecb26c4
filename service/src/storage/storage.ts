import { AsyncLocalStorage } from 'node:async_hooks';
import type { LogConfig } from 'kysely';
import { ChangeFeed } from './changes/change-feed.ts';
import type { ChangeFeedOptions } from './changes/change-feed.ts';
import { recordChanges } from './changes/change-log.ts';
import type { Change } from './changes/change-log.ts';
import type { DatabaseAddress } from './database-url.ts';
import type { Engine } from './engine.ts';
import { migrate } from './migrations/migrate.ts';
import { openPostgres, unusableDatabase } from './postgres/engine.ts';
import { RunLookup } from './run-lookup.ts';
import { openSqlite, unusableFile } from './sqlite/engine.ts';
import { createTables, createTransactionTables } from './tables.ts';
import type { Tables, TransactionTables } from './tables.ts';
import { HeldPrograms } from './tables/programs.ts';

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
  /** Learns now of what other nodes have changed, which by itself happens several times a second. Never rejects. */
  readChanges(): Promise<void>;
  /** Lets transactions that are under way end, and lets go of the database. */
  close(): Promise<void>;
}

export interface StorageOptions extends ChangeFeedOptions {
  /** Told of every statement and how long it took; for tests and metrics. */
  readonly log?: LogConfig;
}

/**
 * Opens the database and brings its schema up to date. Throws a `StartError` that names the database when it cannot be
 * used.
 */
export async function openStorage(address: DatabaseAddress, options: StorageOptions = {}): Promise<Storage> {
  const engine = await openEngine(address, options.log);
  try {
    await migrate(engine);
    return await createStorage(engine, options);
  } catch (error) {
    await engine.close();
    throw engine.file === undefined
      ? unusableDatabase(engine.shown, error)
      : unusableFile(engine.file, error);
  }
}

/** Connects to the database as it is. The caller closes the engine. */
export const openEngine = (address: DatabaseAddress, log?: LogConfig): Promise<Engine> =>
  address.engine === 'sqlite' ? openSqlite(address.file, log) : openPostgres(address, log);

async function createStorage(engine: Engine, options: StorageOptions): Promise<Storage> {
  const held = new HeldPrograms();
  const tables = createTables(engine.db, engine, held);
  const runs = new RunLookup(tables, () => feed.isCurrent);
  const feed = new ChangeFeed(engine, (changes) => runs.handleChanges(changes), options);
  await feed.start();
  const inTransaction = new AsyncLocalStorage<true>();

  return {
    engine: engine.name,
    tables,
    runs,
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
    readChanges: () => feed.poll(),
    async close() {
      await feed.close();
      await engine.close();
    },
  };
}
