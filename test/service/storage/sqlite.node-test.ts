import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { promisify } from 'node:util';
import { loadSqlite } from '../../../service/src/storage/sqlite/load-sqlite.ts';
import { openStorage } from '../../../service/src/storage/storage.ts';
import { cleanUpFirst, openForInspection, openDuring } from './databases.ts';
import { seedTenant, plugin, save } from './plugins.ts';
import { readDraft } from '../../../service/src/storage/tables/drafts.ts';
import { addEnvironment } from '../../../service/src/storage/tables/environments.ts';

const { DatabaseSync } = loadSqlite();

function temporaryDirectory(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'plugin-service-'));
  cleanUpFirst(t, () => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

const inFolder = (directory: string) =>
  ({ engine: 'sqlite', file: join(directory, 'service.sqlite') }) as const;
const modeOf = (path: string) => statSync(path).mode & 0o777;

test('the data folder and its files are accessible to their owner only', async (t) => {
  const umask = process.umask(0);
  t.after(() => process.umask(umask));
  const directory = join(temporaryDirectory(t), 'deep', 'data');
  const address = inFolder(directory);
  await seedTenant(await openDuring(t, address));
  assert.equal(modeOf(directory), 0o700);
  for (const path of [address.file, `${address.file}-wal`, `${address.file}-shm`]) {
    assert.equal(modeOf(path), 0o600, path);
  }
});

test('an existing folder keeps its mode', async (t) => {
  const directory = temporaryDirectory(t);
  chmodSync(directory, 0o755);
  await openDuring(t, inFolder(directory));
  assert.equal(modeOf(directory), 0o755);
});

test('a commit is on the disk before it is acknowledged', async (t) => {
  const exec = t.mock.method(DatabaseSync.prototype, 'exec');
  const address = inFolder(temporaryDirectory(t));
  await openDuring(t, address);
  const statements = exec.mock.calls.map((call) => call.arguments[0]);
  assert.ok(statements.includes('PRAGMA synchronous = FULL'));
  const db = new DatabaseSync(address.file);
  assert.equal(db.prepare('PRAGMA journal_mode').get()?.['journal_mode'], 'wal');
  db.close();
});

test('closing leaves one file with all data', async (t) => {
  const address = inFolder(temporaryDirectory(t));
  const storage = await openDuring(t, address);
  await seedTenant(storage);
  await save(storage, 'text');
  await storage.close();
  for (const suffix of ['-wal', '-shm']) assert.throws(() => statSync(address.file + suffix), /ENOENT/);
});

test('an unusable file is named, with what to do, and left alone', async (t) => {
  const directory = temporaryDirectory(t);
  const address = inFolder(directory);
  writeFileSync(address.file, 'This is no database. '.repeat(100));
  await assert.rejects(openStorage(address), (error: Error) => {
    assert.equal(error.name, 'StartError');
    return (
      error.message.includes(address.file) &&
      error.message.includes('DATA_DIR') &&
      !error.message.includes('\n')
    );
  });
  assert.match(readFileSync(address.file, 'utf8'), /^This is no database/);

  const blocked = inFolder(join(directory, 'blocked'));
  mkdirSync(blocked.file, { recursive: true });
  await assert.rejects(openStorage(blocked), /cannot be used/);
});

test('a write waits for another process that holds the lock, without stopping anything else', async (t) => {
  const address = inFolder(temporaryDirectory(t));
  const storage = await openDuring(t, address);
  await seedTenant(storage);
  const other = new DatabaseSync(address.file);
  cleanUpFirst(t, () => other.close());
  other.exec('BEGIN IMMEDIATE');
  let isSaved = false;
  const writes = [save(storage, 'text'), addEnvironment(storage.db, 'com.acme.other', 0)];
  const saving = Promise.all(writes).then(() => (isSaved = true));
  // Were the event loop blocked, this timer would end only with the wait for the lock.
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.equal(isSaved, false);
  assert.equal(await readDraft(storage.db, plugin), undefined);
  other.exec('COMMIT');
  await saving;
  assert.ok(await readDraft(storage.db, plugin));
});

test('a health check does not wait for a long write', async (t) => {
  const storage = await openDuring(t, inFolder(temporaryDirectory(t)));
  const [begun, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const writing = storage.transaction(async () => {
    begun.resolve();
    await held.promise;
  });
  await begun.promise;
  assert.deepEqual(await storage.check(), { database: true, schema: true });
  held.resolve();
  await writing;
});

test('an endless write does not keep the file from being released, and is undone', async (t) => {
  const address = inFolder(temporaryDirectory(t));
  const storage = await openStorage(address);
  const [begun, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const writing = storage.transaction(async (db) => {
    await addEnvironment(db, 'com.never', 0);
    begun.resolve();
    await held.promise;
  });
  await begun.promise;
  await storage.close();
  held.resolve();
  await assert.rejects(writing);
  const db = await openForInspection(t, address);
  assert.deepEqual(await db.selectFrom('environments').selectAll().execute(), []);
});

test('SQLite is loaded without a warning, and other warnings still appear', async () => {
  const module = new URL('../../../service/src/storage/sqlite/load-sqlite.ts', import.meta.url);
  const script = `
    const { loadSqlite } = await import(${JSON.stringify(module.href)});
    loadSqlite();
    new (loadSqlite().DatabaseSync)(':memory:').close();
    process.emitWarning('another one', 'ExperimentalWarning');
  `;
  const { stderr } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
  assert.doesNotMatch(stderr, /SQLite/);
  assert.match(stderr, /another one/);
});
