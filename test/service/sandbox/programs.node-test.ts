import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { migrate, migrations, schemaVersion } from '../../../service/src/storage/migrations.ts';
import { openStore } from '../../../service/src/storage/store.ts';
import type { Store } from '../../../service/src/storage/store.ts';
import { digestOf } from '../../../service/src/storage/tables/builds.ts';
import { temporaryDirectory } from '../harness.ts';
import { running, startPlugin } from '../plugin.ts';

const plugin = { environment: 'com.acme', tenant: 't1', namespace: 'default', pluginName: 'x' };
const sourceOf = (contents: string) => ({ lang: 'javascript', contents });
const programOf = (code: string) => ({ kind: 'script', code, file: 'plugin.js' }) as const;

function open(t: TestContext, directory = temporaryDirectory(t)) {
  const store = openStore(directory);
  const db = new DatabaseSync(store.file);
  t.after(() => {
    store.close();
    db.close();
  });
  return { store, db };
}

/** Saves a draft with this text and a build of it. */
function build(store: Store, contents: string, of = plugin): void {
  store.transaction(() => {
    store.environments.add(of.environment, 0);
    store.drafts.saveWithin(of, sourceOf(contents), 0);
    store.builds.save(of, sourceOf(contents), programOf(contents), 0);
  });
}

function deploy(store: Store, contents: string, of = plugin): string {
  const program = store.builds.find(of, sourceOf(contents));
  assert.ok(program);
  return store.transaction(() => store.versions.add(of, sourceOf(contents), program, 0));
}

const codesIn = (db: DatabaseSync): string[] =>
  db
    .prepare('SELECT program FROM programs ORDER BY program')
    .all()
    .map(({ program }) => (JSON.parse(String(program)) as { code: string }).code);

test('a program is stored once, whichever builds and versions refer to it', (t) => {
  const { store, db } = open(t);
  const other = { ...plugin, pluginName: 'y' };
  build(store, 'same');
  build(store, 'same', other);
  deploy(store, 'same');
  deploy(store, 'same', other);
  assert.deepEqual(codesIn(db), ['same']);
  const hashes = [
    store.builds.find(plugin, sourceOf('same')),
    store.versions.find(plugin, 'v1.0.0'),
    store.versions.newest(other),
  ].map((stored) => stored?.hash);
  assert.match(hashes[0] ?? '', /^[0-9a-f]{64}$/);
  assert.equal(new Set(hashes).size, 1);
});

test('a build that is replaced takes its program along, unless a version or another build refers to it', (t) => {
  const { store, db } = open(t);
  const other = { ...plugin, pluginName: 'y' };
  build(store, 'first');
  build(store, 'second');
  assert.deepEqual(codesIn(db), ['second']);
  deploy(store, 'second');
  build(store, 'third');
  build(store, 'third', other);
  build(store, 'fourth');
  assert.deepEqual(codesIn(db), ['fourth', 'second', 'third']);
  assert.deepEqual(store.versions.newest(plugin)?.load(), programOf('second'));
});

test('a build that is undone keeps the program that it would have replaced', (t) => {
  const { store, db } = open(t);
  build(store, 'first');
  const failing = () =>
    store.transaction(() => {
      store.builds.save(plugin, sourceOf('second'), programOf('second'), 0);
      throw new Error('no');
    });
  assert.throws(failing, /^Error: no$/);
  assert.deepEqual(codesIn(db), ['first']);
  assert.deepEqual(store.builds.find(plugin, sourceOf('first'))?.load(), programOf('first'));
});

test('a program is read when it is asked for, and one that was removed meanwhile is an error that says so', (t) => {
  const { store } = open(t);
  build(store, 'first');
  const stored = store.builds.find(plugin, sourceOf('first'));
  assert.deepEqual(stored?.load(), programOf('first'));
  build(store, 'second');
  assert.throws(() => stored?.load(), /The program [0-9a-f]{64} is no longer stored/);
});

test('the database refuses to change a version, and lets a plugin be removed with its versions and programs', (t) => {
  const { store, db } = open(t);
  build(store, 'first');
  deploy(store, 'first');
  assert.throws(() => db.exec("UPDATE versions SET record = '{}'"), /a version is never changed/);
  assert.throws(() => db.exec('DELETE FROM programs'), /FOREIGN KEY/);
  db.exec('DELETE FROM builds; DELETE FROM versions; DELETE FROM drafts; DELETE FROM programs;');
});

/** A data file as the schema was before programs had a table of their own, with the builds and versions given. */
function oldFile(t: TestContext, versions: readonly string[], built: string): string {
  const directory = temporaryDirectory(t);
  const db = new DatabaseSync(join(directory, 'service.sqlite'), { enableForeignKeyConstraints: true });
  migrate(db, migrations.slice(0, 2));
  db.exec(`
    INSERT INTO environments VALUES ('com.acme', 'you@acme.com', 0);
    INSERT INTO drafts VALUES (1, 'com.acme', 't1', 'default', 'x', '${JSON.stringify(sourceOf(built))}', 7, 1, 2);
  `);
  db.prepare("INSERT INTO builds VALUES ('com.acme', 't1', 'default', 'x', ?, ?, 5)").run(
    digestOf(sourceOf(built)),
    JSON.stringify(programOf(built)),
  );
  const add = db.prepare("INSERT INTO versions VALUES ('com.acme', 't1', 'default', 'x', ?, ?, ?, ?)");
  for (const [patch, code] of versions.entries()) {
    add.run(patch, JSON.stringify(sourceOf(code)), JSON.stringify(programOf(code)), 100 + patch);
  }
  db.close();
  return directory;
}

