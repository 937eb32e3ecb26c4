import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { sql } from 'kysely';
import { createToken } from '../../../service/src/tokens.ts';
import { engines, freshDatabase, postgresTest, openDuring, patientStorage } from './databases.ts';
import type { EngineName } from './databases.ts';
import {
  seedTenant,
  build,
  deploy,
  environmentOfToken,
  otherPlugin,
  plugin,
  programOf,
  save,
  setToken,
  sourceOf,
  tokenFor,
} from './plugins.ts';
import { until } from '../../support/until.ts';
import { overwriteDraft, readDraft } from '../../../service/src/storage/tables/drafts.ts';
import { findCurrentBuild } from '../../../service/src/storage/tables/builds.ts';
import { pruneCodes } from '../../../service/src/storage/tables/verification-codes.ts';
import { claimEnvironment, findOwner } from '../../../service/src/storage/tables/environments.ts';
import { addEditorToken } from '../../../service/src/storage/tables/editor-tokens.ts';
import { lockTenant } from '../../../service/src/storage/db.ts';
import { updateTenant } from '../../../service/src/storage/tables/tenants.ts';

/** Two nodes on one database, with connections of their own. */
async function twoNodes(t: TestContext, engine: EngineName) {
  const address = await freshDatabase(t, engine);
  const open = () => openDuring(t, address, patientStorage);
  const nodes = [await open(), await open()] as const;
  await seedTenant(nodes[0]);
  return nodes;
}

const times = <T>(count: number, work: (i: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, i) => work(i)));

for (const engine of engines) {
  test(`${engine}: of twenty saves with the same tag on two nodes, one wins`, async (t) => {
    const nodes = await twoNodes(t, engine);
    let etag = (await save(nodes[0], 'first'))?.etag;
    for (let round = 0; round < 3; round++) {
      const saved = await times(20, (i) => save(nodes[i % 2 ? 1 : 0], `${round} ${i}`, plugin, etag));
      const winners = saved.filter((draft) => draft !== undefined);
      assert.equal(winners.length, 1);
      const now = await readDraft(nodes[1].db, plugin);
      assert.deepEqual(now, winners[0]);
      assert.equal(now?.revision, round + 2);
      etag = now?.etag;
    }
  });

  test(`${engine}: every save on two nodes counts as a revision, the first one too`, async (t) => {
    const nodes = await twoNodes(t, engine);
    const saved = await times(20, (i) => save(nodes[i % 2 ? 1 : 0], String(i)));
    const revisions = saved.map((draft) => draft?.revision ?? 0).toSorted((a, b) => a - b);
    assert.deepEqual(
      revisions,
      Array.from({ length: 20 }, (_, i) => i + 1),
    );
  });

  test(`${engine}: no change of a draft is lost, however many nodes change it at once`, async (t) => {
    const nodes = await twoNodes(t, engine);
    await save(nodes[0], '');
    await times(20, async (i) => {
      const { db } = nodes[i % 2 ? 1 : 0];
      for (let saved; !saved;) {
        const current = await readDraft(db, plugin);
        assert.ok(current);
        const changed = sourceOf(`${current.source.contents} ${i}`);
        saved = await overwriteDraft(db, plugin, changed, { now: i }, current);
      }
    });
    const draft = await readDraft(nodes[0].db, plugin);
    const numbers = draft?.source.contents.trim().split(' ').map(Number) ?? [];
    assert.deepEqual(
      numbers.toSorted((a, b) => a - b),
      Array.from({ length: 20 }, (_, i) => i),
    );
    assert.equal(draft?.revision, 21);
  });

  test(`${engine}: twenty deployments on two nodes make twenty versions without a gap`, async (t) => {
    const nodes = await twoNodes(t, engine);
    await build(nodes[0], 'text');
    const names = await times(20, (i) => deploy(nodes[i % 2 ? 1 : 0], 'text'));
    const patches = names.map((name) => Number(name.replace('v1.0.', ''))).toSorted((a, b) => a - b);
    assert.deepEqual(
      patches,
      Array.from({ length: 20 }, (_, i) => i),
    );
  });

  test(`${engine}: builds of equal programs that replace each other on two nodes lose no program`, async (t) => {
    const nodes = await twoNodes(t, engine);
    const plugins = [plugin, otherPlugin, { ...plugin, pluginName: 'z' }];
    // Each lets go of the program that another is about to refer to.
    await Promise.all(
      plugins.map(async (one, n) => {
        for (let i = 0; i < 25; i++) await build(nodes[(n + i) % 2 ? 1 : 0], (n + i) % 3 ? 'a' : 'b', one);
      }),
    );
    for (const [n, one] of plugins.entries()) {
      const text = (n + 24) % 3 ? 'a' : 'b';
      const stored = await findCurrentBuild(nodes[0].db, one);
      assert.deepEqual(await stored?.load(), programOf(text));
    }
  });

  test(`${engine}: one of twenty addresses that claim an environment on two nodes owns it`, async (t) => {
    const nodes = await twoNodes(t, engine);
    const claims = await times(20, (i) =>
      nodes[i % 2 ? 1 : 0].transaction((db) => claimEnvironment(db, 'com.acme', `${i}@acme.com`)),
    );
    assert.equal(claims.filter(Boolean).length, 1);
    assert.equal(await findOwner(nodes[1].db, 'com.acme'), `${claims.indexOf(true)}@acme.com`);
  });

  test(`${engine}: several nodes can remove expired tokens and old codes at once`, async (t) => {
    const nodes = await twoNodes(t, engine);
    await times(50, () => addEditorToken(nodes[0].db, createToken('editor'), tokenFor(plugin), 0, 1));
    await times(20, async (i) => {
      const node = nodes[i % 2 ? 1 : 0];
      await addEditorToken(node.db, createToken('editor'), tokenFor(plugin), 10, 20);
      await pruneCodes(node.db, i);
    });
  });

  test(`${engine}: simultaneous changes are numbered in the order of their commits`, async (t) => {
    const nodes = await twoNodes(t, engine);
    const environments = Array.from({ length: 20 }, (_, i) => `com.acme.${i}`);
    const tokens = environments.map(() => createToken('environment'));
    for (const [i, environment] of environments.entries()) {
      await setToken(nodes[0], tokens[i] ?? '', environment);
      assert.equal(await environmentOfToken(nodes[1], tokens[i] ?? ''), environment);
    }
    // Were one skipped, the other node would keep a token that has ended.
    await times(20, (i) => setToken(nodes[0], createToken('environment'), environments[i]));
    for (const token of tokens) {
      await until('the end of a token on the other node', async () => {
        return (await environmentOfToken(nodes[1], token)) === undefined;
      });
    }
  });
}

