import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import express, { type RequestHandler } from 'express';
import session from 'express-session';
import { type NodeContext, toNodeHandler } from '../../src/server/to-node-handler.ts';
import { createTokenEndpoint } from '../../src/server/token-endpoint.ts';
import { FIELDS, IDENT, startEndpoint } from './endpoint-fixture.ts';
import { type RawResponse, listen, rawRequest } from './raw-request.ts';

declare module 'express-session' {
  interface SessionData {
    ident: string;
  }
}

const access = { getEditorToken: () => Promise.resolve({ token: 'editor-1' }) };
const open = createTokenEndpoint<NodeContext>({ access, authorize: () => IDENT });

/** A typical app of a vendor: sessions, JSON bodies for all routes, a sign-in and the endpoint. */
async function startVendor() {
  const at = await startEndpoint();
  const endpoint = createTokenEndpoint<NodeContext<express.Request, express.Response>>({
    access: at.access,
    authorize: (_, __, { req }) =>
      req.session.ident ?? new Response(null, { status: 401, headers: { 'set-cookie': 'hint=sign-in' } }),
  });
  const app = express();
  app.use(session({ secret: 'for this test', resave: true, saveUninitialized: true, rolling: true }));
  app.use(express.json());
  app.post('/sign-in', (req, res) => {
    req.session.ident = (req.body as { ident: string }).ident;
    res.status(204).end();
  });
  app.all('/plugins/editor-token', toNodeHandler(endpoint));
  const server = await listen(app);
  const path = '/plugins/editor-token';
  return {
    at,
    sendRequest: (cookie?: string) => rawRequest(server.port, { path, body: FIELDS, headers: { cookie } }),
    signIn: async (ident: string) => {
      const response = await rawRequest(server.port, { path: '/sign-in', body: { ident } });
      return cookieOf(response);
    },
    [Symbol.asyncDispose]: async () => {
      await server[Symbol.asyncDispose]();
      await at[Symbol.asyncDispose]();
    },
  };
}

const cookieOf = (response: RawResponse) => String(response.headers['set-cookie']?.[0]?.split(';')[0]);

describe('an Express 5 app with sessions and express.json()', () => {
  test('gives a signed-in user a token for a plugin of the same tenant', async () => {
    await using vendor = await startVendor();
    const response = await vendor.sendRequest(await vendor.signIn(IDENT));
    assert.deepEqual([response.status, response.json], [200, { token: 'editor-1' }]);
    assert.equal((await vendor.at.builderRequests()).length, 1);
  });

  test('denies a plugin of another tenant', async () => {
    await using vendor = await startVendor();
    const response = await vendor.sendRequest(await vendor.signIn('com.acme.customer-8'));
    assert.deepEqual([response.status, response.json.error?.code], [403, 'not-authorized']);
    assert.deepEqual(await vendor.at.builderRequests(), []);
  });

  test('sends its own 401 without a session, with the session’s cookie', async () => {
    await using vendor = await startVendor();
    const response = await vendor.sendRequest();
    assert.equal(response.status, 401);
    const names = response.headers['set-cookie']?.map((cookie) => cookie.split('=')[0]);
    assert.deepEqual(names?.toSorted(), ['connect.sid', 'hint']);
  });
});

/** The response of an app with the handlers `before` in front of the endpoint. */
async function askBehind(before: RequestHandler[], body: unknown, headers: Record<string, string> = {}) {
  const app = express();
  for (const handler of before) app.use(handler);
  app.all('/token', toNodeHandler(open));
  await using server = await listen(app);
  return await rawRequest(server.port, { body, headers });
}

const setEmptyBody: RequestHandler = (req, _, next) => {
  req.body = {};
  next();
};
const drain: RequestHandler = (req, _, next) => {
  req.resume().on('end', () => next());
};
const setStringBody: RequestHandler = (req, _, next) => {
  req.setEncoding('utf8');
  next();
};

