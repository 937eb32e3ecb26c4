import assert from 'node:assert/strict';
import { test } from 'node:test';
import { provisionEnvironmentToken } from '../../../../service/src/accounts/environment-token.ts';
import { errorOf, source } from '../../harness.ts';
import { draftOf, startVendor } from './vendor.ts';
import { until } from '../../../support/until.ts';
import { readDraft } from '../../../../service/src/storage/tables/drafts.ts';
import { addFirstTenant } from '../../../../service/src/storage/tables/tenants.ts';

const t1 = '/api/v1/tenant/com.acme.t1';
const createdAt = '2026-01-01T00:00:00.000Z';
const fresh = {
  environment: 'com.acme',
  tenant: 't1',
  ident: 'com.acme.t1',
  description: '',
  suspended: false,
  createdAt,
  plugins: 0,
  usage: { storageMb: 0, recordsMb: 0 },
};

test('a tenant is created, read, changed and deleted', async (t) => {
  const { send, okay, refusal } = await startVendor(t);
  assert.equal(await refusal(send('GET', t1)), '404 tenant-not-found');
  assert.equal(await refusal(send('PATCH', t1, {})), '404 tenant-not-found');
  assert.equal(await refusal(send('DELETE', t1)), '404 tenant-not-found');
  assert.deepEqual(await okay(send('POST', t1), 201), fresh);
  assert.equal(await refusal(send('POST', t1, { description: 'other' })), '409 tenant-exists');
  const again = await errorOf(await send('POST', t1));
  assert.equal(again.message, 'There is a tenant "t1" already; PATCH changes it.');
  assert.deepEqual(await okay(send('GET', t1)), fresh);

  const changes = { description: 'Seven', suspended: true, limits: { plugins: 2, runsPerMinute: 0 } };
  assert.deepEqual(await okay(send('PATCH', t1, changes)), { ...fresh, ...changes });
  assert.deepEqual(await okay(send('PATCH', t1, { more: 1 })), { ...fresh, ...changes });
  assert.deepEqual(await okay(send('PATCH', t1, { limits: { plugins: null } })), {
    ...fresh,
    ...changes,
    limits: { runsPerMinute: 0 },
  });
  assert.deepEqual(await okay(send('GET', t1)), { ...fresh, ...changes, limits: { runsPerMinute: 0 } });

  await okay(send('DELETE', t1), 204);
  assert.equal(await refusal(send('GET', t1)), '404 tenant-not-found');
  assert.equal(await refusal(send('DELETE', t1)), '404 tenant-not-found');
  assert.deepEqual(await okay(send('POST', t1, { suspended: false }), 201), fresh);
});

test('an invalid body of a tenant is refused, and changes nothing', async (t) => {
  const { send, okay, refusal } = await startVendor(t);
  await okay(send('POST', t1), 201);
  for (const body of [
    { description: 1 },
    { description: null },
    { description: 'x'.repeat(2001) },
    { suspended: 'yes' },
    { limits: null },
    { limits: { plugins: -1 } },
    { limits: { plugins: 1.5 } },
    { limits: { runsPerMinute: 1e12 } },
    [],
  ]) {
    assert.equal(await refusal(send('PATCH', t1, body)), '422 invalid-body', JSON.stringify(body));
    assert.equal(await refusal(send('POST', t1, body)), '422 invalid-body', JSON.stringify(body));
  }
  for (const description of ['a\0b', 'a\ud800b']) {
    assert.equal(await refusal(send('PATCH', t1, { description })), '400 invalid-text');
  }
  assert.deepEqual(await okay(send('GET', t1)), fresh);
});

test('twenty simultaneous requests on two nodes create a tenant once', async (t) => {
  const vendor = await startVendor(t);
  const other = await vendor.startNode();
  const responses = await Promise.all(
    Array.from({ length: 20 }, (_, i) => (i % 2 ? vendor : other).send('POST', t1, {})),
  );
  const statuses = responses.map(({ status }) => status).toSorted((a, b) => a - b);
  assert.deepEqual(statuses, [201, ...Array.from({ length: 19 }, () => 409)]);
});

