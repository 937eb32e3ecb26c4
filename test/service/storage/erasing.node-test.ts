import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import { createToken } from '../../../service/src/tokens.ts';
import { Eraser } from '../../../service/src/storage/erasing/eraser.ts';
import type { Schema } from '../../../service/src/storage/schema.ts';
import type { Storage } from '../../../service/src/storage/storage.ts';
import {
  cleanUpFirst,
  engines,
  databaseWithSchema,
  openForInspection,
  openDuring,
  patientStorage,
  postgresTest,
} from './databases.ts';
import type { EngineName } from './databases.ts';
import {
  build,
  deploy,
  otherPlugin,
  plugin,
  packedProgramOf,
  programOf,
  save,
  digestOf,
  sourceOf,
  tokenFor,
} from './plugins.ts';
import { until } from '../../support/until.ts';
import {
  addFirstTenant,
  createTenant,
  deleteTenant,
  findTenant,
} from '../../../service/src/storage/tables/tenants.ts';
import { findOwnerId, setConnectionValue } from '../../../service/src/storage/tables/connection-values.ts';
import { deletePlugin, pluginExists } from '../../../service/src/storage/tables/plugins.ts';
import { addEditorToken, findEditorToken } from '../../../service/src/storage/tables/editor-tokens.ts';
import { overwriteDraft, readDraft, readDraftState } from '../../../service/src/storage/tables/drafts.ts';
import { findNewestVersion, findVersion } from '../../../service/src/storage/tables/versions.ts';
import { findCurrentBuild, saveBuild } from '../../../service/src/storage/tables/builds.ts';
import { lockPlugin, lockTenant } from '../../../service/src/storage/db.ts';
import { eraseSome } from '../../../service/src/storage/erasing/erase.ts';

const neighbour = { ...plugin, tenant: 't2' };

async function setUp(t: TestContext, engine: EngineName) {
  const address = await databaseWithSchema(t, engine);
  const storage = await openDuring(t, address, patientStorage);
  return { address, storage, db: await openForInspection(t, address) };
}

const removeTenant = (storage: Storage, tenant = plugin) =>
  storage.transaction(async (db) => {
    await lockTenant(db, tenant);
    return deleteTenant(db, tenant, 1);
  });

const removePlugin = (storage: Storage, of = plugin) =>
  storage.transaction(async (db) => {
    await lockPlugin(db, of);
    return deletePlugin(db, of, 1);
  });

const eraseOnce = (storage: Storage) => storage.transaction((db) => eraseSome(db, 2, 10));

async function eraseAll(storage: Storage): Promise<number> {
  let transactions = 0;
  while (await eraseOnce(storage)) transactions += 1;
  return transactions;
}

/** How many rows there are of what hangs on plugins and tenants. */
async function rowsIn(db: Kysely<Schema>) {
  const count = async (
    table: 'drafts' | 'builds' | 'versions' | 'programs' | 'plugins' | 'editor_tokens',
  ) => {
    const { n } = await db
      .selectFrom(table)
      .select(({ fn }) => fn.countAll<number>().as('n'))
      .executeTakeFirstOrThrow();
    return n;
  };
  return {
    drafts: await count('drafts'),
    builds: await count('builds'),
    versions: await count('versions'),
    programs: await count('programs'),
    plugins: await count('plugins'),
    tokens: await count('editor_tokens'),
  };
}