describe('a token endpoint behind', () => {
  const type = 'application/json';
  for (const [name, before, body, status] of [
    ['nothing', [], FIELDS, 200],
    ['express.json()', [express.json()], FIELDS, 200],
    ['express.json(), an empty object', [express.json()], {}, 400],
    ['express.json(), no body', [express.json()], undefined, 400],
    ['express.json({ strict: false }), null', [express.json({ strict: false })], 'null', 400],
    ['express.json({ strict: false }), 0', [express.json({ strict: false })], '0', 400],
    ['express.json(), 4097 bytes', [express.json()], JSON.stringify(FIELDS).padEnd(4097), 413],
    ['express.json(), 8 KiB of JSON', [express.json()], { ...FIELDS, fn: 'x'.repeat(8192) }, 413],
    ['express.text()', [express.text({ type })], FIELDS, 200],
    ['express.raw()', [express.raw({ type })], FIELDS, 200],
    ['express.urlencoded(), which reads no JSON', [express.urlencoded()], FIELDS, 200],
    ['Express 4, which sets {} without reading', [setEmptyBody], FIELDS, 200],
    ['setEncoding()', [setStringBody], FIELDS, 200],
  ] as [string, RequestHandler[], unknown, number][]) {
    test(`${name} answers ${status}`, async () => {
      assert.equal((await askBehind(before, body)).status, status);
    });
  }

  test('express.json() for all types denies text/plain, which needs no preflight', async () => {
    const response = await askBehind([express.json({ type: '*/*' })], FIELDS, {
      'content-type': 'text/plain',
    });
    assert.equal(response.status, 415);
  });

  test('something that consumed the body passes an error to Express that says so', async () => {
    const app = express();
    app.use(drain);
    app.all('/token', toNodeHandler(open));
    const errors: unknown[] = [];
    app.use(((error, _, res, __) => {
      errors.push(error);
      res.status(500).end();
    }) satisfies express.ErrorRequestHandler);
    await using server = await listen(app);
    assert.equal((await rawRequest(server.port, { body: FIELDS })).status, 500);
    assert.match(String(errors[0]), /body was read .* req\.body is not set; parse it with express\.json\(\)/);
  });
});

describe('the URL of a request in Express', () => {
  async function addressOf(trust: boolean, headers: Record<string, string>) {
    const addresses: string[] = [];
    const app = express();
    app.set('trust proxy', trust);
    const router = express.Router();
    router.all(
      '/token',
      toNodeHandler(async ({ url }) => Response.json(addresses.push(url))),
    );
    app.use('/plugins', router);
    await using server = await listen(app);
    await rawRequest(server.port, {
      path: '/plugins/token?a=1',
      headers: { host: 'app.example', ...headers },
    });
    return addresses[0];
  }

  test('has the requested path, wherever the handler is mounted', async () => {
    assert.equal(await addressOf(false, {}), 'http://app.example/plugins/token?a=1');
  });

  test('has the scheme that a trusted proxy reports, and ignores others', async () => {
    const headers = { 'x-forwarded-proto': 'https' };
    assert.equal(await addressOf(true, headers), 'https://app.example/plugins/token?a=1');
    assert.equal(await addressOf(false, headers), 'http://app.example/plugins/token?a=1');
  });

  test('makes the public origin behind a trusted proxy the allowed one', async () => {
    const app = express();
    app.set('trust proxy', true);
    app.all('/token', toNodeHandler(open));
    await using server = await listen(app);
    const headers = { 'sec-fetch-site': undefined, host: 'app.example', 'x-forwarded-proto': 'https' };
    const requestFrom = (origin: string) =>
      rawRequest(server.port, { body: FIELDS, headers: { ...headers, origin } });
    assert.equal((await requestFrom('https://app.example')).status, 200);
    assert.equal((await requestFrom('http://app.example')).status, 403);
  });
});
