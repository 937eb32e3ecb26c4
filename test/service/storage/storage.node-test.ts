import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { createToken } from '../../../service/src/tokens.ts';
import {
  engines,
  databaseWithSchema,
  freshStorage,
  openForInspection,
  openDuring,
  storedBytes,
} from './databases.ts';
import {
  seedTenant,
  build,
  deploy,
  oddText,
  otherPlugin,
  plugin,
  packedProgramOf,
  programOf,
  save,
  saveSource,
  setToken,
  digestOf,
  sourceOf,
  tokenFor,
  manyTokens,
} from './plugins.ts';
import { createDraft, readDraft, readDraftState } from '../../../service/src/storage/tables/drafts.ts';
import { scopes } from '../../../service/src/plugins/permissions.ts';
import { addFirstTenant, createTenant, findTenant } from '../../../service/src/storage/tables/tenants.ts';
import {
  claimEnvironment,
  findEnvironmentToken,
  findOwner,
  setEnvironmentToken,
  addEnvironment,
} from '../../../service/src/storage/tables/environments.ts';
import {
  addEditorToken,
  endSomeEditorTokens,
  findEditorToken,
} from '../../../service/src/storage/tables/editor-tokens.ts';
import {
  findLiveVersion,
  findNewestVersion,
  findVersion,
  findVersionRecord,
} from '../../../service/src/storage/tables/versions.ts';
import { findBuild, findCurrentBuild, saveBuild } from '../../../service/src/storage/tables/builds.ts';

