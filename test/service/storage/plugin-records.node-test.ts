import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PluginKey } from '../../../service/src/plugins/plugin-key.ts';
import type { Storage } from '../../../service/src/storage/storage.ts';
import { noDigests } from '../../../service/src/storage/tables/digest.ts';
import { engines, freshStorage } from './databases.ts';
import { seedTenant, build, deploy, otherPlugin, plugin, save, sourceOf } from './plugins.ts';
import { deletePlugin, pinVersion } from '../../../service/src/storage/tables/plugins.ts';
import { findPluginRecord, listPluginRecords } from '../../../service/src/storage/tables/plugin-records.ts';
import {
  findLiveVersion,
  findVersionRecord,
  listVersions,
} from '../../../service/src/storage/tables/versions.ts';
import { lockPlugin } from '../../../service/src/storage/db.ts';

const pin = (storage: Storage, version: string | undefined, of: PluginKey = plugin, actor?: string) =>
  storage.transaction(async (db) => {
    await lockPlugin(db, of);
    return pinVersion(db, of, version, { now: 7, actor });
  });

const remove = (storage: Storage, of: PluginKey = plugin) =>
  storage.transaction(async (db) => {
    await lockPlugin(db, of);
    return deletePlugin(db, of, 9);
  });

for (const engine of engines) {
  test(`${engine}: a plugin exists with its draft, its build, its versions and its live version`, async (t) => {
    const storage = await freshStorage(t, engine);
    await seedTenant(storage);
    const { db } = storage;
    assert.equal(await findPluginRecord(db, plugin), undefined);
    const draft = await save(storage, 'a');
    const fresh = {
      namespace: 'default',
      name: 'x',
      lang: 'javascript',
      draft: { etag: draft?.etag, savedAt: 0 },
      isBuilt: false,
      latest: undefined,
      pinned: undefined,
      versions: 0,
      nextVersion: 'v1.0.0',
      digest: draft?.digest,
      latestDigest: undefined,
      digests: noDigests,
      isOutdated: false,
    };
    assert.deepEqual(await findPluginRecord(db, plugin), fresh);
    await build(storage, 'a');
    assert.equal((await findPluginRecord(db, plugin))?.isBuilt, true);
    await deploy(storage, 'a');
    await build(storage, 'b');
    await deploy(storage, 'b');
    await save(storage, 'c');
    const { isBuilt, latest, versions, pinned } = (await findPluginRecord(db, plugin)) ?? {};
    assert.deepEqual([isBuilt, latest, versions, pinned], [false, 'v1.0.1', 2, undefined]);
    assert.equal(await pin(storage, 'v1.0.0', plugin, 'ada'), true);
    assert.deepEqual((await findPluginRecord(db, plugin))?.pinned, {
      version: 'v1.0.0',
      at: 7,
      actor: 'ada',
    });
    assert.equal(await pin(storage, undefined), true);
    assert.equal((await findPluginRecord(db, plugin))?.pinned, undefined);
  });

  test(`${engine}: the live version is the newest, or the one that was made live despite later deployments`, async (t) => {
    const storage = await freshStorage(t, engine);
    const { db } = storage;
    const live = async () => {
      const found = await findLiveVersion(db, plugin);
      assert.equal((await storage.runs.liveVersion(plugin))?.version, found?.version);
      return found && [found.version, found.isPinned];
    };
    assert.equal(await pin(storage, 'v1.0.0'), false);
    for (const text of ['a', 'b']) {
      await build(storage, text);
      await deploy(storage, text);
    }
    assert.deepEqual(await live(), ['v1.0.1', false]);
    for (const none of ['v1.0.2', 'v1.0.00', '1.0.0', 'x']) assert.equal(await pin(storage, none), false);
    assert.deepEqual(await live(), ['v1.0.1', false]);
    assert.equal(await pin(storage, 'v1.0.0'), true);
    await build(storage, 'c');
    await deploy(storage, 'c');
    assert.deepEqual(await live(), ['v1.0.0', true]);
    assert.equal(await pin(storage, undefined), true);
    assert.deepEqual(await live(), ['v1.0.2', false]);
  });

  test(`${engine}: versions are listed newest first, page by page, and each can be read with its source`, async (t) => {
    const storage = await freshStorage(t, engine);
    const { db } = storage;
    assert.deepEqual(await listVersions(db, plugin, { limit: 5 }), []);
    for (const text of ['a', 'b', 'c']) {
      await build(storage, text);
      await deploy(storage, text);
    }
    const [newest, second] = await listVersions(db, plugin, { limit: 2 });
    assert.deepEqual([newest?.version, second?.version], ['v1.0.2', 'v1.0.1']);
    const rest = await listVersions(db, plugin, { before: second?.patch, limit: 2 });
    assert.deepEqual(
      rest.map(({ version }) => version),
      ['v1.0.0'],
    );
    const found = await findVersionRecord(db, plugin, 'v1.0.1');
    assert.deepEqual([found?.source, found?.record], [JSON.stringify(sourceOf('b')), second]);
    assert.equal(await findVersionRecord(db, plugin, 'v1.0.3'), undefined);
  });

  test(`${engine}: plugins are listed by the bytes of namespace and name, each once, while others come and go`, async (t) => {
    const storage = await freshStorage(t, engine);
    await seedTenant(storage);
    const { db } = storage;
    const [environment, tenant] = [plugin.environment, plugin.tenant];
    // By UTF-16 units the last two would come the other way round.
    const names = ['B', 'a', 'a b', 'b', 'ä', '\ufb00', '\u{1f600}'];
    for (const pluginName of names.toReversed()) await save(storage, 'text', { ...plugin, pluginName });
    await save(storage, 'text', { ...plugin, namespace: 'a', pluginName: 'z' });
    await save(storage, 'text', { ...plugin, tenant: 't2', pluginName: 'other' }).catch(() => {});
    const all: string[] = [];
    let after: [string, string] | undefined;
    for (let page = 0; ; page++) {
      const rows = await listPluginRecords(db, { environment, tenant }, { after, limit: 2 });
      all.push(...rows.map(({ namespace, name }) => `${namespace} ${name}`));
      const last = rows.at(-1);
      if (!last) break;
      after = [last.namespace, last.name];
      // One comes before what was listed, and one that was listed goes.
      if (page === 1) await save(storage, 'text', { ...plugin, pluginName: 'A' });
      if (page === 2) await remove(storage, { ...plugin, pluginName: 'a' });
    }
    assert.deepEqual(all, ['a z', ...names.map((name) => `default ${name}`)]);
    const inNamespace = await listPluginRecords(db, { environment, tenant, namespace: 'a' }, { limit: 9 });
    assert.deepEqual(
      inNamespace.map(({ name }) => name),
      ['z'],
    );
    const one = await listPluginRecords(
      db,
      { environment, tenant, namespace: 'default', pluginName: 'b' },
      { limit: 9 },
    );
    assert.deepEqual(
      one.map(({ name }) => name),
      ['b'],
    );
  });

  test(`${engine}: a deleted plugin is in no list, and a new one of its name continues from its last version`, async (t) => {
    const storage = await freshStorage(t, engine);
    await seedTenant(storage);
    for (const one of [plugin, otherPlugin]) {
      await build(storage, 'a', one);
      await deploy(storage, 'a', one);
    }
    await pin(storage, 'v1.0.0');
    assert.ok(await storage.runs.liveVersion(plugin));
    assert.equal(await remove(storage), true);
    assert.equal(await remove(storage), false);
    assert.equal(await findPluginRecord(storage.db, plugin), undefined);
    assert.equal(await storage.runs.liveVersion(plugin), undefined);
    assert.equal(await pin(storage, 'v1.0.0'), false);
    assert.ok(await findPluginRecord(storage.db, otherPlugin));
    await build(storage, 'b');
    const { latest, versions, pinned } = (await findPluginRecord(storage.db, plugin)) ?? {};
    assert.deepEqual([latest, versions, pinned], [undefined, 0, undefined]);
    assert.equal(await findLiveVersion(storage.db, plugin), undefined);
    assert.equal(await deploy(storage, 'b'), 'v1.0.1');
    assert.equal((await findPluginRecord(storage.db, plugin))?.versions, 1);
  });
}