for (const engine of engines) {
  test(`${engine}: a deleted tenant is erased with all that it had, and nothing of others is`, async (t) => {
    const { storage, db } = await setUp(t, engine);
    for (const one of [plugin, otherPlugin, neighbour]) {
      // More versions than go at once, and a program that two tenants share.
      for (let i = 0; i < 12; i++) {
        await build(storage, i === 0 ? 'shared' : `${one.tenant} ${one.pluginName} ${i}`, one);
        await deploy(storage, i === 0 ? 'shared' : `${one.tenant} ${one.pluginName} ${i}`, one);
      }
      await addEditorToken(storage.db, createToken('editor'), tokenFor(one), 0, 100);
    }
    const before = await rowsIn(db);
    assert.deepEqual(before, { drafts: 3, builds: 3, versions: 36, programs: 34, plugins: 3, tokens: 3 });
    assert.equal(await eraseOnce(storage), false);
    assert.equal(await removeTenant(storage), true);
    assert.equal(await removeTenant(storage), false);
    // At once, though all of it is still there.
    assert.equal(await readDraft(storage.db, plugin), undefined);
    assert.equal(await findVersion(storage.db, plugin, 'v1.0.0'), undefined);
    assert.equal(await findNewestVersion(storage.db, plugin), undefined);
    assert.equal(await findCurrentBuild(storage.db, plugin), undefined);
    assert.equal(await overwriteDraft(storage.db, plugin, sourceOf('late'), { now: 3 }), undefined);
    assert.deepEqual(await rowsIn(db), before);
    // Three with versions, ten at a time, and one of the tokens, which says that this was all.
    assert.equal(await eraseAll(storage), 4);
    assert.deepEqual(await rowsIn(db), {
      drafts: 1,
      builds: 1,
      versions: 12,
      programs: 12,
      plugins: 1,
      tokens: 1,
    });
    const shared = await findVersion(storage.db, neighbour, 'v1.0.0');
    assert.deepEqual(await shared?.load(), programOf('shared'));
    await addFirstTenant(storage.db, plugin, 3);
    assert.equal(await findTenant(storage.db, plugin), undefined);
  });

  test(`${engine}: a tenant that is created anew has nothing of its predecessor, which is still being erased`, async (t) => {
    const { storage, db } = await setUp(t, engine);
    await build(storage, 'old');
    await deploy(storage, 'old');
    await removeTenant(storage);
    const create = () => storage.transaction((tx) => createTenant(tx, plugin, {}, 3));
    assert.ok(await create());
    assert.equal(await create(), undefined);
    assert.equal(await readDraft(storage.db, plugin), undefined);
    await build(storage, 'new');
    assert.equal(await deploy(storage, 'new'), 'v1.0.0');
    await eraseAll(storage);
    assert.deepEqual((await readDraft(storage.db, plugin))?.source, sourceOf('new'));
    const version = await findVersion(storage.db, plugin, 'v1.0.0');
    assert.deepEqual(await version?.load(), programOf('new'));
    assert.equal((await rowsIn(db)).versions, 1);
  });

  test(`${engine}: a deleted plugin leaves its last version's number, from which its name continues`, async (t) => {
    const { storage, db } = await setUp(t, engine);
    const ofPlugin = createToken('editor');
    const ofTenant = createToken('editor');
    for (let round = 0; round < 3; round++) {
      await build(storage, 'text');
      assert.equal(await deploy(storage, 'text'), `v1.0.${round * 2}`);
      assert.equal(await deploy(storage, 'text'), `v1.0.${round * 2 + 1}`);
      await addEditorToken(storage.db, ofPlugin, tokenFor(plugin), 0, 100);
      if (round === 0) {
        const { environment, tenant } = plugin;
        await addEditorToken(
          storage.db,
          ofTenant,
          { scope: { environment, tenant }, permissions: ['read'] },
          0,
          100,
        );
      }
      assert.equal(await removePlugin(storage), true);
      assert.equal(await removePlugin(storage), false);
      assert.equal(await pluginExists(storage.db, plugin), false);
      assert.equal(await findNewestVersion(storage.db, plugin), undefined);
      assert.equal(await findEditorToken(storage.db, ofPlugin, 1), undefined);
      assert.ok(await findEditorToken(storage.db, ofTenant, 1));
      // Made anew before or after the former one is erased.
      if (round !== 1) await eraseAll(storage);
    }
    assert.deepEqual(await rowsIn(db), {
      drafts: 0,
      builds: 0,
      versions: 0,
      programs: 0,
      plugins: 1,
      tokens: 1,
    });
    await save(storage, 'text');
    await eraseAll(storage);
    assert.equal((await rowsIn(db)).plugins, 1);
    await removeTenant(storage);
    await eraseAll(storage);
    assert.equal((await rowsIn(db)).plugins, 0);
  });

  test(`${engine}: deployments and builds that race with a deletion fail or are erased, and leave nothing behind`, async (t) => {
    const { address, storage, db } = await setUp(t, engine);
    const other = await openDuring(t, address, patientStorage);
    for (let round = 0; round < 10; round++) {
      await build(storage, 'first');
      const racing = Array.from({ length: 6 }, async (_, i) => {
        const node = i % 2 ? storage : other;
        if (i === 2) return removeTenant(storage);
        if (i > 3) return deploy(node, 'first');
        return node.transaction(async (tx) => {
          await lockPlugin(tx, plugin);
          if (await readDraftState(tx, plugin)) {
            await saveBuild(tx, plugin, {
              program: await packedProgramOf(tx, `${round} ${i}`),
              digest: digestOf('first'),
              now: 0,
            });
          }
        });
      });
      const erasing = eraseAll(other);
      const ends = await Promise.allSettled(racing);
      await erasing;
      await eraseAll(storage);
      for (const end of ends) {
        if (end.status === 'fulfilled') continue;
        // What was asked for in vain is said plainly, and is no broken reference.
        assert.match(String(end.reason), /DeletedError|AssertionError/);
      }
      assert.deepEqual(await rowsIn(db), {
        drafts: 0,
        builds: 0,
        versions: 0,
        programs: 0,
        plugins: 0,
        tokens: 0,
      });
      await storage.transaction((tx) => createTenant(tx, plugin, {}, 3));
    }
  });

  test(`${engine}: only one of two nodes erases at a time, and each continues what the other left`, async (t) => {
    const { address, storage, db } = await setUp(t, engine);
    const other = await openDuring(t, address, patientStorage);
    for (let i = 0; i < 20; i++) await build(storage, `${i}`, { ...plugin, pluginName: `p${i}` });
    await removeTenant(storage);
    await eraseOnce(storage);
    assert.equal((await rowsIn(db)).plugins, 10);
    const erasers = [storage, other].map((node) => {
      const eraser = new Eraser(node, { interval: 20, onError: (error) => assert.fail(String(error)) });
      cleanUpFirst(t, () => eraser.close());
      eraser.wake();
      return eraser;
    });
    assert.equal(erasers.length, 2);
    await until('all is erased', async () => {
      const row = await db.selectFrom('tenants').select('erased_at').executeTakeFirst();
      return row?.erased_at != null;
    });
    assert.equal((await rowsIn(db)).plugins, 0);
  });
}