test('builds and versions of the schema before keep what they run, and equal programs become one', (t) => {
  const { store, db } = open(t, oldFile(t, ['a', 'b', 'a', 'a'], 'a'));
  assert.equal(schemaVersion(db), migrations.length);
  const outputs = [0, 1, 2, 3].map((patch) => store.versions.find(plugin, `v1.0.${patch}`)?.load());
  assert.deepEqual(outputs, ['a', 'b', 'a', 'a'].map(programOf));
  assert.deepEqual(store.builds.find(plugin, sourceOf('a'))?.load(), programOf('a'));
  assert.deepEqual(store.builds.findCurrent(plugin)?.load(), programOf('a'));
  assert.deepEqual(codesIn(db), ['a', 'b']);
  assert.deepEqual(store.versions.newestSource(plugin), { version: 'v1.0.3', source: sourceOf('a') });
  const times = db.prepare('SELECT created_at FROM versions ORDER BY patch').all();
  assert.deepEqual(
    times.map((row) => row['created_at']),
    [100, 101, 102, 103],
  );
  assert.equal(db.prepare('SELECT built_at FROM builds').get()?.['built_at'], 5);
  assert.deepEqual(db.prepare('PRAGMA foreign_key_check').all(), []);
  build(store, 'c');
  assert.equal(deploy(store, 'c'), 'v1.0.4');
});

test('a deploy that changes nothing answers the newest version, and makes no other', async (t) => {
  const { build: buildBy, saveDraft, send, paths, editor, store } = await startPlugin(t);
  const contents = running('return input;');
  const source = { contents, lang: 'javascript', tests: [{ name: 'one', payload: 'x' }] };
  const promote = async () => {
    const { status, body } = await send('POST', paths.promote, editor);
    assert.equal(status, 200, body);
    return JSON.parse(body) as unknown;
  };
  await saveDraft(source);
  await buildBy(contents);
  assert.deepEqual(await promote(), { version: 'v1.0.0' });
  const size = () => statSync(store.file).size + statSync(`${store.file}-wal`).size;
  const before = size();
  for (let i = 0; i < 20; i++) assert.deepEqual(await promote(), { version: 'v1.0.0', unchanged: true });
  assert.equal(size(), before);

  // The order of a test's fields means nothing; what the draft was in between does not count.
  await buildBy(running('return "another";'));
  assert.deepEqual(await promote(), { version: 'v1.0.1' });
  await saveDraft({ ...source, tests: [{ payload: 'x', name: 'one' }] });
  await buildBy(contents);
  assert.deepEqual(await promote(), { version: 'v1.0.2' });
  assert.deepEqual(await promote(), { version: 'v1.0.2', unchanged: true });

  await saveDraft({ ...source, tests: [{ payload: 'y', name: 'one' }] });
  assert.deepEqual(await promote(), { version: 'v1.0.3' });
  await saveDraft({ contents, lang: 'javascript' });
  assert.deepEqual(await promote(), { version: 'v1.0.4' });
  await saveDraft({ contents, lang: 'javascript', tests: [] });
  assert.deepEqual(await promote(), { version: 'v1.0.4', unchanged: true });
});

test('a deploy that changes nothing needs no build', async (t) => {
  const { build: buildBy, saveDraft, send, paths, editor, store } = await startPlugin(t);
  const contents = running('return input;');
  await buildBy(contents);
  await send('POST', paths.promote, editor);
  await buildBy(running('return "another";'));
  await saveDraft({ contents, lang: 'javascript' });
  // What was built last is of another text now, so a test is refused.
  assert.equal((await send('POST', paths.test, editor)).status, 409);
  const { body } = await send('POST', paths.promote, editor);
  assert.equal(body, '{"version":"v1.0.0","unchanged":true}');
  assert.ok(store.versions.newest({ ...plugin, pluginName: 'add-record' }));
});

test('of twenty equal deploys at once one makes a version, and all are answered with it', async (t) => {
  const { build: buildBy, send, paths, editor, run } = await startPlugin(t);
  await buildBy(running('return input;'));
  const answers = await Promise.all(
    Array.from({ length: 20 }, async () => (await send('POST', paths.promote, editor)).body),
  );
  const made = answers.filter((body) => body === '{"version":"v1.0.0"}');
  const found = answers.filter((body) => body === '{"version":"v1.0.0","unchanged":true}');
  assert.deepEqual([made.length, found.length], [1, 19]);
  assert.equal((await run('v1.0.1')).status, 404);
});

test('what holds the same program at the same time shares one copy of it', (t) => {
  const { store } = open(t);
  build(store, 'same');
  build(store, 'same', { ...plugin, pluginName: 'y' });
  const [first, second] = [plugin, { ...plugin, pluginName: 'y' }].map((one) =>
    store.builds.find(one, sourceOf('same'))?.load(),
  );
  assert.deepEqual(first, programOf('same'));
  assert.equal(second, first);
});
