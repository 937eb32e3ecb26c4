import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bearer, source } from '../../harness.ts';
import { draftOf, startVendor } from './vendor.ts';
import type { SessionResponse } from './vendor.ts';
import { readDraft } from '../../../../service/src/storage/tables/drafts.ts';
import { findTenant } from '../../../../service/src/storage/tables/tenants.ts';
import { manyTokens } from '../../storage/plugins.ts';

const session = '/api/v1/tenant/com.acme.t1/session';
const noUsage = { storageMb: 0, recordsMb: 0 };
const access = '/auth/v2/access/com.acme.t1/default/add-record';

test('a session is for one plugin, for a namespace, or for the whole tenant', async (t) => {
  const { startSession, save, send, okay } = await startVendor(t);
  const plugins = [
    draftOf('com.acme.t1', 'a'),
    draftOf('com.acme.t1', 'b'),
    draftOf('com.acme.t1', 'a', 'other'),
    draftOf('com.acme.t2', 'a'),
  ];
  await startSession('com.acme.t2');
  const cases: [asked: object, opens: boolean[], said: object][] = [
    [{ fn: 'a' }, [true, false, false, false], { namespace: 'default', fn: 'a' }],
    [{ namespace: 'other', fn: 'a' }, [false, false, true, false], { namespace: 'other', fn: 'a' }],
    [{ namespace: 'default' }, [true, true, false, false], { namespace: 'default' }],
    [{}, [true, true, true, false], {}],
  ];
  for (const [grant, opens, expected] of cases) {
    const { token, ...granted } = await startSession('com.acme.t1', grant);
    assert.deepEqual(granted, { expires_in: 900, permissions: ['read', 'write', 'deploy'] });
    for (const [i, path] of plugins.entries()) {
      assert.equal(
        (await save(token, source, {}, path)).status,
        opens[i] ? 200 : 403,
        JSON.stringify([grant, path]),
      );
    }
    const { usage: _, ...said } = await okay<{ usage: object }>(
      send('GET', '/api/v1/session', undefined, token),
    );
    assert.deepEqual(said, {
      ident: 'com.acme.t1',
      environment: 'com.acme',
      ...expected,
      ...granted,
    });
  }
});

test('no session is wider than was asked for: empty, null, misspelt or unknown fields are refused', async (t) => {
  const { send, refusal, okay } = await startVendor(t);
  const wrong: object[] = [
    { fn: '' },
    { fn: null },
    { namespace: '' },
    { namespace: null },
    { fn: '.' },
    { fn: '..' },
    { namespace: 'x'.repeat(1001) },
    { function: 'add-record' },
    { pluginName: 'add-record' },
    { Fn: 'add-record' },
    { fn: 'add-record', scope: 'plugin' },
    { permissions: [] },
    { permissions: null },
    { permissions: 'read' },
    { permissions: ['read', 'admin'] },
    { actor: '' },
    { actor: null },
    { actor: 'x'.repeat(201) },
    { actor: 'a\nb' },
    { actor: 'a\u202eb' },
    { actor: 'a\u0080b' },
    { expires_in: 59 },
    { expires_in: 86_401 },
    { expires_in: 60.5 },
    { expires_in: '60' },
    ['fn'],
  ];
  for (const body of wrong) {
    assert.equal(await refusal(send('POST', session, body)), '422 invalid-body', JSON.stringify(body));
  }
  for (const field of ['actor', 'fn', 'namespace']) {
    for (const text of ['a\0b', 'a\ud800b']) {
      assert.equal(await refusal(send('POST', session, { [field]: text })), '400 invalid-text');
    }
  }
  assert.equal(await refusal(send('GET', '/api/v1/tenant/com.acme.t1')), '404 tenant-not-found');
  // Clients of version 0.5 send it.
  await okay(send('POST', session, { identifier: 'com.acme.t1' }), 201);
});

