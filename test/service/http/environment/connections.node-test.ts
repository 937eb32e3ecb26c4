import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { bearer, errorOf } from '../../harness.ts';
import { until } from '../../../support/until.ts';
import { startConnectedService } from '../../outbound/connected-service.ts';

const record = '/api/v1/environment/com.acme/namespaces/default';
const header = { type: 'header', header: 'authorization', prefix: 'Bearer ' } as const;
const rates = { name: 'rates', origin: 'https://api.example.com', credential: header };
const shop = { name: 'shop', origin: 'https://*.shops.example.com', credential: header };
const own = { name: 'own', origin: 'https://own.example.com', credential: { type: 'identity' } } as const;

/** The error of a response in JSON. */
const codeOf = ({ status, body }: { status: number; body: Record<string, unknown> }) => {
  const { code, path } = body['error'] as { code: string; path?: string };
  return [status, code, ...(path === undefined ? [] : [path])];
};

describe('connections of a namespace', () => {
  test('are set, stay where a PUT leaves them out, and keep the record from deletion', async (t) => {
    const { ask, setNamespace } = await startConnectedService(t);
    const whole = { ...rates, description: 'Rates of the day.', pathPrefix: '/v1', methods: ['GET', 'POST'] };
    const first = await setNamespace({ connections: [whole, shop] });
    assert.deepEqual(first, {
      status: 201,
      body: { namespace: 'default', connections: [whole, shop], warnings: [] },
    });
    const second = await setNamespace({ description: 'Orders.' });
    assert.equal(second.status, 200);
    assert.deepEqual(second.body['connections'], [whole, shop]);
    assert.deepEqual((await ask('GET', record)).body, {
      namespace: 'default',
      description: 'Orders.',
      connections: [whole, shop],
    });
    assert.deepEqual(codeOf(await ask('DELETE', record)), [409, 'namespace-in-use']);
    const third = await setNamespace({ connections: null });
    assert.equal('connections' in third.body, false);
    assert.equal((await ask('DELETE', record)).status, 204);
    assert.deepEqual(codeOf(await ask('DELETE', record)), [404, 'namespace-not-found']);
  });

  test('are shown to authors with their types: without credentials, and with the origin that the tenant has', async (t) => {
    const { ask, setNamespace, editorToken, token, fetch } = await startConnectedService(t);
    const typesOf = async (tenant: string) =>
      (await ask('GET', `/api/v1/types/com.acme.${tenant}/default/p`)).body;
    await setNamespace({ description: 'Orders.' });
    assert.deepEqual(await typesOf('t1'), { declarations: '' });
    await setNamespace({ connections: [{ ...rates, description: 'Rates.', methods: ['POST'] }, shop] });
    const origin = 'https://one.shops.example.com';
    assert.equal(
      (await ask('PUT', '/api/v1/tenant/com.acme.t1/connections/default/shop', { origin })).status,
      204,
    );
    const described = { name: 'rates', description: 'Rates.', origin: rates.origin, methods: ['POST'] };
    assert.deepEqual(await typesOf('t1'), {
      declarations: '',
      connections: [described, { name: 'shop', origin }],
    });
    assert.deepEqual(await typesOf('t2'), {
      declarations: '',
      connections: [described, { name: 'shop', origin: shop.origin }],
    });
    const breaksOut = 'Ends it */ throw 1;\nand\u202e';
    await setNamespace({ connections: [{ ...rates, description: breaksOut, pathPrefix: '/v1' }, shop] });
    const headers = bearer(await editorToken(undefined, token));
    for (const [language, head] of [
      ['javascript', 'run(input) {'],
      ['typescript', 'run(input: string): Promise<string> {'],
    ] as const) {
      const response = await fetch(`/api/v2/template/${language}/add-record`, { headers });
      const { contents } = (await response.json()) as { contents: string };
      assert.ok(
        contents.includes(
          [
            ' * It may request these addresses and the paths below them, with `await fetch(url)`:',
            ' * - GET https://api.example.com/v1: Ends it * / throw 1; and\\u202e',
            ` * - GET ${origin}/: shop`,
            ' */',
            `export async function ${head}`,
          ].join('\n'),
        ),
        contents,
      );
    }
    // What the tenant has for a former wildcard grants nothing.
    const other = { ...shop, origin: 'https://*.stores.example.com' };
    await setNamespace({ connections: [other] });
    assert.deepEqual((await typesOf('t1'))['connections'], [{ name: 'shop', origin: other.origin }]);
    const response = await fetch('/api/v2/template/javascript/add-record', { headers });
    assert.match(
      ((await response.json()) as { contents: string }).contents,
      / - GET https:\/\/\*\.stores\.example\.com\/: shop \(once the tenant has an origin for it\)\n/,
    );
  });

  test('that could never be, or overlap, are 422 with the path', async (t) => {
    const { setNamespace, storage } = await startConnectedService(t, {
      hosts: ['localhost:8082', 'plugins.example.com'],
      outbound: { allow: ['http://localhost:5173'] },
    });
    const refused = async (connections: unknown, path: string) => {
      const response = await setNamespace({ connections });
      assert.deepEqual(codeOf(response), [422, 'invalid-body', path], JSON.stringify(connections));
    };
    for (const name of ['', 'Rates', 'a-b', '1a', 'a'.repeat(41)])
      await refused([{ ...rates, name }], '/connections/0/name');
    for (const origin of [
      'api.example.com',
      'https://api.example.com/v1',
      'https://API.example.com',
      'http://api.example.com',
      'http://localhost:5174',
      'https://localhost',
      'https://10.0.0.1',
      'https://[::1]',
      'https://*.com',
      'https://*.github.io',
      'https://*.example.com.',
      'https://plugins.example.com',
      'https://localhost:8082',
    ])
      await refused([{ ...rates, origin }], '/connections/0/origin');
    for (const pathPrefix of ['v1', '/a/../b', '/a%2Fb', '/a?b'])
      await refused([{ ...rates, pathPrefix }], '/connections/0/pathPrefix');
    await refused([{ ...rates, methods: [] }], '/connections/0/methods');
    await refused([{ ...rates, methods: ['CONNECT'] }], '/connections/0/methods/0');
    for (const name of [
      'Host',
      'cookie',
      'proxy-authorization',
      'sec-x',
      'x-http-method-override',
      'a b',
      '',
    ])
      await refused(
        [{ ...rates, credential: { type: 'header', header: name } }],
        '/connections/0/credential/header',
      );
    for (const prefix of ['a\r\nb', ' ', 'key\f'])
      await refused([{ ...rates, credential: { ...header, prefix } }], '/connections/0/credential/prefix');
    await refused([{ ...rates, credential: { type: 'basic' } }], '/connections/0/credential/type');
    await refused([rates, { ...shop, name: 'rates' }], '/connections/1/name');
    await refused([rates, { ...rates, name: 'other', pathPrefix: '/v1' }], '/connections/1/origin');
    await refused(
      [shop, { ...rates, name: 'one', origin: 'https://a.shops.example.com' }],
      '/connections/1/origin',
    );
    const messageOf = async (connections: unknown) =>
      ((await setNamespace({ connections })).body['error'] as { message: string }).message;
    assert.equal(
      await messageOf([rates, { ...rates, name: 'other', pathPrefix: '/v1' }]),
      'connections[1].origin: must not overlap with "rates": a request could match both connections.',
    );
    assert.match(await messageOf([{ ...rates, name: 'a-b' }]), /^connections\[0\]\.name: /);
    const many = Array.from({ length: 21 }, (_, i) => ({
      name: `a${i}`,
      origin: `https://a${i}.example.com`,
    }));
    await refused(many, '/connections');
    assert.deepEqual(await storage.runs.connections({ environment: 'com.acme', namespace: 'default' }), []);
    assert.equal((await setNamespace({ connections: many.slice(1) })).status, 201);
    const local = await setNamespace({ connections: [{ ...rates, origin: 'http://localhost:5173' }] });
    assert.equal(local.status, 200);
  });
});

