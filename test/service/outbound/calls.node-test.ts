import assert from 'node:assert/strict';
import { after, afterEach, describe, test } from 'node:test';
import type { TestContext } from 'node:test';
import { createLocalJWKSet, jwtVerify } from 'jose';
import type { JSONWebKeySet } from 'jose';
import { until } from '../../support/until.ts';
import { Rates } from '../../../service/src/limits/rates.ts';
import { StorageUnavailableError } from '../../../service/src/storage/errors.ts';
import { openDuring, patientStorage } from '../storage/databases.ts';
import { longName } from '../storage/plugins.ts';
import { run, startCalls, startConnectedService } from './connected-service.ts';
import { startUpstream } from './upstream.ts';
import type { UpstreamRequest } from './upstream.ts';

const upstream = await startUpstream();
const origin = `http://upstream.test:${upstream.port}`;
const shop = `https://t1.shops.example.com:${upstream.port}`;
after(() => upstream[Symbol.asyncDispose]());
afterEach(() => upstream.reset());

const header = { type: 'header', header: 'Authorization', prefix: 'Bearer ' } as const;
const rates = { name: 'rates', origin, pathPrefix: '/v1', credential: header };
const own = {
  name: 'own',
  origin,
  pathPrefix: '/own',
  methods: ['GET', 'POST'],
  credential: { type: 'identity' },
};
const open = { name: 'open', origin, pathPrefix: '/open' };

/** A service with these connections, and what makes the requests of its plugins. */
async function start(t: TestContext, connections: readonly object[], options = {}) {
  const running = await startConnectedService(t, { outbound: { allow: [origin, shop] } });
  const set = await running.setNamespace({ connections });
  assert.equal(set.status, 201, JSON.stringify(set.body));
  return { ...running, ...startCalls(t, running, [origin, shop], options) };
}

const unreadable = {
  code: 'unreachable',
  message: 'What is granted cannot be read at the moment; try again.',
};

type Ended = Awaited<ReturnType<ReturnType<typeof startCalls>['call']>>;

const errorOf = (ended: Ended) => ('error' in ended ? ended.error : assert.fail('there is a response'));
const echoOf = (ended: Ended) => {
  assert.ok('response' in ended, JSON.stringify(ended));
  return JSON.parse(Buffer.from(ended.response.body).toString()) as UpstreamRequest;
};