test('an empty body with the type of a form counts as no body, as axios 0.24 sends it', async (t) => {
  const { fetch, environmentToken, okay } = await startVendor(t);
  const headers = { ...bearer(environmentToken), 'content-type': 'application/x-www-form-urlencoded' };
  await okay(fetch('/api/v1/tenant/com.acme.t1', { method: 'POST', headers, body: '' }), 201);
  await okay(fetch(session, { method: 'POST', headers, body: '' }), 201);
});

test('a session lives for as long as was asked for', async (t) => {
  const { startSession, clock, refusal, okay, send } = await startVendor(t);
  const { token, expires_in: lifetime } = await startSession('com.acme.t1', { expires_in: 60 });
  assert.equal(lifetime, 60);
  clock.now += 59_500;
  const left = await okay<{ expires_in: number }>(send('GET', '/api/v1/session', undefined, token));
  assert.equal(left.expires_in, 0);
  clock.now += 500;
  assert.equal(await refusal(send('GET', '/api/v1/session', undefined, token)), '401 token-invalid');
});

test('a token does what its permissions allow, and reads whatever they are', async (t) => {
  const { startSession, createPlugin, fetch, refusal, okay, save } = await startVendor(t);
  await createPlugin('com.acme.t1');
  const plugin = 'com.acme.t1/default/add-record';
  const operations: [needs: string, method: string, path: string][] = [
    ['read', 'GET', draftOf('com.acme.t1')],
    ['read', 'GET', `/api/v1/progress/${plugin}`],
    ['read', 'GET', '/api/v1/session'],
    ['write', 'POST', `/api/v1/build/javascript/${plugin}`],
    ['write', 'POST', `/api/v1/check/javascript/${plugin}`],
    ['write', 'POST', `/api/v1/test/${plugin}`],
    ['deploy', 'POST', `${draftOf('com.acme.t1')}/promote`],
  ];
  for (const permissions of [['read'], ['write'], ['deploy'], ['runs'], ['deploy', 'write', 'write']]) {
    const granted = await startSession('com.acme.t1', { permissions: [...new Set(permissions)] });
    const expected = ['read', 'write', 'deploy', 'runs'].filter(
      (one) => one === 'read' || permissions.includes(one),
    );
    assert.deepEqual(granted.permissions, expected);
    for (const [needs, method, path] of operations) {
      const body = needs === 'write' ? { body: source.contents } : {};
      const done = fetch(path, { method, headers: bearer(granted.token), ...body });
      if (expected.includes(needs)) assert.ok((await done).status < 300 || (await done).status === 409, path);
      else assert.equal(await refusal(done), '403 not-permitted', `${permissions.join()} ${path}`);
    }
    const saved = save(granted.token);
    if (expected.includes('write')) await okay(saved);
    else assert.equal(await refusal(saved), '403 not-permitted');
  }
});

test('the access operation exchanges an environment token for an editor token, whose lifetime is set', async (t) => {
  const { fetch, environmentToken } = await startVendor(t, { editorTokenTtl: 60 });
  const response = await fetch(access, { headers: bearer(environmentToken) });
  assert.equal(response.status, 200);
  assert.equal(response.headers.get('cache-control'), 'no-store');
  const { token, ...others } = (await response.json()) as { token: string };
  assert.deepEqual(others, { expires_in: 60, permissions: ['read', 'write', 'deploy'] });
  assert.match(token, /^pe_edit_[\w-]{43}$/);
  for (const editorTokenTtl of [0, -1, 1.5, NaN, Infinity])
    await assert.rejects(startVendor(t, { editorTokenTtl }), /EDITOR_TOKEN_TTL/);
});

