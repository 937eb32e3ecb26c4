import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ADDRESS, FIELDS, OWN, PARTNER, TOKEN_RULE, startEndpoint } from './endpoint-fixture.ts';

const preflight = (headers: Record<string, string>) =>
  new Request(ADDRESS, {
    method: 'OPTIONS',
    headers: { 'access-control-request-method': 'POST', 'sec-fetch-site': 'cross-site', ...headers },
  });

const lists = (value: string | null) => (value ?? '').split(',').map((item) => item.trim().toLowerCase());

describe('a preflight', () => {
  test('from an allowed origin gets 204 and exactly its permissions', async () => {
    await using at = await startEndpoint({ allowedOrigins: [PARTNER, 'https://other.example'] });
    const { status, headers, body } = await at.endpoint(
      preflight({
        origin: PARTNER,
        'access-control-request-headers': 'content-type,x-csrf-token, Authorization',
      }),
    );
    assert.equal(status, 204);
    assert.equal(body, null);
    assert.equal(headers.get('access-control-allow-origin'), PARTNER);
    assert.equal(headers.get('access-control-allow-credentials'), 'true');
    assert.equal(headers.get('access-control-allow-methods'), 'POST, GET, OPTIONS');
    assert.equal(headers.get('access-control-allow-headers'), 'content-type, x-csrf-token, authorization');
    assert.match(headers.get('access-control-max-age') ?? '', /^\d+$/);
    assert.ok(lists(headers.get('vary')).includes('origin'));
    assert.deepEqual(await at.builderRequests(), []);
  });

  test('allows content-type even when the page names no header', async () => {
    await using at = await startEndpoint({ allowedOrigins: [PARTNER] });
    const { headers } = await at.endpoint(preflight({ origin: PARTNER }));
    assert.equal(headers.get('access-control-allow-headers'), 'content-type');
  });

  test('does not repeat an invalid header name', async () => {
    await using at = await startEndpoint({ allowedOrigins: [PARTNER] });
    const requestedHeaders = 'x-a, x b, x:c, <script>, "q", x-a, , x-ü, x_d';
    const request = preflight({ origin: PARTNER, 'access-control-request-headers': requestedHeaders });
    const { headers } = await at.endpoint(request);
    assert.equal(headers.get('access-control-allow-headers'), 'content-type, x-a, x_d');
  });

  for (const origin of ['https://evil.example', 'null', `${PARTNER}.evil.example`, OWN]) {
    test(`from ${origin} gets 403 and no permissions`, async () => {
      await using at = await startEndpoint({ allowedOrigins: [PARTNER] });
      const { status, headers } = await at.endpoint(preflight({ origin }));
      assert.equal(status, 403);
      const corsHeaders = [...headers.keys()].filter((name) => name.startsWith('access-control-'));
      assert.deepEqual(corsHeaders, []);
    });
  }
});

const broken = () => Promise.reject(new Error('broken'));

describe('every response to an allowed origin', () => {
  const partner = { origin: PARTNER, 'sec-fetch-site': 'cross-site' };
  for (const [status, body, headers, init, options, rule] of [
    [200, FIELDS, {}, {}, {}, TOKEN_RULE],
    [400, {}, {}, {}, {}, TOKEN_RULE],
    [403, FIELDS, {}, {}, { authorize: () => false as const }, TOKEN_RULE],
    [405, FIELDS, {}, { method: 'PUT' }, {}, TOKEN_RULE],
    [413, 'x'.repeat(5000), {}, {}, {}, TOKEN_RULE],
    [415, FIELDS, { 'content-type': 'text/plain' }, {}, {}, TOKEN_RULE],
    [500, FIELDS, {}, {}, { authorize: broken }, TOKEN_RULE],
    [502, FIELDS, {}, {}, {}, { path: '*', status: 500 }],
    [401, FIELDS, {}, {}, { authorize: () => new Response(null, { status: 401 }) }, TOKEN_RULE],
    [302, FIELDS, {}, {}, { authorize: () => Response.redirect('https://app.example/login') }, TOKEN_RULE],
  ] as const) {
    test(`can be read there with status ${status}`, async () => {
      await using at = await startEndpoint({ allowedOrigins: [PARTNER], ...options }, rule);
      const response = await at.sendRequest(body, { ...partner, ...headers }, init);
      assert.equal(response.status, status);
      assert.equal(response.headers.get('access-control-allow-origin'), PARTNER);
      assert.equal(response.headers.get('access-control-allow-credentials'), 'true');
      // The page counts a token's life from the response's Date, which CORS hides unless it is named.
      assert.equal(response.headers.get('access-control-expose-headers'), 'date, retry-after');
      assert.equal(response.headers.get('vary'), 'origin');
    });
  }
});