describe('a call', () => {
  test('is made with the value of the tenant, else that of the environment, instead of the plugin’s header', async (t) => {
    const { call, setValue, ask } = await start(t, [rates]);
    const authorization = async () => {
      const ended = await call({ url: `${origin}/v1/latest`, headers: [['AUTHORIZATION', 'Bearer mine']] });
      return 'error' in ended ? ended.error : echoOf(ended).headers['authorization'];
    };
    assert.deepEqual(await authorization(), {
      code: 'credential-missing',
      message: 'The connection rates has no value for its credential yet.',
    });
    // Each change is known for the next call.
    upstream.handle = (request, response) =>
      response.end(
        JSON.stringify({
          ...request,
          headers: { authorization: request.headers['authorization']?.slice(0, 12) },
        }),
      );
    await setValue({ value: 'value-of-all' }, 'rates', 'environment/com.acme');
    assert.equal(await authorization(), 'Bearer value');
    assert.equal(upstream.requests.at(-1)?.headers['authorization'], 'Bearer value-of-all');
    await setValue({ value: 'value-of-t1' }, 'rates');
    await authorization();
    assert.equal(upstream.requests.at(-1)?.headers['authorization'], 'Bearer value-of-t1');
    await ask('DELETE', '/api/v1/tenant/com.acme.t1/connections/default/rates');
    await authorization();
    assert.equal(upstream.requests.at(-1)?.headers['authorization'], 'Bearer value-of-all');
  });

  test('returns the response and a record without query', async (t) => {
    const { call } = await start(t, [{ ...open, methods: ['POST'] }]);
    upstream.handle = (_, response) =>
      response.writeHead(418, 'Short and stout', { 'x-a': 'b' }).end('teapot');
    const { record, ...ended } = await call({
      method: 'POST',
      url: `${origin}/open/a?token=1#b`,
      body: Buffer.from('hello'),
    });
    assert.ok('response' in ended);
    const { headers, body, ...response } = ended.response;
    assert.deepEqual(response, {
      status: 418,
      statusText: 'Short and stout',
      url: `${origin}/open/a?token=1`,
    });
    assert.equal(new Map(headers).get('x-a'), 'b');
    assert.equal(Buffer.from(body).toString(), 'teapot');
    const { took, ...recorded } = record;
    assert.ok(took > 0);
    assert.deepEqual(recorded, {
      connection: 'open',
      method: 'POST',
      url: `${origin}/open/a`,
      status: 418,
      requestBytes: 5,
      responseBytes: 6,
    });
  });

  test('that is not granted says what is, and is recorded', async (t) => {
    const { call, setNamespace } = await start(t, [open]);
    const { record, ...ended } = await call({ url: 'https://user:pw@other.example/a?b' });
    assert.deepEqual(ended, {
      error: {
        code: 'not-granted',
        message: 'GET https://other.example/a is not granted: the address names a user or a password.',
      },
    });
    assert.deepEqual(
      { ...record, took: 0 },
      {
        connection: '',
        method: 'GET',
        url: 'https://other.example/a',
        error: 'not-granted',
        took: 0,
        requestBytes: 0,
        responseBytes: 0,
      },
    );
    const posted = errorOf(await call({ method: 'POST', url: `${origin}/open` }));
    assert.equal(
      posted.message,
      `POST ${origin}/open is not granted. What is granted: open (GET ${origin}/open).`,
    );
    const long = errorOf(await call({ url: `${origin}/${'x'.repeat(5000)}` }));
    assert.match(long.message, /xxx is not granted\. What is granted: open \(/);
    for (const request of [
      { url: 'nonsense' },
      { url: `${origin}/open`, method: 'CONNECT' },
      { url: `${origin}/opener` },
    ])
      assert.equal(errorOf(await call(request)).code, 'not-granted');
    await setNamespace({ connections: null });
    assert.match(
      errorOf(await call({ url: `${origin}/open` })).message,
      /This namespace grants no requests\.$/,
    );
    assert.equal(upstream.requests.length, 0);
  });

  test('cannot set what belongs to the connection', async (t) => {
    const keyed = { ...rates, name: 'keyed', credential: { type: 'header', header: 'x-api-key' } };
    const { call, setValue } = await start(t, [open, keyed]);
    upstream.handle = (_, response) => response.end();
    await setValue({ value: 'key-of-t1' }, 'keyed');
    // Many servers read both spellings as one header.
    await call({
      url: `${origin}/v1`,
      headers: [
        ['x_api_key', 'mine'],
        ['X-API-KEY', 'mine'],
      ],
    });
    const { headers = {} } = upstream.requests[0] ?? {};
    assert.deepEqual([headers['x-api-key'], headers['x_api_key']], ['key-of-t1', undefined]);
    for (const name of ['host', 'Cookie', 'X-HTTP-Method-Override', 'transfer-encoding']) {
      const error = errorOf(await call({ url: `${origin}/open`, headers: [[name, 'x']] }));
      assert.deepEqual(error, { code: 'not-granted', message: `The header ${name} cannot be set.` });
    }
  });

  test('whose response holds the credential is refused, wherever it is', async (t) => {
    const { call, setValue } = await start(t, [rates, own]);
    await setValue({ value: 's3cret-of-t1' }, 'rates');
    const error = errorOf(await call({ url: `${origin}/v1` }));
    assert.equal(error.code, 'response-refused');
    assert.doesNotMatch(error.message, /s3cret/);
    upstream.handle = ({ headers }, response) =>
      response.writeHead(401, { 'www-authenticate': `x ${headers['authorization']}` }).end();
    assert.equal(errorOf(await call({ url: `${origin}/v1` })).code, 'response-refused');
    // That of an identity, too.
    assert.equal(errorOf(await call({ url: `${origin}/own` })).code, 'response-refused');
    await setValue({ value: 'gehäuse' }, 'rates');
    // Node writes headers that go out with a text as UTF-8.
    upstream.handle = ({ headers }, response) =>
      response.setHeader('x-key', headers['authorization'] ?? '').end('ok');
    assert.equal(errorOf(await call({ url: `${origin}/v1` })).code, 'response-refused');
  });

  test('of a wildcard goes to the origin that the tenant has, and no other tenant’s', async (t) => {
    const wildcard = { name: 'shop', origin: `https://*.shops.example.com:${upstream.port}` };
    const { call, setValue, ask } = await start(t, [wildcard]);
    await ask('POST', `/api/v1/tenant/com.acme.${encodeURIComponent(longName)}`);
    const t2 = { ...run, plugin: { ...run.plugin, tenant: 't2' } };
    const { code, message } = errorOf(await call({ url: `${shop}/` }));
    assert.equal(code, 'not-granted');
    assert.match(message, /: shop \(nothing yet: no origin of the form \S+ is set for this tenant\)\.$/);
    assert.equal((await setValue({ origin: shop }, 'shop')).status, 204);
    await setValue({ origin: shop.replace('t1', 't2') }, 'shop', 'tenant/com.acme.t2');
    // The upstream does not speak TLS: what is granted is unreachable.
    assert.equal(errorOf(await call({ url: `${shop}/` })).code, 'unreachable');
    assert.equal(errorOf(await call({ url: `${shop}/` }, t2)).code, 'not-granted');
    const other = errorOf(await call({ url: `${shop.replace('t1', 't2')}/` }));
    assert.equal(other.code, 'not-granted');
    assert.ok(other.message.endsWith(` What is granted: shop (GET ${shop}).`), other.message);
  });

  test('of a wildcard sends no value that was set for another origin meanwhile', async (t) => {
    const wildcard = {
      name: 'shop',
      origin: `https://*.shops.example.com:${upstream.port}`,
      credential: header,
    };
    const { call, setValue, storage } = await start(t, [wildcard]);
    await setValue({ origin: shop, value: 'value-of-shop' }, 'shop');
    const { runs } = storage;
    const read = runs.tenant.bind(runs);
    // Read after the grant was found, and before the value is read.
    const mocked = t.mock.method(runs, 'tenant', async (...args: Parameters<typeof read>) => {
      mocked.mock.restore();
      await setValue({ origin: shop.replace('t1', 't2'), value: 'value-of-t2' }, 'shop');
      return read(...args);
    });
    assert.deepEqual(errorOf(await call({ url: `${shop}/` })), {
      code: 'not-granted',
      message: `GET ${shop}/ is not granted any more: the grant was withdrawn.`,
    });
  });

  test('is counted by tenant over all nodes', async (t) => {
    const { call, ask } = await start(t, [open], { perMinute: 2 });
    await ask('POST', `/api/v1/tenant/com.acme.${encodeURIComponent(longName)}`);
    const codes = async (tenant: string) => {
      const context = { ...run, plugin: { ...run.plugin, tenant } };
      const ended = [];
      for (let i = 0; i < 4; i++) ended.push(await call({ url: `${origin}/open` }, context));
      return ended.map((one) => ('error' in one ? one.error : 'made'));
    };
    const refused = { code: 'too-many-calls', message: 'This tenant may make 2 requests a minute.' };
    assert.deepEqual(await codes('t1'), ['made', 'made', refused, refused]);
    assert.deepEqual(await codes(longName), ['made', 'made', refused, refused]);
  });

  test('past a rate that is unknown says so', async (t) => {
    const { call } = await start(t, [open], { perMinute: 2 });
    t.mock.method(Rates.prototype, 'take', () => ({ endsAt: 0, isUnknown: true }));
    assert.deepEqual(errorOf(await call({ url: `${origin}/open` })), unreadable);
  });

  test('that its run did not wait for is recorded', async (t) => {
    const { call } = await start(t, [open]);
    const aborted = new AbortController();
    upstream.handle = () => aborted.abort();
    const { record } = await call({ url: `${origin}/open` }, run, aborted.signal);
    assert.deepEqual([record.connection, record.error], ['open', 'cancelled']);
  });

  test('tells the operator’s metrics how it ended', async (t) => {
    const outcomes: string[] = [];
    const { call } = await start(t, [open], { onCall: (outcome: string) => outcomes.push(outcome) });
    await call({ url: `${origin}/open` });
    await call({ url: `${origin}/closed` });
    assert.deepEqual(outcomes, ['ok', 'not-granted']);
  });
});

describe('a call that waits when its grant is withdrawn', () => {
  for (const [what, withdraw] of [
    ['by the record', { connections: null }],
    ['by another path', { connections: [{ ...open, pathPrefix: '/other' }] }],
  ] as const) {
    test(`${what} ends with not-granted, on another node, too`, async (t) => {
      const running = await start(t, [open]);
      const otherNode = await openDuring(t, running.address, patientStorage);
      const other = startCalls(t, { ...running, storage: otherNode }, [origin]);
      upstream.handle = () => {};
      const waiting = [running, other].map(({ call }) => call({ url: `${origin}/open/a` }));
      await until('both calls wait', () => upstream.requests.length === 2);
      await running.setNamespace(withdraw);
      for (const ended of await Promise.all(waiting)) {
        assert.deepEqual(errorOf(ended), {
          code: 'not-granted',
          message: `GET ${origin}/open/a is not granted any more: the grant was withdrawn.`,
        });
        assert.equal(ended.record.connection, 'open');
      }
    });
  }

  test('ends with unreachable where what is granted cannot be read', async (t) => {
    const { call, setNamespace, storage } = await start(t, [open]);
    const waits = Promise.withResolvers<void>();
    upstream.handle = () => waits.resolve();
    const waiting = call({ url: `${origin}/open` });
    await waits.promise;
    t.mock.method(storage.runs, 'connections', () => Promise.reject(new StorageUnavailableError('away')));
    await setNamespace({ connections: [open, rates] });
    assert.deepEqual(errorOf(await waiting), unreadable);
  });

  test('goes on where something else changes', async (t) => {
    const { call, setNamespace } = await start(t, [open]);
    const answered = Promise.withResolvers<() => void>();
    upstream.handle = (_, response) => answered.resolve(() => response.end('done'));
    const waiting = call({ url: `${origin}/open` });
    const answer = await answered.promise;
    await setNamespace({ connections: [open, rates] });
    answer();
    assert.equal('response' in (await waiting), true);
  });
});

describe('an identity', () => {
  test('says which plugin asks, and is verified by the published keys', async (t) => {
    const { call, fetch, clock } = await start(t, [own]);
    // The first key is published before it is used.
    const keys = (await (await fetch('/.well-known/jwks.json')).json()) as JSONWebKeySet;
    assert.equal(keys.keys.length, 1);
    assert.deepEqual(Object.keys(keys.keys[0] ?? {}).toSorted(), ['alg', 'crv', 'kid', 'kty', 'use', 'x']);
    upstream.handle = (_, response) => response.end();
    const claimsOf = async (context = run) => {
      await call({ url: `${origin}/own`, headers: [['authorization', 'mine']] }, context);
      const [, token = ''] = upstream.requests.at(-1)?.headers['authorization']?.split('Bearer ') ?? [];
      return jwtVerify(token, createLocalJWKSet(keys), {
        issuer: 'https://plugins.example.com',
        audience: origin,
        currentDate: new Date(clock.now),
      });
    };
    const { payload, protectedHeader } = await claimsOf();
    const issuedAt = clock.now / 1000;
    const expected = {
      environment: 'com.acme',
      tenant: 't1',
      namespace: 'default',
      plugin: 'add-record',
      run: run.runId,
      iss: 'https://plugins.example.com',
      aud: origin,
      sub: 'com.acme.t1',
      iat: issuedAt,
      exp: issuedAt + 60,
    };
    assert.deepEqual(payload, { ...expected, version: 'v1.0.0' });
    assert.deepEqual(protectedHeader, { alg: 'EdDSA', kid: keys.keys[0]?.kid, typ: 'JWT' });
    assert.deepEqual((await claimsOf({ ...run, isTest: true })).payload, { ...expected, test: true });
  });

  test('is signed by keys that all nodes share, published an hour before and after they sign', async (t) => {
    const running = await start(t, [own]);
    const { clock, identity, fetch } = running;
    const otherNode = await openDuring(t, running.address, patientStorage);
    const { identity: other } = startCalls(t, { ...running, storage: otherNode }, [origin]);
    const [hour, month] = [3_600_000, 30 * 24 * 3_600_000];
    const begin = clock.now;
    const published = async () => {
      const { keys } = (await (await fetch('/.well-known/jwks.json')).json()) as JSONWebKeySet;
      return keys.map(({ kid }) => kid);
    };
    const signedBy = async (by = identity) => {
      const token = await by.sign(run, { issuer: 'https://a.example', audience: 'https://b.example' });
      const [head = ''] = token.split('.');
      return (JSON.parse(Buffer.from(head, 'base64url').toString()) as { kid: string }).kid;
    };
    const [first] = await published();
    assert.deepEqual([await signedBy(), await signedBy(other)], [first, first]);
    clock.now = begin + month - hour + 1;
    assert.deepEqual([await signedBy(), await signedBy(other)], [first, first]);
    const [, second, ...more] = await published();
    assert.ok(second !== undefined && !more.length);
    clock.now = begin + month + 2;
    assert.deepEqual([await signedBy(), await signedBy(other)], [second, second]);
    assert.deepEqual(await published(), [first, second]);
    clock.now += hour;
    assert.deepEqual(await published(), [second]);
    // A service that nobody asked for months publishes a key for an hour before it uses it.
    clock.now += 3 * month;
    assert.deepEqual([await signedBy(), await signedBy(other)], [second, second]);
    assert.equal((await published()).length, 2);
    const rows = await running.storage.db.query.selectFrom('identity_keys').selectAll().execute();
    assert.doesNotMatch(JSON.stringify(rows), /"d\\*":/);
  });
});