postgresTest('a write that deadlocks with another one is done again', async (t) => {
  const nodes = await twoNodes(t, 'postgres');
  await save(nodes[0], '1', plugin);
  await save(nodes[0], '1', otherPlugin);
  const arrived = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
  let attempts = 0;
  /** Overwrites the two drafts, the second one once the other node has overwritten it. */
  const overwrite = (i: 0 | 1) =>
    nodes[i].transaction(async (db) => {
      attempts += 1;
      for (const one of i ? [plugin, otherPlugin] : [otherPlugin, plugin]) {
        await overwriteDraft(db, one, sourceOf('2'), { now: i });
        arrived[i].resolve();
        await Promise.all(arrived.map(({ promise }) => promise));
      }
    });
  await Promise.all([overwrite(0), overwrite(1)]);
  assert.equal(attempts, 3);
  assert.equal((await readDraft(nodes[0].db, plugin))?.revision, 3);
});

postgresTest('a statement by itself that deadlocks is done again', async (t) => {
  const nodes = await twoNodes(t, 'postgres');
  await save(nodes[0], '1', plugin);
  await save(nodes[0], '1', otherPlugin);
  const begun = Promise.withResolvers<void>();
  const transaction = nodes[1].db.query.transaction().execute(async (query) => {
    // So that the statement finds the deadlock, also on a busy machine.
    await sql`set local deadlock_timeout = '1min'`.execute(query);
    const touch = (pluginId: number) =>
      query.updateTable('drafts').set({ updated_at: 9 }).where('plugin_id', '=', pluginId).execute();
    const [first, second] = await query
      .selectFrom('drafts')
      .select('plugin_id')
      .orderBy('plugin_id')
      .execute();
    assert.ok(first && second);
    await touch(second.plugin_id);
    begun.resolve();
    await until('the statement waits for the second row, and holds the first', async () => {
      const { rows } = await sql<{ count: number }>`select count(*)::int as count from pg_locks
        join pg_stat_activity using (pid) where datname = current_database() and not granted`.execute(query);
      return rows[0]?.count === 1;
    });
    await touch(first.plugin_id);
  });
  await begun.promise;
  const { query } = nodes[0].db;
  const execute = query.updateTable('drafts').set({ lang: 'typescript' }).execute();
  await Promise.all([execute, transaction]);
  const rows = await query.selectFrom('drafts').select(['lang', 'updated_at']).execute();
  const written = { lang: 'typescript', updated_at: 9 };
  assert.deepEqual(rows, [written, written]);
});

postgresTest(
  'a tenant that is getting a plugin is changed later, without a row that this waits for',
  async (t) => {
    const address = await freshDatabase(t, 'postgres');
    const [node, other] = [
      await openDuring(t, address, patientStorage),
      await openDuring(t, address, { postgresLimits: { acquireTimeout: 2000 } }),
    ];
    await seedTenant(node);
    const change = () =>
      other.transaction((db) => updateTenant(db, plugin, { limits: { storageMb: 1 } }), plugin);
    await node.transaction(async (db) => {
      await sql`set local idle_in_transaction_session_timeout = 0`.execute(db.query);
      await lockTenant(db, plugin);
      await assert.rejects(change, ({ cause }: Error) => /a lock was not free/.test(String(cause)));
    });
    assert.equal((await change())?.after.limits.storageMb, 1);
  },
);
