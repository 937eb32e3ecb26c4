import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { lockTenant } from '../../../../service/src/storage/db.ts';
import { deleteTenant } from '../../../../service/src/storage/tables/tenants.ts';
import { until } from '../../../support/until.ts';
import { bearer } from '../../harness.ts';
import { startAuthor } from './deployed-plugin.ts';
import type { Deployed, PluginDetails } from './deployed-plugin.ts';

interface Rollout {
  version: string;
  percent: number;
  startedAt: string;
  actor?: string;
  stop?: { runs: number; failures: number };
  runs: number;
  failures: number;
  live: { version: string; runs: number; failures: number };
  stopped?: { at: string; reason: string };
}

const startedAt = '2026-01-01T00:00:00.000Z';

/** An author whose plugin has two versions; the first answers `a`, and fails on `bad`, and the second is not deployed yet. */
async function startRollouts(t: TestContext) {
  const author = await startAuthor(t);
  const { fetch, environmentToken, plugin, okay, send, storage } = author;
  await author.deploy('a');
  const path = `${plugin()}/rollout`;
  const runOn = async (node: { fetch: typeof fetch }, key?: string) => {
    const response = await node.fetch('/exec/name/com.acme.t1/default/add-record', {
      method: 'POST',
      headers: {
        ...bearer(environmentToken),
        'content-type': 'text/plain',
        ...(key !== undefined && { 'x-rollout-key': key }),
      },
    });
    return { version: response.headers.get('x-plugin-version'), body: await response.text() };
  };
  return {
    ...author,
    path,
    runOn,
    versionOf: async (key?: string) => (await runOn(author, key)).version,
    versionsOf: async (keys: readonly string[]) => {
      const versions: (string | null)[] = [];
      // A few at a time, because the number of waiting runs of a tenant is limited.
      for (let start = 0; start < keys.length; start += 10) {
        const some = keys.slice(start, start + 10);
        versions.push(...(await Promise.all(some.map(async (key) => (await runOn(author, key)).version))));
      }
      return versions;
    },
    get: () => okay<Rollout>(send('GET', path)),
    buildOf: (code: string) => author.build(code),
    details: () => okay<PluginDetails>(send('GET', plugin())),
    audit: () =>
      storage.db.query
        .selectFrom('audit_entries')
        .select(['action', 'kind', 'actor', 'name', 'version', 'details'])
        .where('action', 'like', 'rollout.%')
        .orderBy('id')
        .execute(),
  };
}

test('a deploy with a rollout pins what is live and gives the version to a share of the runs, by key', async (t) => {
  const { buildOf, promote, okay, refusal, send, details, get, path, versionsOf, run, audit } =
    await startRollouts(t);
  await buildOf('export const run = () => "b";');
  for (const rollout of [{ percent: 0 }, { percent: 100 }, { percent: 1.5 }, { percent: 5, stop: {} }, {}])
    assert.equal(await refusal(promote({ rollout })), '422 invalid-body', JSON.stringify(rollout));
  assert.equal(await refusal(send('GET', path)), '404 rollout-not-found');
  assert.equal(await refusal(send('DELETE', path)), '404 rollout-not-found');
  const rollout = { percent: 30, stop: { runs: 100, failures: 0.5 } };
  const deployed = await okay<Deployed>(promote({ message: 'half', rollout }));
  assert.deepEqual(deployed, { version: 'v1.0.1', live: 'v1.0.0' });
  const { pinned, live, latest } = await details();
  assert.deepEqual(
    [pinned, live, latest],
    [{ version: 'v1.0.0', at: startedAt, actor: 'ada' }, 'v1.0.0', 'v1.0.1'],
  );
  const begun = { version: 'v1.0.1', ...rollout, startedAt, actor: 'ada', runs: 0, failures: 0 };
  assert.deepEqual(await get(), { ...begun, live: { version: 'v1.0.0', runs: 0, failures: 0 } });
  // As a client whose response was lost does it.
  assert.deepEqual(await okay(promote({ rollout })), { ...deployed, unchanged: true });
  assert.deepEqual(await okay(promote()), { ...deployed, unchanged: true });
  for (const other of [{ ...rollout, percent: 20 }, { percent: 30 }])
    assert.equal(await refusal(promote({ rollout: other })), '409 rollout-conflict');

  const keys = Array.from({ length: 100 }, (_, i) => `customer-${i}`);
  const candidates = async () => {
    const versions = await versionsOf(keys);
    assert.deepEqual(new Set(versions), new Set(['v1.0.0', 'v1.0.1']));
    return keys.filter((_, i) => versions[i] === 'v1.0.1');
  };
  const first = await candidates();
  assert.ok(first.length > 12 && first.length < 48, `${first.length} of 100`);
  assert.deepEqual(await candidates(), first);
  await okay(send('PUT', path, { version: 'v1.0.1', percent: 60 }));
  const { percent, stop } = await get();
  assert.deepEqual([percent, stop], [60, undefined]);
  const second = await candidates();
  assert.deepEqual(
    first.filter((key) => !second.includes(key)),
    [],
  );
  assert.ok(second.length > first.length);
  assert.equal(await run(undefined, 'v1.0.0'), 'a');
  await until('counted runs', async () => (await get()).live.runs + (await get()).runs === 300);
  assert.equal((await get()).runs, 2 * first.length + second.length);

  assert.equal((await send('DELETE', path)).status, 204);
  assert.equal((await send('DELETE', path)).status, 204);
  assert.deepEqual((await get()).stopped, { at: startedAt, reason: 'ended' });
  assert.equal((await details()).pinned?.version, 'v1.0.0');
  assert.deepEqual(new Set(await versionsOf(keys)), new Set(['v1.0.0']));
  const common = { name: 'add-record', version: 'v1.0.1' };
  assert.deepEqual(
    (await audit()).map(({ details: json, ...one }) => ({
      ...one,
      details: JSON.parse(json ?? '') as unknown,
    })),
    [
      { action: 'rollout.started', kind: 'editor-token', actor: 'ada', ...common, details: rollout },
      {
        action: 'rollout.changed',
        kind: 'environment-token',
        actor: null,
        ...common,
        details: { percent: 60 },
      },
      {
        action: 'rollout.stopped',
        kind: 'environment-token',
        actor: null,
        ...common,
        details: { reason: 'ended' },
      },
    ],
  );
});