test('tenants are listed page by page in the order of bytes, with their number of plugins', async (t) => {
  const { send, okay, createPlugin, refusal } = await startVendor(t);
  const names = ['B', 'a', 'b', 'ä', '\u{1f600}', '\uffee'];
  for (const name of names.toReversed()) {
    await okay(send('POST', `/api/v1/tenant/com.acme.${encodeURIComponent(name)}`), 201);
  }
  await createPlugin('com.acme.b', 'x');
  await createPlugin('com.acme.b', 'y');
  await okay(send('DELETE', '/api/v1/tenant/com.acme.a'), 204);
  type List = { environment: string; tenants: { tenant: string; plugins: number }[]; next?: string };
  const path = '/api/v1/environment/com.acme';
  const all = await okay<List>(send('GET', path));
  assert.deepEqual(Object.keys(all), ['environment', 'tenants']);
  // As UTF-8: U+FFEE is before U+1F600, which is not so in the order of UTF-16 units.
  const inOrder = ['B', 'b', 'ä', '\uffee', '\u{1f600}'];
  assert.deepEqual(
    all.tenants.map(({ tenant, plugins }) => [tenant, plugins]),
    inOrder.map((name) => [name, name === 'b' ? 2 : 0]),
  );
  const paged: string[] = [];
  for (let after = ''; ;) {
    const page = await okay<List>(send('GET', `${path}?limit=2${after}`));
    paged.push(...page.tenants.map(({ tenant }) => tenant));
    if (page.next === undefined) break;
    assert.equal(page.tenants.length, 2);
    after = `&after=${page.next}`;
    // What comes and goes between two pages moves no other row.
    await okay(send('POST', `/api/v1/tenant/com.acme.A${paged.length}`), 201);
  }
  assert.deepEqual(paged, inOrder);
  assert.equal(await refusal(send('GET', `${path}?limit=0`)), '400 invalid-query');
  assert.equal(await refusal(send('GET', `${path}?limit=201`)), '400 invalid-query');
  assert.equal(await refusal(send('GET', `${path}?after=x`)), '400 invalid-cursor');
});

test('without a limit the list has up to 1000 tenants, because clients of version 0.5 know no pages', async (t) => {
  const { send, okay, storage } = await startVendor(t);
  // A part of them at a time: on a busy machine all of them take longer than a transaction may.
  for (let start = 0; start < 1001; start += 91) {
    await storage.transaction(async (db) => {
      for (let i = start; i < start + 91; i++)
        await addFirstTenant(db, { environment: 'com.acme', tenant: `t${i}` }, 0);
    });
  }
  const list = await okay<{ tenants: unknown[]; next?: string }>(send('GET', '/api/v1/environment/com.acme'));
  assert.equal(list.tenants.length, 1000);
  assert.ok(list.next);
});

test('a tenant exists from its first token on', async (t) => {
  const { send, okay, editorToken, environmentToken, startSession } = await startVendor(t);
  await editorToken('/auth/v2/access/com.acme.t1/default/x', environmentToken);
  assert.deepEqual(await okay(send('GET', t1)), fresh);
  await startSession('com.acme.t2');
  const { tenants } = await okay<{ tenants: { tenant: string }[] }>(
    send('GET', '/api/v1/environment/com.acme'),
  );
  assert.deepEqual(
    tenants.map(({ tenant }) => tenant),
    ['t1', 't2'],
  );
});

