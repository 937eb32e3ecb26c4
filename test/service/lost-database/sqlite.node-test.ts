import assert from 'node:assert/strict';
import fs, { copyFileSync, renameSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { DatabaseSync } from 'node:sqlite';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { Kysely, sql } from 'kysely';
import { envToken } from '../../../service/src/cli/env-token.ts';
import type { TokenProcess } from '../../../service/src/cli/env-token.ts';
import { startVerification, verifyCode } from '../../../service/src/accounts/verification.ts';
import { NodeSqliteDialect } from '../../../service/src/storage/sqlite/dialect.ts';
import type { StorageOptions } from '../../../service/src/storage/storage.ts';
import { StorageUnavailableError } from '../../../service/src/storage/errors.ts';
import { checkDatabase } from '../cli/service-command.ts';
import { startService } from '../harness.ts';
import { running, startPlugin } from '../plugin.ts';
import {
  cleanUpFirst,
  databaseUrl,
  databaseWithSchema,
  freshDatabase,
  openDuring,
} from '../storage/databases.ts';
import { build, deploy, plugin } from '../storage/plugins.ts';
import { isUnavailable } from './proxied.ts';
import { until } from '../../support/until.ts';

const addRecord = { ...plugin, pluginName: 'add-record' };

async function serviceOnFile(t: TestContext, options: StorageOptions = {}) {
  const address = await databaseWithSchema(t, 'sqlite');
  assert.equal(address.engine, 'sqlite');
  const { file } = address as { file: string };
  const storage = await openDuring(t, address, options);
  const service = await startService(t, { storage });
  const token = await service.editorToken();
  const save = (contents: string) => service.save(token, { lang: 'javascript', contents });
  return { ...service, file, storage, save };
}

test('each write that waits for another process is 503 within bounds', async (t) => {
  const { file, save, errors } = await serviceOnFile(t, {
    sqliteLimits: { lockTimeout: 300, turnTimeout: 600 },
  });
  const other = new DatabaseSync(file);
  cleanUpFirst(t, () => other.close());
  other.exec('BEGIN IMMEDIATE');
  const began = performance.now();
  // Each after the other would take half a minute.
  const responses = await Promise.all(Array.from({ length: 100 }, () => save('waits')));
  const [first, ...others] = responses;
  assert.ok(first && (await isUnavailable(first)));
  // Requests that these keep from their turn are 503 `busy`.
  for (const response of others) assert.equal(response.status, 503);
  assert.ok(performance.now() - began < 20_000);
  other.exec('ROLLBACK');
  assert.equal((await save('in the end')).status, 200);
  assert.deepEqual(errors, []);
});

test('writes are 503 while the file is moved away, so that none is lost, until it is put back', async (t) => {
  const reasons: (string | undefined)[] = [];
  const { file, save, storage, errors } = await serviceOnFile(t, {
    onAvailability: (reason) => reasons.push(reason),
  });
  assert.equal((await save('first')).status, 200);
  renameSync(file, `${file}.moved`);
  assert.ok(await isUnavailable(await save('lost')));
  await until('it is known to be away', () => storage.unavailability !== undefined);
  assert.match(storage.unavailability ?? '', /no such file/);

  copyFileSync(`${file}.moved`, file);
  assert.ok(await isUnavailable(await save('lost')));

  renameSync(`${file}.moved`, file);
  assert.equal((await save('second')).status, 200);
  await until('it is known to be back', () => storage.unavailability === undefined);
  assert.equal(reasons.length, 2);
  assert.deepEqual(errors, []);
});

test('a full disk undoes the transaction, and is not reported as a fault of the statement', async (t) => {
  const address = await freshDatabase(t, 'sqlite');
  const { file } = address as { file: string };
  const writer = new DatabaseSync(file, { timeout: 0 });
  writer.exec('PRAGMA journal_mode = WAL; CREATE TABLE texts (text TEXT) STRICT');
  const reader = new DatabaseSync(file, { readOnly: true });
  let isFull = false;
  const checkSpace = () => {
    if (isFull) throw new StorageUnavailableError(new Error('full'), { isDiskFull: true });
  };
  const dialect = new NodeSqliteDialect({ writer, reader, checkFile: () => {}, checkSpace });
  const db = new Kysely<{ texts: { text: string } }>({ dialect });
  cleanUpFirst(t, () => db.destroy());
  const add = (text: string) =>
    db.transaction().execute(async (transaction) => {
      await transaction.insertInto('texts').values({ text: 'small' }).execute();
      await transaction.insertInto('texts').values({ text }).execute();
    });
  writer.exec('PRAGMA max_page_count = 10');
  await assert.rejects(add('x'.repeat(2 ** 20)), StorageUnavailableError);
  assert.deepEqual(await db.selectFrom('texts').selectAll().execute(), []);
  await assert.rejects(sql`insert into texts values (${'x'.repeat(2 ** 20)})`.execute(db), {
    name: 'StorageUnavailableError',
  });
  writer.exec('PRAGMA max_page_count = 10000');
  await add('room');
  assert.equal((await db.selectFrom('texts').selectAll().execute()).length, 2);
  await assert.rejects(sql`insert into no_such_table values (1)`.execute(db), /no such table/);
  // Before the disk is full, so that there is room for deleting.
  isFull = true;
  await assert.rejects(db.insertInto('texts').values({ text: '' }).execute(), { isDiskFull: true });
  await db.deleteFrom('texts').execute();
  assert.deepEqual(await db.selectFrom('texts').selectAll().execute(), []);
});

test('on a full disk writes are refused with words of their own, and runs and deletions go on', async (t) => {
  const disk = fillableDisk(t);
  const address = await databaseWithSchema(t, 'sqlite');
  const storage = await openDuring(t, address);
  const { saveDraft, readDraft, run, send, editor, vendor, paths, errors } = await startPlugin(
    t,
    't1',
    undefined,
    { storage },
  );
  const save = (contents: string) => saveDraft({ lang: 'javascript', contents });
  for (const output of ['former', 'newest']) {
    const source = running(`return '${output}';`);
    await build(storage, source, addRecord);
    await deploy(storage, source, addRecord);
  }

  disk.isFull = true;
  await until('it is known to be full', async () => (await save('more')).status !== 200);
  const refused = [
    await save('more'),
    await send('POST', paths.build('javascript'), { ...editor, 'content-type': 'text/plain' }, 'built'),
    await send('POST', '/api/v1/tenant/com.acme.t2', vendor),
  ];
  for (const { status, headers, body } of refused) {
    const { error } = JSON.parse(body) as { error: { code: string; message: string } };
    assert.deepEqual([status, error.code], [503, 'storage-unavailable']);
    assert.match(
      error.message,
      /disk .* is full, so that nothing can be saved until its operator makes room/,
    );
    assert.equal(headers['retry-after'], '60');
  }
  assert.equal((await readDraft())['lang'], 'javascript');
  assert.equal((await run('newest')).body, 'newest');
  const version = '/api/v1/plugin/com.acme.t1/default/add-record/versions/v1.0.0';
  assert.equal((await send('DELETE', version, vendor)).status, 204);

  disk.isFull = false;
  await until('there is known to be room', async () => (await save('in the end')).status === 200);
  assert.deepEqual(errors, []);
});

test('on a full disk check fails, and tokens are made, by command and by mail', async (t) => {
  const disk = fillableDisk(t);
  const address = await databaseWithSchema(t, 'sqlite');
  assert.match(await checkDatabase(address), /^ok +database: /m);
  disk.isFull = true;
  const reason = 'only 0 MiB are free on the disk of the database';
  const checked = await checkDatabase(address);
  assert.match(checked, new RegExp(`^failed +database: .* takes nothing new, because ${reason}$`, 'm'));
  const stdout = new PassThrough();
  const self: TokenProcess = {
    env: { DATABASE_URL: databaseUrl(address) },
    stdin: new PassThrough(),
    stdout,
    stderr: new PassThrough(),
  };
  await envToken(['com.acme'], self);
  assert.match(String(stdout.read()), /^pe_env_/);
  const storage = await openDuring(t, address);
  const asked = { email: 'ada@acme.com', environment: 'com.acme' };
  const { id, code } = await startVerification(storage, asked, 0);
  assert.ok('token' in (await verifyCode(storage, id, code, 0)));
});

/** Makes the disk of every database that is opened from now on seem full when a test says so. */
function fillableDisk(t: TestContext) {
  const disk = { isFull: false };
  const { statfsSync } = fs;
  const mock = t.mock.method(fs, 'statfsSync', (path: string) =>
    Object.assign(statfsSync(path), disk.isFull && { bavail: 0 }),
  );
  syncBuiltinESMExports();
  cleanUpFirst(t, () => {
    mock.mock.restore();
    syncBuiltinESMExports();
  });
  return disk;
}
