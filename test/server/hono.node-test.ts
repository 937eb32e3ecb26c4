import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { getRequestListener } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { getSignedCookie, setSignedCookie } from 'hono/cookie';
import { createTokenEndpoint } from '../../src/server/token-endpoint.ts';
import { FIELDS, IDENT, PARTNER, startEndpoint } from './endpoint-fixture.ts';
import { listen, rawRequest } from './raw-request.ts';

const SECRET = 'for this test';

/** By default the adapter replaces the global `Request` and `Response` by its own. */
for (const overrideGlobalObjects of [false, true]) {
  const startVendor = async () => {
    const at = await startEndpoint();
    const endpoint = createTokenEndpoint<Context>({
      access: at.access,
      allowedOrigins: [PARTNER],
      authorize: async (_, __, c) =>
        (await getSignedCookie(c, SECRET, 'ident')) || c.json({ error: 'sign in' }, 401),
    });
    const app = new Hono();
    app.post('/sign-in', async (c) => {
      const { ident } = await c.req.json<{ ident: string }>();
      await setSignedCookie(c, 'ident', ident, SECRET);
      return c.body(null, 204);
    });
    app.all('/token', (c) => endpoint(c.req.raw, c));
    const listener = getRequestListener(app.fetch, { overrideGlobalObjects });
    const server = await listen((req, res) => void listener(req, res));
    const signIn = async (ident: string) => {
      const response = await rawRequest(server.port, { path: '/sign-in', body: { ident } });
      return String(response.headers['set-cookie']?.[0]?.split(';')[0]);
    };
    return {
      at,
      signIn,
      port: server.port,
      [Symbol.asyncDispose]: async () => {
        await server[Symbol.asyncDispose]();
        await at[Symbol.asyncDispose]();
      },
    };
  };

  describe(`a Hono app, overrideGlobalObjects: ${overrideGlobalObjects}`, () => {
    test('gives a signed-in user a token, by POST and GET', async () => {
      await using vendor = await startVendor();
      const headers = { cookie: await vendor.signIn(IDENT) };
      const path = `/token?${new URLSearchParams(FIELDS)}`;
      for (const request of [{ body: FIELDS }, { method: 'GET', path }]) {
        const response = await rawRequest(vendor.port, { ...request, headers });
        assert.deepEqual([response.status, response.json], [200, { token: 'editor-1' }]);
      }
      assert.equal((await vendor.at.builderRequests()).length, 2);
    });

    test('denies a plugin of another tenant, another origin, and a body that is too large', async () => {
      await using vendor = await startVendor();
      const cookie = await vendor.signIn('com.acme.customer-8');
      const requestStatus = async (body: unknown, headers: Record<string, string | undefined> = {}) =>
        (await rawRequest(vendor.port, { body, headers: { cookie, ...headers } })).status;
      assert.equal(await requestStatus(FIELDS), 403);
      assert.equal(
        await requestStatus(FIELDS, { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }),
        403,
      );
      assert.equal(await requestStatus('x'.repeat(5000), { 'transfer-encoding': 'chunked' }), 413);
      assert.equal(await requestStatus('{'), 400);
      assert.deepEqual(await vendor.at.builderRequests(), []);
    });

    test('sends its own 401, which a page of an allowed origin can read', async () => {
      await using vendor = await startVendor();
      const headers = { origin: PARTNER, 'sec-fetch-site': 'cross-site' };
      const response = await rawRequest(vendor.port, { body: FIELDS, headers });
      assert.deepEqual([response.status, response.json], [401, { error: 'sign in' }]);
      assert.equal(response.headers['access-control-allow-origin'], PARTNER);
    });

    test('compares the origin with Host when there is no Sec-Fetch-Site', async () => {
      await using vendor = await startVendor();
      const cookie = await vendor.signIn(IDENT);
      const requestFrom = (origin: string) =>
        rawRequest(vendor.port, {
          body: FIELDS,
          headers: { cookie, origin, host: 'app.example', 'sec-fetch-site': undefined },
        });
      assert.equal((await requestFrom('http://app.example')).status, 200);
      assert.equal((await requestFrom('http://evil.example')).status, 403);
    });

    test('cancels the request to the builder when the client disconnects', async () => {
      await using vendor = await startVendor();
      await vendor.at.builder.reset({ path: '*', delay: 'hang' });
      const headers = { cookie: await vendor.signIn(IDENT) };
      const controller = new AbortController();
      const response = rawRequest(vendor.port, { body: FIELDS, headers, signal: controller.signal });
      await vendor.at.builder.requests(1);
      controller.abort();
      await assert.rejects(response, { name: 'AbortError' });
      assert.equal((await vendor.at.builder.aborted()).length, 1);
    });
  });
}
