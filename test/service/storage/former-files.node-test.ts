import assert from 'node:assert/strict';
import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { formerSteps } from '../../../service/src/storage/sqlite/former-schema.ts';
import { loadSqlite } from '../../../service/src/storage/sqlite/load-sqlite.ts';
import { openStorage } from '../../../service/src/storage/storage.ts';
import { buildDigestOf, sourceDigestOf } from '../../../service/src/storage/tables/digest.ts';
import { cleanUpFirst, freshDatabase, openDuring } from './databases.ts';
import { build, deploy, plugin, programOf, sourceOf } from './plugins.ts';

const { DatabaseSync } = loadSqlite();

interface Fixture {
  tokens: Record<'owner' | 'demo' | 'editor' | 'expired', string>;
  plugin: typeof plugin;
  other: typeof plugin;
  sources: Record<'first' | 'second' | 'draft' | 'other', { lang: string; contents: string }>;
  etags: Record<'draft' | 'other', string>;
  revisions: Record<'draft' | 'other', number>;
  verificationCode: number;
  start: number;
}

const fixtures = join(import.meta.dirname, 'fixtures');
const expected = JSON.parse(readFileSync(join(fixtures, 'version-3.json'), 'utf8')) as Fixture;

async function freshFile(t: TestContext) {
  const address = await freshDatabase(t, 'sqlite');
  assert.ok(address.engine === 'sqlite');
  return address;
}

/** A copy of the file that the last release before this storage wrote. */
async function formerFile(t: TestContext) {
  const address = await freshFile(t);
  copyFileSync(join(fixtures, 'version-3.sqlite'), address.file);
  return address;
}

function openFile(t: TestContext, file: string) {
  const db = new DatabaseSync(file);
  cleanUpFirst(t, () => db.close());
  return db;
}

test('a file of the previous release is taken over with all its data', async (t) => {
  const { tables, runs } = await openDuring(t, await formerFile(t));
  const { tokens, sources, etags, revisions, start } = expected;
  const { environments, editorTokens, drafts, builds, versions, verificationCodes } = tables;

  assert.equal(await environments.owner('com.acme'), 'you@acme.com');
  assert.equal(await environments.owner('de.bücher'), undefined);
  assert.equal((await runs.environmentToken(tokens.owner, 0))?.environment, 'com.acme');
  assert.equal((await runs.environmentToken(tokens.demo, 0))?.environment, 'com.acme');
  const editorToken = await editorTokens.find(tokens.editor, start);
  assert.deepEqual(editorToken?.scope, expected.plugin);
  assert.deepEqual(editorToken.permissions, ['read', 'write', 'deploy']);
  assert.equal(await editorTokens.find(tokens.expired, start + 1), undefined);

  assert.deepEqual(await drafts.find(expected.plugin), {
    source: sources.draft,
    digest: sourceDigestOf(sources.draft),
    revision: revisions.draft,
    etag: etags.draft,
    updatedAt: start + 20,
  });
  assert.deepEqual(await drafts.find(expected.other), {
    source: sources.other,
    digest: sourceDigestOf(sources.other),
    revision: revisions.other,
    etag: etags.other,
    updatedAt: start + 30,
  });

  assert.equal(await builds.findCurrent(expected.plugin), undefined);
  const built = await builds.find(expected.plugin, sources.second);
  assert.deepEqual(await built?.load(), programOf('second'));
  const wasm = await builds.findCurrent(expected.other);
  assert.deepEqual(await wasm?.load(), { kind: 'wasm', module: 'AGFzbQEAAAA=' });

  assert.deepEqual(await tables.tenants.find(expected.plugin), {
    id: 1,
    environment: expected.plugin.environment,
    tenant: expected.plugin.tenant,
    description: '',
    isSuspended: false,
    limits: {},
    // Its first draft's.
    createdAt: start + 10,
  });
  const first = await versions.find(expected.plugin, 'v1.0.0');
  assert.deepEqual(await first?.load(), programOf('first'));
  assert.equal((await versions.newest(expected.plugin))?.version, 'v1.0.1');
  assert.deepEqual((await versions.findRecord(expected.plugin, 'v1.0.1'))?.source, sources.second);

  assert.deepEqual(await verificationCodes.find(expected.verificationCode), {
    email: 'you@acme.com',
    environment: 'com.acme',
    salt: new Uint8Array(Buffer.from('salt')),
    hash: new Uint8Array(Buffer.from('hash')),
    tries: 1,
    used: false,
    expiresAt: start + 600_000,
  });
});

test('revisions and version numbers continue in a file that was taken over', async (t) => {
  const storage = await openDuring(t, await formerFile(t));
  await build(storage, 'third', expected.plugin);
  assert.equal((await storage.tables.drafts.find(expected.plugin))?.revision, 4);
  assert.equal(await deploy(storage, 'third', expected.plugin), 'v1.0.2');
});

test("tables that are not the service's are left alone", async (t) => {
  const address = await formerFile(t);
  await openDuring(t, address);
  const db = openFile(t, address.file);
  assert.deepEqual({ ...db.prepare('SELECT * FROM vendor_secret').get() }, { id: 1, secret: 'no secret' });
  assert.deepEqual(
    { ...db.prepare('SELECT * FROM vendor_plugin').get() },
    { ident: 'com.example.lena', name: 'add-record' },
  );
});