test('a suspended tenant gets no tokens, its open ones are refused, and none of its plugins runs', async (t) => {
  const vendor = await startVendor(t);
  const { send, okay, refusal, createPlugin, save } = vendor;
  const token = await createPlugin('com.acme.t1');
  const [build, run] = [
    '/api/v1/build/javascript/com.acme.t1/default/add-record',
    '/exec/com.acme.t1/default/add-record/v1.0.0',
  ];
  await okay(
    vendor.fetch(build, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: source.contents,
    }),
  );
  await okay(send('POST', `${draftOf('com.acme.t1')}/promote`, undefined, token));
  const other = await vendor.startNode();
  const runOn = (node: Pick<typeof vendor, 'fetch'>) =>
    node.fetch(run, {
      method: 'POST',
      headers: { authorization: `Bearer ${vendor.environmentToken}` },
      body: 'input',
    });
  for (const node of [vendor, other]) assert.equal((await runOn(node)).status, 200);

  const suspended = '403 tenant-suspended';
  const asked = [
    [run, vendor.environmentToken],
    ['/api/v1/test/com.acme.t1/default/add-record', token],
  ] as const;
  for (const [path, asking] of asked) {
    const body = new ReadableStream<Uint8Array>(
      {
        // The body is read once the tenant was found not to be suspended.
        async pull(controller) {
          await okay(send('PATCH', t1, { suspended: true }));
          controller.enqueue(new TextEncoder().encode('input'));
          controller.close();
        },
      },
      { highWaterMark: 0 },
    );
    const headers = { authorization: `Bearer ${asking}` };
    const request: RequestInit & { duplex: 'half' } = { method: 'POST', headers, body, duplex: 'half' };
    assert.equal(await refusal(vendor.fetch(path, request)), suspended);
    await okay(send('PATCH', t1, { suspended: false }));
  }

  await okay(send('PATCH', t1, { suspended: true }));
  assert.equal(await refusal(runOn(vendor)), suspended);
  await until('the other node knows of it', async () => (await runOn(other)).status === 403);
  for (const node of [vendor, other]) {
    assert.equal(await refusal(node.send('POST', `${t1}/session`, {})), suspended);
    assert.equal(await refusal(node.send('GET', '/auth/v2/access/com.acme.t1/default/x')), suspended);
    assert.equal(await refusal(node.send('GET', draftOf('com.acme.t1'), undefined, token)), suspended);
    assert.equal(await refusal(node.send('GET', '/api/v1/session', undefined, token)), suspended);
  }
  assert.equal(await refusal(save(token, source)), suspended);

  await okay(send('PATCH', t1, { suspended: false }));
  assert.equal((await save(token)).status, 200);
  assert.equal((await runOn(vendor)).status, 200);
  await until('the other node knows of that, too', async () => (await runOn(other)).status === 200);
});

test('nothing of a deleted tenant is found on any node, and it gets no tokens until it is created anew', async (t) => {
  const vendor = await startVendor(t);
  const { send, okay, refusal, createPlugin, save, storage } = vendor;
  const token = await createPlugin('com.acme.t1');
  const plugin = { environment: 'com.acme', tenant: 't1', namespace: 'default', pluginName: 'add-record' };
  const build = () =>
    okay(
      vendor.fetch('/api/v1/build/javascript/com.acme.t1/default/add-record', {
        method: 'POST',
        headers: { authorization: `Bearer ${token}` },
        body: source.contents,
      }),
    );
  await build();
  await okay(send('POST', `${draftOf('com.acme.t1')}/promote`, undefined, token));
  const other = await vendor.startNode();
  const nodes = [vendor, other];
  const run = (node: Pick<typeof vendor, 'fetch'>, name = 'com.acme.t1/default/add-record/v1.0.0') =>
    node.fetch(`/exec/${name}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${vendor.environmentToken}` },
      body: 'input',
    });
  for (const node of nodes) {
    assert.equal((await run(node)).status, 200);
    assert.equal((await run(node, 'name/com.acme.t1/default/add-record')).status, 200);
  }

  await okay(send('DELETE', t1), 204);
  assert.equal(await refusal(run(vendor)), '404 version-not-found');
  await until('the other node knows of it', async () => (await run(other)).status === 404);
  for (const node of nodes) {
    assert.equal(await refusal(run(node, 'name/com.acme.t1/default/add-record')), '404 version-not-found');
    assert.equal(await refusal(node.send('POST', `${t1}/session`, {})), '403 tenant-deleted');
    assert.equal(
      await refusal(node.send('GET', '/auth/v2/access/com.acme.t1/default/x')),
      '403 tenant-deleted',
    );
    assert.equal(
      await refusal(node.send('GET', draftOf('com.acme.t1'), undefined, token)),
      '401 token-invalid',
    );
    assert.equal(await refusal(node.send('DELETE', `${t1}/sessions`)), '404 tenant-not-found');
  }
  assert.equal(await refusal(save(token)), '401 token-invalid');

  await okay(send('POST', t1), 201);
  assert.equal(await refusal(save(token)), '401 token-invalid', 'a token of the one before');
  assert.equal(await readDraft(storage.db, plugin), undefined);
  const again = await createPlugin('com.acme.t1');
  await okay(
    vendor.fetch('/api/v1/build/javascript/com.acme.t1/default/add-record', {
      method: 'POST',
      headers: { authorization: `Bearer ${again}` },
      body: 'export const run = () => "new";',
    }),
  );
  assert.deepEqual(await okay(send('POST', `${draftOf('com.acme.t1')}/promote`, undefined, again)), {
    version: 'v1.0.0',
    live: 'v1.0.0',
  });
  await until('the other node runs what is new', async () => (await (await run(other)).text()) === 'new');
});