test('the access operation takes permissions and an actor, and repeats both in its response', async (t) => {
  const { send, okay, refusal, save, storage } = await startVendor(t);
  const plain = await okay<SessionResponse>(send('GET', access));
  assert.deepEqual([plain.permissions, plain.actor], [['read', 'write', 'deploy'], undefined]);
  const granted = await okay<SessionResponse>(
    send('GET', `${access}?permissions=write,read&actor=${encodeURIComponent('Ädå 42')}`),
  );
  assert.deepEqual([granted.permissions, granted.actor], [['read', 'write'], 'Ädå 42']);
  assert.deepEqual((await okay<SessionResponse>(send('GET', `${access}?permissions=runs`))).permissions, [
    'read',
    'runs',
  ]);
  await okay(save(granted.token));
  const plugin = { environment: 'com.acme', tenant: 't1', namespace: 'default', pluginName: 'add-record' };
  assert.equal((await readDraft(storage.db, plugin))?.actor, 'Ädå 42');
  for (const query of [
    'permissions=',
    'permissions=admin',
    'permissions=read,',
    'permissions=READ',
    'actor=',
    'actor=a%0Ab',
    `actor=${'x'.repeat(201)}`,
  ]) {
    assert.equal(await refusal(send('GET', `${access}?${query}`)), '400 invalid-query', query);
  }
  assert.equal(await refusal(send('GET', `${access}?actor=a%00b`)), '400 invalid-text');
});

test('ending sessions ends the tokens of a tenant or of an actor, and of nobody else', async (t) => {
  const { startSession, startNode, send, okay, refusal, storage } = await startVendor(t);
  const other = await startNode();
  const [ada, bob, nobody, stranger] = [
    await startSession('com.acme.t1', { actor: 'ada' }),
    await startSession('com.acme.t1', { actor: 'bob' }),
    await startSession('com.acme.t1'),
    await startSession('com.acme.t2', { actor: 'ada' }),
  ];
  const good = async () =>
    Promise.all(
      [ada, bob, nobody, stranger].map(
        async ({ token }) => (await other.send('GET', '/api/v1/session', undefined, token)).status === 200,
      ),
    );
  const sessions = '/api/v1/tenant/com.acme.t1/sessions';
  assert.equal(await refusal(send('DELETE', `${sessions}?actor=`)), '400 invalid-query');
  assert.deepEqual(await good(), [true, true, true, true]);
  const tenant = await findTenant(storage.db, { environment: 'com.acme', tenant: 't1' });
  const tokens = storage.db.query.selectFrom('editor_tokens');
  // More than one statement deletes.
  await storage.db.query
    .insertInto('editor_tokens')
    .values(manyTokens(tenant?.id ?? 0, 450, 'ada'))
    .execute();
  await okay(send('DELETE', `${sessions}?actor=ada`), 204);
  assert.equal((await tokens.select('expires_at').execute()).length, 3);
  assert.deepEqual(await good(), [false, true, true, true]);
  await okay(send('DELETE', sessions), 204);
  assert.deepEqual(await good(), [false, false, false, true]);
  assert.equal(await refusal(send('DELETE', '/api/v1/tenant/com.acme.t3/sessions')), '404 tenant-not-found');
});

test('a token can read what it is for, and an editor token can end itself', async (t) => {
  const { startSession, environmentToken, send, okay, refusal } = await startVendor(t);
  assert.deepEqual(await okay(send('GET', '/api/v1/session')), {
    environment: 'com.acme',
    permissions: ['read', 'write', 'deploy', 'runs'],
    scopes: ['run', 'access', 'access-deploy', 'read', 'manage'],
  });
  const { token } = await startSession('com.acme.t1', { fn: 'x', actor: 'ada', permissions: ['read'] });
  const { token: kept } = await startSession('com.acme.t1', { fn: 'x' });
  assert.deepEqual(await okay(send('GET', '/api/v1/session', undefined, token)), {
    ident: 'com.acme.t1',
    environment: 'com.acme',
    namespace: 'default',
    fn: 'x',
    permissions: ['read'],
    actor: 'ada',
    expires_in: 900,
    usage: noUsage,
  });
  await okay(send('DELETE', '/api/v1/session', undefined, token), 204);
  assert.equal(await refusal(send('GET', '/api/v1/session', undefined, token)), '401 token-invalid');
  await okay(send('GET', '/api/v1/session', undefined, kept));
  assert.equal(await refusal(send('DELETE', '/api/v1/session')), '403 forbidden');
  await okay(send('GET', '/api/v1/session', undefined, environmentToken));
});