describe('values of connections', () => {
  test('are set and deleted for tenants and the environment, listed without them, and stored encrypted', async (t) => {
    const { ask, setNamespace, setValue, clock, storage } = await startConnectedService(t);
    await setNamespace({ connections: [rates, shop] });
    const list = (owner = 'tenant/com.acme.t1', query = '') =>
      ask('GET', `/api/v1/${owner}/connections${query}`);
    assert.deepEqual(await list(), { status: 200, body: { connections: [] } });
    assert.equal((await setValue({ value: 's3cret-of-t1' }, 'rates')).status, 204);
    assert.equal((await setValue({ origin: 'https://t1.shops.example.com' }, 'shop')).status, 204);
    assert.equal((await setValue({ value: 's3cret-of-all' }, 'rates', 'environment/com.acme')).status, 204);
    const updatedAt = new Date(clock.now).toISOString();
    const [first, second] = [
      { namespace: 'default', connection: 'rates', updatedAt },
      { namespace: 'default', connection: 'shop', origin: 'https://t1.shops.example.com', updatedAt },
    ];
    assert.deepEqual((await list()).body, { connections: [first, second] });
    const page = await list('tenant/com.acme.t1', '?limit=1');
    assert.deepEqual(page.body['connections'], [first]);
    const next = await list('tenant/com.acme.t1', `?limit=1&after=${String(page.body['next'])}`);
    assert.deepEqual(next.body, { connections: [second] });
    assert.deepEqual((await list('environment/com.acme')).body, { connections: [first] });
    // A read waits for no transaction, and so can be done within one.
    assert.deepEqual(await storage.transaction(() => list('environment/com.acme')), {
      status: 200,
      body: { connections: [first] },
    });

    // A field that is left out stays.
    clock.now += 1000;
    assert.equal((await setValue({ value: 's3cret-of-shop' }, 'shop')).status, 204);
    assert.deepEqual((await list()).body['connections'], [
      first,
      { ...second, updatedAt: new Date(clock.now).toISOString() },
    ]);
    const rows = await storage.db.query.selectFrom('connection_values').selectAll().execute();
    assert.equal(rows.filter(({ sealed }) => sealed !== null).length, 3);
    assert.doesNotMatch(JSON.stringify(rows), /s3cret/);

    const remove = (owner: string) => ask('DELETE', `/api/v1/${owner}/connections/default/rates`);
    for (const owner of ['tenant/com.acme.t1', 'environment/com.acme']) {
      assert.equal((await remove(owner)).status, 204);
      // Deleting what is not there has the wanted outcome, too.
      assert.equal((await remove(owner)).status, 204);
    }
    assert.deepEqual((await list('environment/com.acme')).body, { connections: [] });

    const entries = await storage.db.query
      .selectFrom('audit_entries')
      .select(['action', 'tenant', 'namespace', 'details'])
      .where('action', 'like', 'connection-value.%')
      .orderBy('id')
      .execute();
    assert.equal(entries.length, 8);
    assert.deepEqual(
      { ...entries[1] },
      {
        action: 'connection-value.set',
        tenant: 't1',
        namespace: 'default',
        details: '{"connection":"shop","origin":"https://t1.shops.example.com"}',
      },
    );
    assert.doesNotMatch(JSON.stringify(entries), /s3cret/);
  });

  test('that the connection cannot have are refused with what is wrong', async (t) => {
    const { setNamespace, setValue, ask, fetch, token } = await startConnectedService(t, {
      hosts: ['localhost:8082', 'plugins.shops.example.com'],
    });
    const open = { name: 'open', origin: 'https://open.example.com' };
    await setNamespace({ connections: [rates, shop, own, open] });
    const everyone = 'environment/com.acme';
    for (const [value, connection, owner, expected] of [
      [{ value: 'x' }, 'missing', undefined, [404, 'connection-not-found']],
      [{ value: 'x' }, 'missing', everyone, [404, 'connection-not-found']],
      [{ value: 'x' }, 'rates', 'tenant/com.acme.t2', [404, 'tenant-not-found']],
      [{ value: 'x' }, 'rates', 'tenant/com.other.t1', [403, 'forbidden']],
      [{}, 'rates', undefined, [422, 'invalid-body', '/value']],
      [{ value: 'x' }, 'own', undefined, [422, 'invalid-body', '/value']],
      [{ value: 'x' }, 'open', undefined, [422, 'invalid-body', '/value']],
      [{ value: 'x' }, 'shop', everyone, [422, 'invalid-body', '/value']],
      [{ origin: 'https://a.shops.example.com' }, 'shop', everyone, [422, 'invalid-body', '/value']],
      [{ origin: 'https://api.example.com' }, 'rates', undefined, [422, 'invalid-body', '/origin']],
      ...[
        'https://shops.example.com',
        'https://a.b.shops.example.com',
        'https://a.shops.example.com.evil.example',
        'https://a.shops.example.com/',
        'https://a.shops.example.com:8443',
        'https://evil.example/.shops.example.com',
        'http://a.shops.example.com',
        'https://plugins.shops.example.com',
      ].map((origin) => [{ origin }, 'shop', undefined, [422, 'invalid-body', '/origin']] as const),
      ...['', ' x', 'x ', 'a\r\nb', 'a\0b', 'ü€', 'x'.repeat(8193)].map(
        (wrong) => [{ value: wrong }, 'rates', undefined, [422, 'invalid-body', '/value']] as const,
      ),
    ] as const) {
      const response = await setValue(value, connection, owner);
      assert.deepEqual(codeOf(response), expected, JSON.stringify([value, connection, owner]).slice(0, 200));
    }
    const missing = (await setValue({ value: 'x' }, 'missing')).body['error'] as { message: string };
    assert.equal(missing.message, 'The namespace "default" has no connection "missing".');
    // What is wrong is said without it.
    for (const body of ['{"value":"s3cret', '{"value":"s3cret\\n"}', '{"value":["s3cret"]}', '"s3cret"']) {
      const response = await fetch('/api/v1/tenant/com.acme.t1/connections/default/rates', {
        method: 'PUT',
        headers: { ...bearer(token), 'content-type': 'application/json' },
        body,
      });
      assert.ok(response.status >= 400, body);
      assert.doesNotMatch(await response.text(), /s3cret/);
    }
    assert.equal((await setValue({ value: 'x'.repeat(8192) }, 'rates')).status, 204);
    assert.deepEqual(codeOf(await ask('DELETE', '/api/v1/tenant/com.acme.t1/connections/default/missing')), [
      404,
      'connection-not-found',
    ]);
    assert.deepEqual(codeOf(await ask('GET', '/api/v1/tenant/com.acme.t2/connections')), [
      404,
      'tenant-not-found',
    ]);
  });

  test('go with their connection and with their tenant', async (t) => {
    const { ask, setNamespace, setValue, storage } = await startConnectedService(t);
    await setNamespace({ connections: [rates, shop] });
    await setValue({ value: 'one' }, 'rates');
    await setValue({ value: 'two' }, 'shop');
    const kept = async () =>
      (await storage.db.query.selectFrom('connection_values').select('connection').execute()).map(
        ({ connection }) => connection,
      );
    await setNamespace({ connections: [{ ...shop, description: 'Changed.' }] });
    assert.deepEqual(await kept(), ['shop']);
    assert.equal((await ask('DELETE', '/api/v1/tenant/com.acme.t1')).status, 204);
    await ask('POST', '/api/v1/tenant/com.acme.t1');
    // The tenant that is created again has nothing of the one that was deleted.
    assert.deepEqual((await ask('GET', '/api/v1/tenant/com.acme.t1/connections')).body, { connections: [] });
    await until('the values are erased', async () => (await kept()).length === 0);
  });

  test('are 503 without a key, and so is an identity', async (t) => {
    const { setNamespace, setValue, fetch } = await startConnectedService(t, { secrets: {} });
    assert.equal((await setNamespace({ connections: [rates] })).status, 201);
    assert.deepEqual(codeOf(await setValue({ value: 'x' }, 'rates')), [503, 'secrets-unavailable']);
    assert.deepEqual(codeOf(await setNamespace({ connections: [own] })), [503, 'secrets-unavailable']);
    assert.deepEqual(await (await fetch('/.well-known/jwks.json')).json(), { keys: [] });
  });

  test('need a token of their environment', async (t) => {
    const { fetch, editorToken, environmentToken } = await startConnectedService(t);
    const path = '/api/v1/tenant/com.acme.t1/connections';
    const editor = await editorToken();
    assert.equal((await errorOf(await fetch(path))).status, 401);
    assert.equal((await errorOf(await fetch(path, { headers: bearer(editor) }))).status, 401);
    const other = await environmentToken('com.other');
    assert.equal((await errorOf(await fetch(path, { headers: bearer(other) }))).status, 403);
  });
});