test('a file that was taken over has the same schema as a new file', async (t) => {
  const [former, fresh] = [await formerFile(t), await freshFile(t)];
  await openDuring(t, former);
  await openDuring(t, fresh);
  const [a, b] = [schemaOf(openFile(t, former.file)), schemaOf(openFile(t, fresh.file))];
  assert.ok(Object.keys(b).length > 8);
  assert.deepEqual(a, b);
});

/** What each table is made of, but for the names of what nobody names. */
function schemaOf(db: InstanceType<typeof DatabaseSync>) {
  const list = (text: string, ...values: string[]) =>
    db
      .prepare(text)
      .all(...values)
      .map((row) => ({ ...row }));
  const names =
    list(`SELECT name, strict FROM pragma_table_list WHERE type = 'table' AND name NOT LIKE 'sqlite_%'
    AND name NOT LIKE 'vendor_%' ORDER BY name`) as { name: string; strict: number }[];
  return Object.fromEntries(
    names.map(({ name, strict }) => [
      name,
      {
        strict,
        columns: list('SELECT * FROM pragma_table_xinfo(?)', name),
        references: list(
          'SELECT "table", "from", "to", seq FROM pragma_foreign_key_list(?) ORDER BY 1, 2',
          name,
        ),
        indexes: list('SELECT "unique", origin, name FROM pragma_index_list(?)', name)
          .map((index) => ({
            unique: index['unique'],
            origin: index['origin'],
            columns: list('SELECT name FROM pragma_index_info(?)', String(index['name'])),
          }))
          .toSorted((x, y) => JSON.stringify(x).localeCompare(JSON.stringify(y))),
        triggers: list("SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ?", name),
      },
    ]),
  );
}

test('a program of the previous release refuses a file that was taken over or is new', async (t) => {
  for (const address of [await formerFile(t), await freshFile(t)]) {
    await openDuring(t, address);
    const version = openFile(t, address.file).prepare('PRAGMA user_version').get()?.['user_version'];
    // It says: "its schema is version 4, and this program knows versions up to 3".
    assert.equal(version, formerSteps.length + 1);
  }
});

/** A data file as the schema was before programs had a table of their own, with the builds and versions given. */
async function oldFile(t: TestContext, versions: readonly string[], built: string) {
  const address = await freshFile(t);
  const db = new DatabaseSync(address.file, { enableForeignKeyConstraints: true });
  for (const step of formerSteps.slice(0, 2)) db.exec(step);
  db.exec(`
    PRAGMA user_version = 2;
    INSERT INTO environments VALUES ('com.acme', 'you@acme.com', 0);
    INSERT INTO drafts VALUES (1, 'com.acme', 't1', 'default', 'x', '${JSON.stringify(sourceOf(built))}', 7, 1, 2);
  `);
  db.prepare("INSERT INTO builds VALUES ('com.acme', 't1', 'default', 'x', ?, ?, 5)").run(
    buildDigestOf(sourceOf(built)),
    JSON.stringify(programOf(built)),
  );
  const add = db.prepare("INSERT INTO versions VALUES ('com.acme', 't1', 'default', 'x', ?, ?, ?, ?)");
  for (const [patch, code] of versions.entries()) {
    add.run(patch, JSON.stringify(sourceOf(code)), JSON.stringify(programOf(code)), 100 + patch);
  }
  db.close();
  return address;
}

test('builds and versions from before programs were stored once keep their programs, and equal ones become one', async (t) => {
  const address = await oldFile(t, ['a', 'b', 'a', 'a'], 'a');
  const storage = await openDuring(t, address);
  const { versions, builds } = storage.tables;
  for (const [patch, code] of ['a', 'b', 'a', 'a'].entries()) {
    assert.deepEqual(await (await versions.find(plugin, `v1.0.${patch}`))?.load(), programOf(code));
  }
  assert.deepEqual(await (await builds.find(plugin, sourceOf('a')))?.load(), programOf('a'));
  assert.deepEqual(await (await builds.findCurrent(plugin))?.load(), programOf('a'));
  assert.equal((await versions.newest(plugin))?.version, 'v1.0.3');
  assert.deepEqual((await versions.findRecord(plugin, 'v1.0.3'))?.source, sourceOf('a'));
  const db = openFile(t, address.file);
  assert.equal(db.prepare('SELECT count(*) AS n FROM programs').get()?.['n'], 2);
  assert.deepEqual(db.prepare('PRAGMA foreign_key_check').all(), []);
  await build(storage, 'c');
  assert.equal(await deploy(storage, 'c'), 'v1.0.4');
});

test('a file of the very first version is taken over', async (t) => {
  const address = await freshFile(t);
  const db = new DatabaseSync(address.file);
  for (const step of formerSteps.slice(0, 1)) db.exec(step);
  db.exec("PRAGMA user_version = 1; INSERT INTO environments VALUES ('com.acme', 'you@acme.com', 0);");
  db.close();
  const { tables } = await openDuring(t, address);
  assert.equal(await tables.environments.owner('com.acme'), 'you@acme.com');
});

test('a file of an unknown version is refused and left alone', async (t) => {
  const address = await freshFile(t);
  const db = openFile(t, address.file);
  db.exec('PRAGMA user_version = 1000');
  await assert.rejects(openStorage(address), /schema is version 1000/);
  assert.equal(db.prepare('PRAGMA user_version').get()?.['user_version'], 1000);
  assert.equal(db.prepare('SELECT count(*) AS n FROM sqlite_master').get()?.['n'], 0);
});
