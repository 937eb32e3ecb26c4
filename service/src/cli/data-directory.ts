import { join, resolve } from 'node:path';
import { parseDatabaseUrl } from '../storage/database-url.ts';
import type { DatabaseAddress } from '../storage/database-url.ts';

type Environment = Record<string, string | undefined>;

/** Where state is kept: `DATA_DIR`, by default `.data`, both relative to the working directory. */
export const dataDirectory = (env: Environment = process.env): string => resolve(env['DATA_DIR'] || '.data');

/**
 * The database: `DATABASE_URL`, by default an SQLite file in the data folder.
 * @throws StartError that says what it must be.
 */
export function databaseAddress(env: Environment = process.env): DatabaseAddress {
  const url = env['DATABASE_URL']?.trim();
  if (url) return parseDatabaseUrl(url);
  return { engine: 'sqlite', file: join(dataDirectory(env), 'service.sqlite') };
}