postgresTest('postgres: a node leaves erasing to another one that is already doing it', async (t) => {
  const { address, storage } = await setUp(t, 'postgres');
  const other = await openDuring(t, address);
  await build(storage, 'text');
  await removeTenant(storage);
  await storage.transaction(async (db) => {
    assert.equal(await eraseSome(db, 2, 10), true);
    assert.equal(await eraseOnce(other), false);
  });
  assert.equal(await eraseOnce(other), true);
});

postgresTest('postgres: the value of a connection does not outlive its tenant', async (t) => {
  const { address, storage, db } = await setUp(t, 'postgres');
  const other = await openDuring(t, address, patientStorage);
  await build(storage, 'text');
  let isErased = false;
  let erasing: Promise<unknown> | undefined;
  await storage.transaction(async (tx) => {
    // It idles while the other connections are looked at.
    await sql`set local idle_in_transaction_session_timeout = 0`.execute(tx.query);
    const ownerId = (await findOwnerId(tx, plugin, true)) ?? assert.fail();
    erasing = (async () => {
      await removeTenant(other);
      await eraseAll(other);
      isErased = true;
    })();
    const waiting = sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    await until(
      'the eraser to wait, or to be done',
      async () => isErased || (await waiting.execute(db)).rows.length > 0,
    );
    const { environment, namespace } = plugin;
    const key = { environment, namespace, ownerId, connection: 'rates' };
    await setConnectionValue(tx, key, { sealed: 'secret' }, 0);
  });
  await erasing;
  assert.deepEqual(await db.selectFrom('connection_values').selectAll().execute(), []);
});