for (const engine of engines) {
  test(`${engine}: data is there when the database is opened again`, async (t) => {
    const address = await databaseWithSchema(t, engine);
    const first = await openDuring(t, address);
    await seedTenant(first);
    const saved = await save(first, 'text');
    await first.close();
    const draft = await readDraft((await openDuring(t, address)).db, plugin);
    assert.deepEqual(draft, saved);
    assert.deepEqual([draft?.source, draft?.revision, draft?.updatedAt], [sourceOf('text'), 1, 0]);
    assert.match(draft?.etag ?? '', /^"1-[\w-]{16}"$/);
  });

  test(`${engine}: a record may hold any text of JavaScript`, async (t) => {
    const storage = await freshStorage(t, engine);
    await seedTenant(storage);
    const source = {
      // The service takes none but its languages.
      lang: 'javascript',
      contents: oddText,
      tests: [{ name: oddText, payload: oddText }],
      more: [oddText],
    };
    const saved = await saveSource(storage, source, plugin, 1);
    const found = await readDraft(storage.db, plugin);
    assert.deepEqual(found, saved);
    assert.deepEqual(found?.source, source);
  });

  test(`${engine}: names are distinguished by each of their bytes`, async (t) => {
    const storage = await freshStorage(t, engine);
    await seedTenant(storage);
    // The last two look the same, and are the same to a database that compares them as a language does.
    const names = ['a', 'A', 'ä', 'a ', ' a', 'ß', 'ss', '\u00e9', 'e\u0301'];
    for (const pluginName of names) await save(storage, pluginName, { ...plugin, pluginName });
    for (const pluginName of names) {
      const draft = await readDraft(storage.db, { ...plugin, pluginName });
      assert.deepEqual([draft?.source.contents, draft?.revision], [pluginName, 1]);
    }
  });

  test(`${engine}: each save increases the revision, and has a tag of its own`, async (t) => {
    const storage = await freshStorage(t, engine);
    await seedTenant(storage);
    const saved = [await save(storage, 'a'), await save(storage, 'a'), await save(storage, 'b')];
    assert.deepEqual(
      saved.map((draft) => draft?.revision),
      [1, 2, 3],
    );
    assert.equal(new Set(saved.map((draft) => draft?.etag)).size, 3);
    assert.equal((await readDraftState(storage.db, plugin))?.revision, 3);
    assert.equal(await readDraftState(storage.db, otherPlugin), undefined);
  });

  test(`${engine}: a tenant needs a known environment, and a draft a known tenant`, async (t) => {
    const storage = await freshStorage(t, engine);
    const { db } = storage;
    await addFirstTenant(db, plugin, 0);
    assert.equal(await findTenant(db, plugin), undefined);
    const creating = storage.transaction((tx) => createTenant(tx, plugin, {}, 0));
    await assert.rejects(creating, /foreign key/i);
    const saving = storage.transaction((tx) => createDraft(tx, plugin, sourceOf('text'), { now: 0 }));
    assert.equal(await saving, undefined);
    assert.equal(await readDraft(storage.db, plugin), undefined);
  });

  test(`${engine}: a transaction that throws leaves nothing behind`, async (t) => {
    const storage = await freshStorage(t, engine);
    const failing = storage.transaction(async (db) => {
      await addEnvironment(db, 'com.acme', 0);
      await addFirstTenant(db, plugin, 0);
      throw new Error('no');
    });
    await assert.rejects(failing, /^Error: no$/);
    assert.equal(await findTenant(storage.db, plugin), undefined);
    await seedTenant(storage);
    await save(storage, 'text');
  });

  test(`${engine}: nobody sees what a transaction has not committed`, async (t) => {
    const storage = await freshStorage(t, engine);
    await seedTenant(storage);
    const { promise: isSaved, resolve: resolveSaved } = Promise.withResolvers<void>();
    const { promise: mayEnd, resolve: letEnd } = Promise.withResolvers<void>();
    const saving = storage.transaction(async (db) => {
      await createDraft(db, plugin, sourceOf('text'), { now: 0 });
      assert.ok(await readDraft(db, plugin));
      resolveSaved();
      await mayEnd;
    });
    await isSaved;
    assert.equal(await readDraft(storage.db, plugin), undefined);
    letEnd();
    await saving;
    assert.ok(await readDraft(storage.db, plugin));
  });

  test(`${engine}: a transaction within a transaction is refused, because it would wait for itself`, async (t) => {
    const storage = await freshStorage(t, engine);
    const nested = storage.transaction(() => storage.transaction(async () => {}));
    await assert.rejects(nested, /This is in a transaction/);
    await storage.transaction(async () => {});
  });

  test(`${engine}: closing waits for an open transaction`, async (t) => {
    const address = await databaseWithSchema(t, engine);
    const storage = await openDuring(t, address);
    const { promise: began, resolve: resolveBegan } = Promise.withResolvers<void>();
    const saving = storage.transaction(async (db) => {
      await addEnvironment(db, 'com.acme', 0);
      await addFirstTenant(db, plugin, 0);
      resolveBegan();
      await new Promise((resolve) => setImmediate(resolve));
      await createDraft(db, plugin, sourceOf('text'), { now: 0 });
    });
    await began;
    await storage.close();
    await saving;
    assert.ok(await readDraft((await openDuring(t, address)).db, plugin));
  });

  test(`${engine}: an environment belongs to the first that claims it, and has a token for each holder`, async (t) => {
    const storage = await freshStorage(t, engine);
    const { db } = storage;
    await seedTenant(storage);
    assert.equal(await findOwner(db, 'com.acme'), undefined);
    assert.equal(await claimEnvironment(db, 'com.acme', 'you@acme.com'), true);
    assert.equal(await claimEnvironment(db, 'com.acme', 'other@acme.com'), false);
    assert.equal(await claimEnvironment(db, 'com.acme', 'you@acme.com'), true);
    assert.equal(await findOwner(db, 'com.acme'), 'you@acme.com');
    const [first, second, demo] = [1, 2, 3].map(() => createToken('environment')) as [string, string, string];
    await setToken(storage, first);
    await storage.transaction((tx) =>
      setEnvironmentToken(tx, 'com.acme', { holder: 'demo', token: demo }, 0),
    );
    await setToken(storage, second);
    const found = await Promise.all([first, second, demo].map((token) => findEnvironmentToken(db, token, 0)));
    assert.deepEqual(
      found.map((one) => one && [one.environment, one.holder, one.scopes]),
      [undefined, ['com.acme', 'owner', scopes], ['com.acme', 'demo', scopes]],
    );
  });

  test(`${engine}: an editor token opens its plugin until it expires, and is then deleted`, async (t) => {
    const address = await databaseWithSchema(t, engine);
    const storage = await openDuring(t, address);
    await seedTenant(storage);
    const [early, late] = [createToken('editor'), createToken('editor')];
    await addEditorToken(storage.db, early, tokenFor(plugin), 0, 100);
    assert.deepEqual(await findEditorToken(storage.db, early, 99), {
      ...tokenFor(plugin),
      expiresAt: 100,
      isSuspended: false,
    });
    assert.equal(await findEditorToken(storage.db, early, 100), undefined);
    assert.equal(await findEditorToken(storage.db, late, 0), undefined);
    await addEditorToken(storage.db, late, tokenFor(otherPlugin), 100, 200);
    assert.equal(await findEditorToken(storage.db, early, 0), undefined);
    assert.deepEqual((await findEditorToken(storage.db, late, 100))?.scope, otherPlugin);
  });

  test(`${engine}: one statement deletes only some of many editor tokens`, async (t) => {
    const storage = await freshStorage(t, engine);
    await seedTenant(storage);
    const { db } = storage;
    const tenant = await findTenant(db, plugin);
    assert.ok(tenant);
    const left = async () =>
      (await db.query.selectFrom('editor_tokens').select('expires_at').execute()).length;
    const addTokens = (count: number) =>
      db.query.insertInto('editor_tokens').values(manyTokens(tenant.id, count)).execute();
    await addTokens(250);
    await addEditorToken(db, createToken('editor'), tokenFor(plugin), 100, 200);
    assert.equal(await left(), 51);
    await addEditorToken(db, createToken('editor'), tokenFor(plugin), 100, 200);
    assert.equal(await left(), 2);
    await addTokens(250);
    const ended = [];
    for (let i = 0; i < 2; i++) ended.push([await endSomeEditorTokens(db, tenant.id), await left()]);
    assert.deepEqual(ended, [
      [true, 52],
      [false, 0],
    ]);
  });

  test(`${engine}: no token is stored in plain text`, async (t) => {
    const address = await databaseWithSchema(t, engine);
    const storage = await openDuring(t, address);
    const tokens = [createToken('environment'), createToken('editor')] as const;
    await setToken(storage, tokens[0]);
    await seedTenant(storage);
    assert.equal(await addEditorToken(storage.db, tokens[1], tokenFor(plugin), 0, 1), true);
    const bytes = await storedBytes(t, address);
    assert.ok(bytes.includes('com.acme'));
    for (const token of tokens) {
      const secret = /^pe_[a-z]+_(.+)$/.exec(token)?.[1] ?? '';
      assert.equal(secret.length, 43);
      assert.ok(!bytes.includes(secret));
      assert.ok(!bytes.includes(Buffer.from(secret, 'base64url')));
    }
  });

  test(`${engine}: a program is stored once, however many builds and versions refer to it`, async (t) => {
    const { storage, codes } = await withCodes(t, engine);
    await build(storage, 'same');
    await build(storage, 'same', otherPlugin);
    assert.equal(await deploy(storage, 'same'), 'v1.0.0');
    assert.equal(await deploy(storage, 'same', otherPlugin), 'v1.0.0');
    assert.deepEqual(await codes(), ['same']);
    const { db } = storage;
    const stored = [
      await findBuild(db, plugin, digestOf('same')),
      await findVersion(db, plugin, 'v1.0.0'),
      await findNewestVersion(db, otherPlugin),
    ];
    assert.match(stored[0]?.hash ?? '', /^[0-9a-f]{64}$/);
    assert.equal(new Set(stored.map((one) => one?.hash)).size, 1);
    // What holds the same program at the same time shares one copy of it.
    const [first, second] = await Promise.all([stored[0]?.load(), stored[2]?.load()]);
    assert.deepEqual(first, programOf('same'));
    assert.equal(second, first);
  });

  test(`${engine}: replacing a build deletes its program, unless something else refers to it`, async (t) => {
    const { storage, codes } = await withCodes(t, engine);
    await build(storage, 'first');
    await build(storage, 'second');
    assert.deepEqual(await codes(), ['second']);
    await build(storage, 'second');
    assert.deepEqual(await codes(), ['second']);
    await deploy(storage, 'second');
    await build(storage, 'third');
    await build(storage, 'third', otherPlugin);
    await build(storage, 'fourth');
    assert.deepEqual(await codes(), ['fourth', 'second', 'third']);
    assert.deepEqual(await (await findNewestVersion(storage.db, plugin))?.load(), programOf('second'));
  });

  test(`${engine}: a build that is undone keeps the program that it would have replaced`, async (t) => {
    const { storage, codes } = await withCodes(t, engine);
    await build(storage, 'first');
    const failing = storage.transaction(async (db) => {
      await saveBuild(db, plugin, {
        program: await packedProgramOf(db, 'second'),
        digest: digestOf('second'),
        now: 0,
      });
      throw new Error('no');
    });
    await assert.rejects(failing, /^Error: no$/);
    assert.deepEqual(await codes(), ['first']);
    const stored = await findBuild(storage.db, plugin, digestOf('first'));
    assert.deepEqual(await stored?.load(), programOf('first'));
  });

  test(`${engine}: reading a program that was removed meanwhile is an error that says so`, async (t) => {
    const storage = await freshStorage(t, engine);
    await build(storage, 'first');
    const stored = await findBuild(storage.db, plugin, digestOf('first'));
    await build(storage, 'second');
    await assert.rejects(async () => stored?.load(), /The program [0-9a-f]{64} is no longer stored/);
  });

  test(`${engine}: a draft counts as built while its text and language are those of its last build`, async (t) => {
    const storage = await freshStorage(t, engine);
    const { db } = storage;
    await build(storage, 'first');
    assert.deepEqual(await (await findCurrentBuild(db, plugin))?.load(), programOf('first'));
    await save(storage, 'second');
    assert.equal(await findCurrentBuild(db, plugin), undefined);
    assert.equal(await findBuild(db, plugin, digestOf('second')), undefined);
    assert.ok(await findBuild(db, plugin, digestOf('first')));
    await saveSource(storage, { ...sourceOf('first'), tests: [{ name: 'one' }] });
    assert.ok(await findCurrentBuild(db, plugin));
    await saveSource(storage, { ...sourceOf('first'), lang: 'typescript' });
    assert.equal(await findCurrentBuild(db, plugin), undefined);
  });

  test(`${engine}: versions are numbered from v1.0.0, and text that is no version is not found`, async (t) => {
    const storage = await freshStorage(t, engine);
    const { db } = storage;
    assert.equal(await findNewestVersion(db, plugin), undefined);
    assert.equal(await findLiveVersion(db, plugin), undefined);
    for (const [patch, text] of ['a', 'b', 'c'].entries()) {
      await build(storage, text);
      assert.equal(await deploy(storage, text), `v1.0.${patch}`);
    }
    assert.deepEqual(await (await findVersion(db, plugin, 'v1.0.1'))?.load(), programOf('b'));
    assert.deepEqual(await (await findNewestVersion(db, plugin))?.load(), programOf('c'));
    assert.deepEqual((await findVersionRecord(db, plugin, 'v1.0.2'))?.source, JSON.stringify(sourceOf('c')));
    for (const name of [
      'v1.0.3',
      'v1.0.01',
      'v1.1.0',
      'v1.0.-1',
      'v1.0.999999999999999',
      'v1.0.9999999999999999',
      '',
    ]) {
      assert.equal(await findVersion(db, plugin, name), undefined, name);
    }
  });

  test(`${engine}: the database refuses to change a version, and allows to delete a plugin with all it has`, async (t) => {
    const address = await databaseWithSchema(t, engine);
    const storage = await openDuring(t, address);
    await build(storage, 'first');
    await deploy(storage, 'first');
    const db = await openForInspection(t, address);
    await assert.rejects(sql`update versions set record = '{}'`.execute(db), /a version is never changed/);
    await assert.rejects(sql`delete from programs`.execute(db), /foreign key/i);
    for (const table of ['builds', 'versions', 'drafts', 'plugins', 'programs']) {
      await sql`delete from ${sql.table(table)}`.execute(db);
    }
  });
}

/** A storage, and which programs are in its database. */
async function withCodes(t: Parameters<typeof databaseWithSchema>[0], engine: (typeof engines)[number]) {
  const address = await databaseWithSchema(t, engine);
  const storage = await openDuring(t, address);
  const db = await openForInspection(t, address);
  const codes = async () => {
    const rows = await db.selectFrom('programs').select('program').orderBy('program').execute();
    return rows.map(({ program }) => (JSON.parse(program) as { code: string }).code);
  };
  return { storage, codes };
}
