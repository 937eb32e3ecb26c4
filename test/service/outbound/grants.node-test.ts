import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  canOverlap,
  describeGrants,
  findGrant,
  findOriginProblem,
  findPrefixProblem,
  parseTarget,
} from '../../../service/src/outbound/grants.ts';
import type { Connection } from '../../../service/src/plugins/connections.ts';

const connections: readonly Connection[] = [
  { name: 'rates', origin: 'https://api.example.com', pathPrefix: '/v1' },
  { name: 'orders', origin: 'https://orders.example.com', methods: ['GET', 'POST'] },
  { name: 'shop', origin: 'https://*.shops.example.com', pathPrefix: '/api/' },
];

/** The connection that permits a request of a tenant whose shop is "acme". */
async function grantOf(method: string, url: string): Promise<string | undefined> {
  const target = parseTarget(url);
  if ('problem' in target) return undefined;
  const found = await findGrant(
    connections,
    method,
    target.url,
    async () => 'https://acme.shops.example.com',
  );
  return found?.name;
}

describe('a request is granted', () => {
  for (const [request, name] of [
    ['GET https://api.example.com/v1', 'rates'],
    ['GET https://api.example.com/v1/', 'rates'],
    ['GET https://api.example.com/v1/latest?base=EUR#x', 'rates'],
    ['GET HTTPS://API.Example.com:443/v1/latest', 'rates'],
    ['GET https://api.example.com/v2/../v1/latest', 'rates'],
    ['GET https://api.example.com/v1/a%20b', 'rates'],
    ['POST https://orders.example.com/', 'orders'],
    ['GET https://acme.shops.example.com/api', 'shop'],
    ['GET https://acme.shops.example.com/api/a', 'shop'],
  ] as const) {
    const [method = '', url = ''] = request.split(' ');
    test(request, async () => assert.equal(await grantOf(method, url), name));
  }
});

describe('a request is not granted', () => {
  for (const request of [
    'POST https://api.example.com/v1',
    'get https://api.example.com/v1',
    'GET http://api.example.com/v1',
    'GET https://api.example.com:8443/v1',
    'GET https://api.example.com./v1',
    'GET https://api.example.com.evil.example/v1',
    'GET https://evil.example/https://api.example.com/v1',
    'GET https://api.example.com@evil.example/v1',
    'GET https://user@api.example.com/v1',
    'GET https://:password@api.example.com/v1',
    'GET https://api.example.com/v10',
    'GET https://api.example.com/V1',
    'GET https://api.example.com/%76%31',
    'GET https://api.example.com/v1/../admin',
    'GET https://api.example.com/v1/%2e%2e/admin',
    'GET https://api.example.com/v1/.%2E/admin',
    'GET https://api.example.com/v1/%\t2e%2e/admin',
    'GET https://api.example.com/v1/..%2fadmin',
    'GET https://api.example.com/v1/..%5cadmin',
    'GET https://api.example.com/v1/..\\admin',
    'GET https://api.example.com/v1/a%2Fb',
    'GET https://api.example.com/v1/%252e%252e/admin',
    'GET https://api.example.com/v1/..%25252fadmin',
    'GET https://api.example.com/v1/..;/admin',
    'GET https:\\\\api.example.com\\v1',
    'GET file:///v1',
    'GET /v1',
    'GET https://other.shops.example.com/api',
    'GET https://a.acme.shops.example.com/api',
    'GET https://shops.example.com/api',
    'GET https://*.shops.example.com/api',
  ]) {
    const split = request.indexOf(' ');
    test(request, async () => {
      assert.equal(await grantOf(request.slice(0, split), request.slice(split + 1)), undefined);
    });
  }
});

test('a wildcard grants no origin that was set for a former one, and the message says so', async () => {
  let reads = 0;
  const originOf = async () => {
    reads++;
    return 'https://acme.shops.example.org';
  };
  const url = new URL('https://acme.shops.example.org/api');
  assert.equal(await findGrant(connections, 'GET', url, originOf), undefined);
  // The pattern does not cover the address.
  assert.equal(reads, 0);
  assert.equal(
    await describeGrants(connections.slice(1), originOf),
    'orders (GET, POST https://orders.example.com); ' +
      'shop (nothing yet: no origin of the form https://*.shops.example.com is set for this tenant)',
  );
});

test('an origin has a form that browsers write, and a wildcard is a whole label below a registered domain', () => {
  for (const origin of [
    'https://api.example.com',
    'https://api.example.com:8443',
    'http://localhost:5173',
    'https://*.example.com',
    'https://*.example.co.uk:8443',
    'https://*.acme.github.io',
  ])
    assert.equal(findOriginProblem(origin), undefined, origin);
  for (const [origin, problem] of [
    ['api.example.com', /^be an origin/],
    ['ftp://example.com', /^be an origin/],
    ['https://api.example.com/', /as browsers write it: https:\/\/api\.example\.com$/],
    ['https://api.example.com/v1', /https:\/\/api\.example\.com, with the path in `pathPrefix`$/],
    ['https://API.example.com', /https:\/\/api\.example\.com$/],
    ['https://api.example.com:443', /https:\/\/api\.example\.com$/],
    ['https://user@api.example.com', /https:\/\/api\.example\.com$/],
    ['https://bücher.example', /https:\/\/xn--bcher-kva\.example$/],
    ['http://*.example.com', /the whole first label/],
    ['https://a*.example.com', /the whole first label/],
    ['https://a.*.example.com', /the whole first label/],
    ['https://*.*.example.com', /the whole first label/],
    ['https://*', /registered domain/],
    ['https://*.com', /registered domain/],
    ['https://*.co.uk', /registered domain/],
    ['https://*.github.io', /registered domain/],
    ['https://*.s3.amazonaws.com', /registered domain/],
  ] as const)
    assert.match(findOriginProblem(origin) ?? '', problem, origin);
});

test('a prefix is a path as it is compared', () => {
  for (const prefix of ['/', '/v1', '/v1/', '/a%20b'])
    assert.equal(findPrefixProblem(prefix), undefined, prefix);
  for (const prefix of [
    'v1',
    '',
    '/v1?x',
    '/v1#x',
    '/a/../b',
    '/a/./b',
    '/a%2fb',
    '/a\\b',
    '/a b',
    '//evil.example/..',
  ])
    assert.notEqual(findPrefixProblem(prefix), undefined, prefix);
});

test('two connections overlap where some request would match both', () => {
  const base = { origin: 'https://a.example.com' };
  const overlap = (a: Partial<Connection>, b: Partial<Connection>) =>
    canOverlap({ ...base, name: 'a', ...a }, { ...base, name: 'b', ...b });
  assert.equal(overlap({}, {}), true);
  assert.equal(overlap({ pathPrefix: '/v1' }, { pathPrefix: '/v1/x' }), true);
  assert.equal(overlap({ pathPrefix: '/v1/' }, { pathPrefix: '/v1' }), true);
  assert.equal(overlap({}, { origin: 'https://*.example.com' }), true);
  assert.equal(overlap({ origin: 'https://*.example.com' }, { origin: 'https://*.example.com' }), true);
  assert.equal(overlap({ pathPrefix: '/v1' }, { pathPrefix: '/v10' }), false);
  assert.equal(overlap({}, { methods: ['POST'] }), false);
  assert.equal(overlap({}, { origin: 'https://a.example.com:8443' }), false);
  assert.equal(overlap({}, { origin: 'https://*.a.example.com' }), false);
});