test('limits of a tenant override those of the settings', async (t) => {
  const vendor = await startVendor(t, { tenantPlugins: 1, rates: { tenantRuns: 1 } });
  const { send, okay, refusal, createPlugin, startSession, save } = vendor;
  await okay(send('POST', t1, { limits: { plugins: 2, runsPerMinute: 3 } }), 201);
  await createPlugin('com.acme.t1', 'a');
  const token = await createPlugin('com.acme.t1', 'b');
  assert.equal(await refusal(save(token, source, {}, draftOf('com.acme.t1', 'c'))), '403 too-many-plugins');
  const other = (await startSession('com.acme.t2')).token;
  await okay(save(other, source, {}, draftOf('com.acme.t2', 'a')));
  assert.equal(await refusal(save(other, source, {}, draftOf('com.acme.t2', 'b'))), '403 too-many-plugins');
  const runs = async (tenant: string) => {
    const statuses: number[] = [];
    for (let i = 0; i < 5; i++) {
      statuses.push((await send('POST', `/exec/name/com.acme.${tenant}/default/a`)).status);
    }
    return statuses;
  };
  // Nothing is deployed, and yet each counts.
  assert.deepEqual(await runs('t1'), [404, 404, 404, 429, 429]);
  assert.deepEqual(await runs('t2'), [404, 429, 429, 429, 429]);
  await okay(send('PATCH', t1, { limits: { runsPerMinute: 0 } }));
  assert.deepEqual(await runs('t1'), [404, 404, 404, 404, 404]);
});

test('no token reads, changes or deletes a tenant of another environment', async (t) => {
  const { send, refusal, okay, environmentToken, storage } = await startVendor(t);
  await okay(send('POST', t1), 201);
  const stranger = await provisionEnvironmentToken(storage, 'org.other');
  const { token: editor } = await okay<{ token: string }>(send('POST', `${t1}/session`, {}), 201);
  const requests: [method: string, path: string, body?: object][] = [
    ['GET', '/api/v1/environment/com.acme'],
    ['GET', '/api/v1/environment/com.acme/tokens'],
    ['POST', '/api/v1/environment/com.acme/tokens', {}],
    ['DELETE', '/api/v1/environment/com.acme/tokens/x'],
    ['GET', t1],
    ['POST', t1, {}],
    ['PATCH', t1, {}],
    ['DELETE', t1],
    ['POST', `${t1}/session`, {}],
    ['DELETE', `${t1}/sessions`],
  ];
  for (const [method, path, body] of requests) {
    assert.equal(await refusal(send(method, path, body, stranger)), '403 forbidden', `${method} ${path}`);
    assert.equal(await refusal(send(method, path, body, editor)), '401 token-invalid', `${method} ${path}`);
    assert.equal(await refusal(send(method, path, body, 'x')), '401 token-invalid', `${method} ${path}`);
  }
  assert.deepEqual(await okay(send('GET', t1, undefined, environmentToken)), fresh);
});