test('a rollout that cannot be is refused, and changes nothing', async (t) => {
  const author = await startRollouts(t);
  const { buildOf, promote, deploy, send, refusal, okay, path, plugin, details, startSession } = author;
  const put = (version: string, percent = 10) => send('PUT', path, { version, percent });
  const conflict = '409 rollout-conflict';
  assert.equal(
    await refusal(send('PUT', `${plugin('other')}/rollout`, { version: 'v1.0.0', percent: 1 })),
    '404 plugin-not-found',
  );
  assert.equal(await refusal(put('v1.0.9')), '404 version-not-found');
  assert.equal(await refusal(put('v1.0.0')), conflict);
  for (const percent of [0, 100]) assert.equal(await refusal(put('v1.0.0', percent)), '422 invalid-body');
  assert.equal((await details()).pinned, null);
  await author.build('export const run = () => 1;', 'fresh');
  assert.equal(await refusal(promote({ rollout: { percent: 10 } }, 'fresh')), conflict);
  assert.equal((await okay<PluginDetails>(send('GET', plugin('fresh')))).versions, 0);

  await deploy('b');
  assert.equal(await refusal(promote({ rollout: { percent: 10 } })), conflict);
  assert.equal((await details()).pinned, null);
  await okay(send('PUT', `${plugin()}/live`, { version: 'v1.0.0' }));
  await deploy('c');
  await okay(put('v1.0.1'));
  assert.equal(await refusal(put('v1.0.2')), conflict);
  assert.equal(await refusal(put('v1.0.0')), conflict);
  await buildOf('export const run = () => "d";');
  assert.equal(await refusal(promote({ rollout: { percent: 10 } })), conflict);
  assert.equal((await details()).versions, 3);
  // Another deploy changes nothing about it.
  assert.deepEqual(await okay(promote()), { version: 'v1.0.3', live: 'v1.0.0' });
  assert.equal((await author.get()).stopped, undefined);
  assert.equal(await refusal(send('DELETE', `${plugin()}/versions/v1.0.1`)), '409 version-in-use');
  assert.equal((await send('DELETE', `${plugin()}/versions/v1.0.2`)).status, 204);

  const { token } = await startSession('com.acme.t1', { permissions: ['read', 'write'] });
  assert.equal(await refusal(send('GET', path, undefined, token)), '403 not-permitted');
  assert.equal(await refusal(send('DELETE', path, undefined, token)), '403 not-permitted');
});

