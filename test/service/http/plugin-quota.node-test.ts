import assert from 'node:assert/strict';
import { test } from 'node:test';
import { source, startService } from '../harness.ts';
import { bearer, errorOf } from '../harness.ts';
import { openDuring, patientStorage } from '../storage/databases.ts';
import { countPlugins } from '../../../service/src/storage/tables/tenants.ts';

const pathOf = (name: string, tenant = 't1') => `com.acme.${tenant}/default/${name}`;

/** Two nodes on one database, and how to make a plugin on either. */
async function twoNodes(t: Parameters<typeof startService>[0], tenantPlugins: number) {
  const first = await startService(t, { tenantPlugins });
  const storage = await openDuring(t, first.address, patientStorage);
  const second = await startService(t, { tenantPlugins, storage });
  const nodes = [first, second];
  const vendor = await first.environmentToken();
  const tokenOf = (path: string) => first.editorToken(`/auth/v2/access/${path}`, vendor);
  const save = async (path: string, headers: Record<string, string> = {}, node = 0) => {
    const token = await tokenOf(path);
    return (nodes[node] ?? first).save(token, source, headers, `/api/v1/draft/${path}`);
  };
  const build = async (path: string, node = 0) =>
    (nodes[node] ?? first).fetch(`/api/v1/build/javascript/${path}`, {
      method: 'POST',
      headers: { ...bearer(await tokenOf(path)), 'content-type': 'text/plain' },
      body: source.contents,
    });
  return { storage: first.storage, save, build };
}

const refusal = {
  status: 403,
  code: 'too-many-plugins',
  message: 'This tenant already has 3 plugins, which is its limit.',
};

test('a tenant cannot create more plugins than its quota, and can still change those that it has', async (t) => {
  const { save, build } = await twoNodes(t, 3);
  for (const name of ['a', 'b', 'c']) assert.equal((await save(pathOf(name))).status, 200);
  assert.deepEqual(await errorOf(await save(pathOf('d'))), refusal);
  assert.deepEqual(await errorOf(await save(pathOf('d'), { 'if-none-match': '*' })), refusal);
  assert.deepEqual(await errorOf(await build(pathOf('d'))), refusal);
  assert.equal((await save(pathOf('d'), { 'if-match': '*' })).status, 412);
  assert.equal((await save(pathOf('a'))).status, 200);
  assert.equal((await save(pathOf('a'), { 'if-match': '*' })).status, 200);
  assert.equal((await build(pathOf('a'))).status, 200);
  assert.equal((await save(pathOf('d', 't2'))).status, 200);
});

test('twenty simultaneous creations on two nodes make exactly as many plugins as the quota allows', async (t) => {
  const { storage, save, build } = await twoNodes(t, 10);
  for (let i = 0; i < 5; i++) await save(pathOf(`first-${i}`));
  const made = await Promise.all(
    Array.from({ length: 20 }, (_, i) => {
      const path = pathOf(`racing-${i}`);
      // In each of the ways in which a plugin is made.
      if (i % 3 === 0) return build(path, i % 2);
      return save(path, i % 3 === 1 ? { 'if-none-match': '*' } : {}, i % 2);
    }),
  );
  assert.equal(made.filter(({ status }) => status === 200).length, 5);
  assert.equal(made.filter(({ status }) => status === 403).length, 15);
  assert.equal(await countPlugins(storage.db, { environment: 'com.acme', tenant: 't1' }), 10);
});

test('a plugin that two requests create at once counts once', async (t) => {
  const { save } = await twoNodes(t, 1);
  const saved = await Promise.all(Array.from({ length: 10 }, (_, i) => save(pathOf('same'), {}, i % 2)));
  assert.deepEqual(new Set(saved.map(({ status }) => status)), new Set([200]));
});

test('a quota of zero allows no plugin', async (t) => {
  const { save } = await twoNodes(t, 0);
  assert.equal((await save(pathOf('a'))).status, 403);
});
