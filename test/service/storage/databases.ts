import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import { parseDatabaseUrl } from '../../../service/src/storage/database-url.ts';
import type { DatabaseAddress } from '../../../service/src/storage/database-url.ts';
import type { Schema } from '../../../service/src/storage/schema.ts';
import { migrateDatabase, openEngine, openStorage } from '../../../service/src/storage/storage.ts';
import type { StorageOptions } from '../../../service/src/storage/storage.ts';
import { createDatabase } from '../../postgres/databases.ts';
import { memoryFolder } from '../../support/memory-folder.ts';

const engineNames = ['sqlite', 'postgres'] as const;

export type EngineName = (typeof engineNames)[number];

/** The engine that the tests of the service run on: `TEST_STORAGE`, by default `sqlite`. */
export function engineUnderTest(): EngineName {
  const name = process.env['TEST_STORAGE'] || 'sqlite';
  const engine = engineNames.find((one) => one === name);
  if (!engine) throw new Error(`TEST_STORAGE is "${name}"; it must be one of ${engineNames.join(', ')}.`);
  return engine;
}

/** The engines that tests of both are for in this run: only that one. */
export const engines: readonly EngineName[] = [engineUnderTest()];

/** A test that needs PostgreSQL: it is there where that is under test. */
export function postgresTest(name: string, work: (t: TestContext) => Promise<void>): void {
  if (engineUnderTest() === 'postgres') test(name, work);
}

/** A test of SQLite, or of no database: it is there where SQLite is under test. */
export function sqliteTest(name: string, work: (t: TestContext) => void | Promise<void>): void {
  if (engineUnderTest() === 'sqlite') test(name, work);
}

/** Where cleaning up is handed in: a test, or something of its shape. */
export interface Cleanup {
  after(work: () => unknown): void;
}

const cleanups = new WeakMap<Cleanup, (() => unknown)[]>();

/** Does something after a test, before what was asked for earlier: a database is closed before it is removed. */
export function cleanUpFirst(t: Cleanup, work: () => unknown): void {
  let stack = cleanups.get(t);
  if (!stack) {
    const all: (() => unknown)[] = (stack = []);
    cleanups.set(t, all);
    t.after(async () => {
      for (const one of all.toReversed()) await one();
    });
  }
  stack.push(work);
}

/** An empty database that is gone after the test. */
export async function freshDatabase(t: Cleanup, engine: EngineName): Promise<DatabaseAddress> {
  if (engine === 'sqlite') {
    const directory = mkdtempSync(join(memoryFolder, 'plugin-service-'));
    cleanUpFirst(t, () => rmSync(directory, { recursive: true, force: true }));
    return { engine, file: join(directory, 'service.sqlite') };
  }
  const { url, drop } = await createDatabase();
  cleanUpFirst(t, drop);
  return parseDatabaseUrl(url);
}

let sqliteTemplate: Promise<Buffer> | undefined;

/** The bytes of an SQLite file that has the schema. It is made once in each process. */
async function sqliteFileWithSchema(): Promise<Buffer> {
  const directory = mkdtempSync(join(memoryFolder, 'plugin-service-'));
  try {
    const file = join(directory, 'service.sqlite');
    await migrateDatabase({ engine: 'sqlite', file });
    return readFileSync(file);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/**
 * A database with the schema of the service, and nothing in it yet. It is a copy, which is many times quicker than to make the
 * schema: on PostgreSQL of the database that `TEST_DATABASE_TEMPLATE` names. Without that it is empty, and gets the schema when a
 * storage is opened on it.
 */
export async function databaseWithSchema(t: Cleanup, engine: EngineName): Promise<DatabaseAddress> {
  const template = process.env['TEST_DATABASE_TEMPLATE'];
  if (engine === 'sqlite') {
    const bytes = await (sqliteTemplate ??= sqliteFileWithSchema());
    const address = await freshDatabase(t, engine);
    if (address.engine === 'sqlite') writeFileSync(address.file, bytes, { mode: 0o600 });
    return address;
  }
  if (!template) return freshDatabase(t, engine);
  const { url, drop } = await createDatabase(template);
  cleanUpFirst(t, drop);
  return parseDatabaseUrl(url);
}

/** Time limits that a busy machine keeps, too, for services, and for tests in which many writers wait for each other. */
export const patientStorage: StorageOptions = {
  postgresLimits: {
    acquireTimeout: 60_000,
    statementTimeout: 60_000,
    holdTimeout: 60_000,
    monitorTimeout: 60_000,
    monitorConnectTimeout: 60_000,
  },
  sqliteLimits: { lockTimeout: 60_000, turnTimeout: 60_000 },
};

/** Opens a database for as long as the test goes on. */
export async function openDuring(t: Cleanup, address: DatabaseAddress, options?: StorageOptions) {
  const storage = await openStorage(address, options);
  cleanUpFirst(t, () => storage.close());
  return storage;
}

/** A storage on an empty database of its own. */
export const freshStorage = async (t: Cleanup, engine: EngineName, options?: StorageOptions) =>
  openDuring(t, await databaseWithSchema(t, engine), options);

/** A database as it is, for tests that look into it. */
export async function openForInspection(t: Cleanup, address: DatabaseAddress): Promise<Kysely<Schema>> {
  const engine = await openEngine(address);
  cleanUpFirst(t, () => engine.close());
  return engine.db;
}

/** All that a database holds, as bytes: its files, or what is in its columns. */
export async function storedBytes(t: Cleanup, address: DatabaseAddress): Promise<Buffer> {
  if (address.engine === 'sqlite') {
    const files = ['', '-wal'].map((suffix) => address.file + suffix).filter((file) => existsSync(file));
    return Buffer.concat(files.map((file) => readFileSync(file)));
  }
  const db = await openForInspection(t, address);
  const values: unknown[] = [];
  for (const { name } of await db.introspection.getTables()) {
    const { rows } = await sql<Record<string, unknown>>`select * from ${sql.table(name)}`.execute(db);
    values.push(...rows.flatMap((row) => Object.values(row)));
  }
  return Buffer.concat(
    values.map((value) => (Buffer.isBuffer(value) ? value : Buffer.from(`${String(value)} `))),
  );
}

/** An address as `DATABASE_URL` gives it to a process. */
export const databaseUrl = (address: DatabaseAddress): string =>
  address.engine === 'sqlite' ? `sqlite:${address.file}` : address.url;
