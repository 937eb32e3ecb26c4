import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { migrate, migrations, schemaVersion } from '../../../service/src/storage/migrations.ts';
import { openStore } from '../../../service/src/storage/store.ts';
import { createToken } from '../../../service/src/accounts/tokens.ts';
import { source, startService, temporaryDirectory } from '../harness.ts';

const plugin = { environment: 'com.acme', tenant: 't1', namespace: 'default', pluginName: 'x' };
const modeOf = (path: string) => statSync(path).mode & 0o777;

function open(t: TestContext, directory: string) {
  const store = openStore(directory);
  t.after(() => store.close());
  return store;
}

test('the data folder and its files are for their owner alone', (t) => {
  const umask = process.umask(0);
  t.after(() => process.umask(umask));
  const directory = join(temporaryDirectory(t), 'deep', 'data');
  const { file, environments } = open(t, directory);
  environments.add('com.acme', 0);
  assert.equal(modeOf(directory), 0o700);
  for (const path of [file, `${file}-wal`, `${file}-shm`]) assert.equal(modeOf(path), 0o600, path);
});

test('a folder that is there keeps its mode', (t) => {
  const directory = temporaryDirectory(t);
  chmodSync(directory, 0o755);
  open(t, directory);
  assert.equal(modeOf(directory), 0o755);
});

test('the file is in WAL mode, at the newest schema, and stays as it is when opened again', (t) => {
  const directory = temporaryDirectory(t);
  const store = open(t, directory);
  store.environments.add('com.acme', 0);
  store.drafts.save(plugin, source, 1);
  store.close();
  const db = new DatabaseSync(join(directory, 'service.sqlite'));
  assert.equal(db.prepare('PRAGMA journal_mode').get()?.['journal_mode'], 'wal');
  assert.equal(schemaVersion(db), migrations.length);
  db.close();
  const draft = open(t, directory).drafts.find(plugin);
  assert.deepEqual([draft?.source, draft?.revision, draft?.updatedAt], [source, 1, 1]);
});

test('a commit is on the disk before it is acknowledged', (t) => {
  const exec = t.mock.method(DatabaseSync.prototype, 'exec');
  open(t, temporaryDirectory(t));
  const statements = exec.mock.calls.map((call) => call.arguments[0]);
  assert.ok(statements.includes('PRAGMA synchronous = FULL'));
});

test('a schema is migrated from the version it has, all or nothing', () => {
  const db = new DatabaseSync(':memory:');
  const steps = ['CREATE TABLE a (x)', 'CREATE TABLE b (x)'];
  migrate(db, steps.slice(0, 1));
  db.exec('INSERT INTO a VALUES (1)');
  assert.throws(() => migrate(db, [...steps, 'CREATE TABLE b (x)']), /already exists/);
  assert.equal(schemaVersion(db), 1);
  migrate(db, steps);
  assert.equal(schemaVersion(db), 2);
  assert.deepEqual(db.prepare('SELECT count(*) AS n FROM a, (SELECT count(*) FROM b)').get()?.['n'], 1);
});

test('a file that cannot be used is named, with what to do, and left alone', (t) => {
  const directory = temporaryDirectory(t);
  const file = join(directory, 'service.sqlite');
  writeFileSync(file, 'This is no database. '.repeat(100));
  assert.throws(
    () => openStore(directory),
    (error: Error) => error.message.includes(file) && /DATA_DIR/.test(error.message),
  );
  assert.match(readFileSync(file, 'utf8'), /^This is no database/);

  const newer = join(directory, 'newer');
  const store = openStore(newer);
  store.close();
  const db = new DatabaseSync(join(newer, 'service.sqlite'));
  db.exec('PRAGMA user_version = 1000');
  db.close();
  assert.throws(() => openStore(newer), /schema is version 1000/);

  const blocked = join(directory, 'blocked');
  mkdirSync(join(blocked, 'service.sqlite'), { recursive: true });
  assert.throws(() => openStore(blocked), /cannot be used/);
});

test('two processes may use the file: a change of one is seen by the other', (t) => {
  const directory = temporaryDirectory(t);
  const [one, other] = [open(t, directory), open(t, directory)];
  one.environments.add('com.acme', 0);
  const token = createToken('environment');
  one.environments.setToken('com.acme', 'owner', token, 0);
  assert.equal(other.environments.findByToken(token), 'com.acme');
  const first = one.drafts.save(plugin, source, 1);
  const second = other.drafts.save(plugin, source, 2, (current) => assert.equal(current?.etag, first.etag));
  assert.deepEqual([first.revision, second.revision], [1, 2]);
});

test('no token and no code is in the file', async (t) => {
  const { store, environmentToken, editorToken } = startService(t);
  const tokens = [environmentToken(), await editorToken()];
  const bytes = [store.file, `${store.file}-wal`].map((file) => readFileSync(file));
  for (const token of tokens) {
    const [, secret = ''] = /^pe_[a-z]+_(.+)$/.exec(token) ?? [];
    assert.equal(secret.length, 43);
    for (const one of bytes) {
      assert.ok(!one.includes(secret));
      assert.ok(!one.includes(Buffer.from(secret, 'base64url')));
    }
  }
});

test('expired editor tokens leave the file when the next is made', async (t) => {
  const { store, clock, editorToken } = startService(t, { editorTokenTtl: 60 });
  const db = new DatabaseSync(store.file);
  t.after(() => db.close());
  const count = () => Number(db.prepare('SELECT count(*) AS n FROM editor_tokens').get()?.['n']);
  await editorToken();
  await editorToken();
  assert.equal(count(), 2);
  clock.now += 60_000;
  await editorToken();
  assert.equal(count(), 1);
});

test('a draft needs an environment that is known', (t) => {
  const store = open(t, temporaryDirectory(t));
  assert.throws(() => store.drafts.save(plugin, source, 0), /FOREIGN KEY/);
});

test('what throws in a transaction leaves nothing behind', (t) => {
  const store = open(t, temporaryDirectory(t));
  const failing = () =>
    store.transaction(() => {
      store.environments.add('com.acme', 0);
      throw new Error('no');
    });
  assert.throws(failing, /^Error: no$/);
  assert.throws(() => store.drafts.save(plugin, source, 0), /FOREIGN KEY/);
});
