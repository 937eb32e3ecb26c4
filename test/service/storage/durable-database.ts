import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DatabaseAddress } from '../../../service/src/storage/database-url.ts';
import { parseDatabaseUrl } from '../../../service/src/storage/database-url.ts';
import { Cluster } from '../../postgres/cluster.ts';
import type { EngineName } from './databases.ts';

/** A database that keeps what it acknowledged, whatever happens to the processes. */
export interface DurableDatabase {
  readonly address: DatabaseAddress;
  /** Kills the processes that keep the data, if there are such, and waits until they are gone. */
  readonly crash: () => Promise<void>;
  /** Starts them again. */
  readonly restart: () => Promise<void>;
  readonly remove: () => Promise<void>;
}

export async function createDurableDatabase(engine: EngineName): Promise<DurableDatabase> {
  if (engine === 'sqlite') {
    const directory = mkdtempSync(join(tmpdir(), 'plugin-service-'));
    return {
      address: { engine, file: join(directory, 'service.sqlite') },
      crash: async () => {},
      restart: async () => {},
      remove: async () => rmSync(directory, { recursive: true, force: true }),
    };
  }
  const cluster = await Cluster.create({ durable: true });
  await cluster.start();
  return {
    address: parseDatabaseUrl(cluster.url),
    crash: () => cluster.crash(),
    restart: () => cluster.start(),
    remove: () => cluster.remove(),
  };
}