test('making a version live ends a rollout, and the next one counts anew', async (t) => {
  const { deploy, send, okay, path, plugin, get, versionOf, refusal, audit } = await startRollouts(t);
  await deploy('b');
  await okay(send('PUT', `${plugin()}/live`, { version: 'v1.0.0' }));
  await okay(send('PUT', path, { version: 'v1.0.1', percent: 99 }));
  while ((await versionOf()) !== 'v1.0.1');
  await until('a counted run', async () => (await get()).runs > 0);
  await okay(send('PUT', `${plugin()}/live`, { version: null }));
  assert.deepEqual((await get()).stopped, { at: startedAt, reason: 'live-set' });
  assert.equal((await get()).runs > 0, true);
  await okay(send('PUT', `${plugin()}/live`, { version: 'v1.0.0' }));
  const next = await okay<Rollout>(send('PUT', path, { version: 'v1.0.1', percent: 1 }));
  assert.deepEqual([next.runs, next.live.runs, next.stopped], [0, 0, undefined]);
  await okay(send('DELETE', plugin()), 204);
  assert.equal(await refusal(send('GET', path)), '404 plugin-not-found');
  // Also with the plugin.
  const ends = (await audit()).filter(({ action }) => action === 'rollout.stopped');
  assert.deepEqual(
    ends.map(({ details }) => details),
    ['{"reason":"live-set"}', '{"reason":"deleted"}'],
  );
});

test('no rollout starts while its tenant is being deleted, so that the deletion ends all', async (t) => {
  const { deploy, send, okay, refusal, path, plugin, storage } = await startRollouts(t);
  await okay(send('PUT', `${plugin()}/live`, { version: 'v1.0.0' }));
  await deploy('b');
  const tenant = { environment: 'com.acme', tenant: 't1' };
  const isLocked = Promise.withResolvers<void>();
  let isOver = false;
  const started = isLocked.promise
    .then(() => refusal(send('PUT', path, { version: 'v1.0.1', percent: 10 })))
    .finally(() => (isOver = true));
  const { engine } = storage.db;
  const tryLock = t.mock.method(engine, 'tryLock');
  await storage.transaction(async (db) => {
    await lockTenant(db, tenant);
    tryLock.mock.resetCalls();
    isLocked.resolve();
    // On SQLite, the other transaction has not begun.
    if (engine.name === 'postgres')
      await until('the other one waits', () =>
        tryLock.mock.calls.some(({ arguments: [, name = ''] }) => isOver || name.startsWith('tenant')),
      );
    assert.ok(await deleteTenant(db, tenant, 1));
  });
  // On a busy machine it may not wait long enough.
  assert.match(await started, /^(?:404|503) /);
});

test('a rollout ends by itself on all nodes where its version fails more often', async (t) => {
  const author = await startRollouts(t);
  const { buildOf, promote, okay, runOn, startNode, get, audit, details } = author;
  const other = await startNode();
  const runEverywhere = (key?: string) => Promise.all([author, other].map((node) => runOn(node, key)));
  assert.deepEqual(
    (await runEverywhere()).map(({ version }) => version),
    ['v1.0.0', 'v1.0.0'],
  );
  await buildOf('export const run = () => { throw new Error("no"); };');
  await okay(promote({ rollout: { percent: 50, stop: { runs: 5, failures: 0.5 } } }));
  await until('the end of the rollout', async () => {
    await Promise.all(Array.from({ length: 10 }, () => runEverywhere()));
    return (await get()).stopped !== undefined;
  });
  const { stopped, runs, failures, live } = await get();
  assert.deepEqual([stopped?.reason, failures, live.failures], ['failures', runs, 0]);
  assert.ok(runs >= 5 && live.runs >= 5);
  assert.equal((await details()).pinned?.version, 'v1.0.0');
  await until('the end on the other node', async () => {
    const versions = await Promise.all(Array.from({ length: 20 }, () => runOn(other)));
    return versions.every(({ version }) => version === 'v1.0.0');
  });
  const [, end] = await audit();
  assert.deepEqual([end?.action, end?.kind, end?.version], ['rollout.stopped', 'service', 'v1.0.1']);
});

test('an input that does not fit is a run and no failure', async (t) => {
  const { buildOf, promote, send, okay, get, versionOf } = await startRollouts(t);
  await okay(
    send('PUT', '/api/v1/environment/com.acme/namespaces/default', { input: { type: 'object' } }),
    201,
  );
  await buildOf('export const run = () => "b";');
  await okay(promote({ rollout: { percent: 99, stop: { runs: 1, failures: 0 } } }));
  // Without input nothing is JSON.
  while ((await versionOf()) !== 'v1.0.1');
  await until('a counted run', async () => (await get()).runs > 0);
  assert.equal((await get()).failures, 0);
});
