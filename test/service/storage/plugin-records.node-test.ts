import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PluginKey } from '../../../service/src/plugins/plugin-key.ts';
import type { Storage } from '../../../service/src/storage/storage.ts';
import { noDigests } from '../../../service/src/storage/tables/digest.ts';
import { engines, freshStorage } from './databases.ts';
import { seedTenant, build, deploy, plugin, save } from './plugins.ts';
import { deletePlugin, pinVersion } from '../../../service/src/storage/tables/plugins.ts';
import { findPluginRecord, listPluginRecords } from '../../../service/src/storage/tables/plugin-records.ts';
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
}
