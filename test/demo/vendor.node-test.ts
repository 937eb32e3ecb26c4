import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { generateSignedCookie } from 'hono/cookie';
import { Webhook } from 'standardwebhooks';
import { shareVendor } from './shared-demo.ts';
import { ORIGIN, OWN, targetOf } from './vendor-setup.ts';

const vendor = await shareVendor();

const askForToken = (cookie: string | undefined, body: unknown, headers: Record<string, string> = OWN) =>
  vendor.sendRequest('/plugins/editor-token', { method: 'POST', headers, body, ...(cookie && { cookie }) });

const codeOf = async (response: Response) =>
  ((await response.json()) as { error: { code: string } }).error.code;

describe('signing in', () => {
  test('shows who could sign in, and nothing else, to a user who is signed out', async () => {
    const response = await vendor.sendRequest('/session');
    const session = (await response.json()) as { users: { id: string }[] };
    assert.deepEqual(Object.keys(session), ['users']);
    assert.deepEqual(
      session.users.map(({ id }) => id),
      ['ada', 'bram', 'cleo', 'dan', 'mia'],
    );
  });

  test('sets a cookie that scripts and other sites cannot read', async () => {
    const response = await vendor.sendRequest('/session', { method: 'POST', body: { user: 'ada' } });
    assert.equal(response.status, 200);
    const cookie = response.headers.get('set-cookie') ?? '';
    assert.match(cookie, /^larder-session-5173=ada\.\d+\.[^;]+;/);
    assert.match(cookie, /; HttpOnly/);
    assert.match(cookie, /; SameSite=Lax/);
    assert.match(cookie, /; Path=\//);
  });

  test('returns only the user’s tenants and the address of the service', async () => {
    const response = await vendor.sendRequest('/session', { cookie: await vendor.signIn('bram') });
    assert.equal(response.headers.get('cache-control'), 'no-store');
    const session = (await response.json()) as {
      tenants: { ident: string; plugins: { name: string }[] }[];
      stranger: { ident: string };
      service: object;
    };
    assert.deepEqual(
      session.tenants.map(({ ident }) => ident),
      ['com.example.customer-7', 'com.example.customer-8'],
    );
    assert.deepEqual(
      session.tenants[0]?.plugins.map(({ name }) => name),
      ['add-record', 'price-rule', 'greet-customer', 'check-stock', 'convert-price'],
    );
    assert.equal(session.stranger.ident, 'com.example.customer-9');
    // Another host name than the page's: the cookie is for the page's.
    const builder = `http://127.0.0.1:${vendor.servicePort}`;
    assert.deepEqual(session.service, { builder, editorUrl: `${builder}/editor/` });
  });

  test('names the service at localhost to a page at 127.0.0.1', async () => {
    const cookie = await vendor.signIn('ada');
    const response = await vendor.sendRequest('http://127.0.0.1:5173/session', { cookie });
    const { service } = (await response.json()) as { service: { builder: string } };
    assert.equal(service.builder, `http://localhost:${vendor.servicePort}`);
    assert.match(
      response.headers.get('content-security-policy') ?? '',
      new RegExp(`frame-src http://localhost:${vendor.servicePort};`),
    );
  });

  test('is undone by signing out, which removes the cookie', async () => {
    const response = await vendor.sendRequest('/session', {
      method: 'DELETE',
      cookie: await vendor.signIn('ada'),
    });
    assert.equal(response.status, 204);
    assert.match(response.headers.get('set-cookie') ?? '', /^larder-session-5173=; Max-Age=0; Path=\//);
  });

  for (const [what, body] of [
    ['nobody of that name', { user: 'mallory' }],
    ['a user that is no text', { user: ['ada'] }],
    ['no JSON', 'user=ada'],
  ] as const) {
    test(`is refused with 400 and no cookie: ${what}`, async () => {
      const response = await vendor.sendRequest('/session', { method: 'POST', body });
      assert.equal(response.status, 400);
      assert.equal(response.headers.get('set-cookie'), null);
    });
  }

  test('refuses a body that is too large', async () => {
    const response = await vendor.sendRequest('/session', {
      method: 'POST',
      body: { user: 'a'.repeat(5000) },
    });
    assert.equal(response.status, 413);
  });

  test('survives a body that is nested thousands deep', async () => {
    const body = `{"user":${'['.repeat(2000)}${']'.repeat(2000)}}`;
    assert.equal((await vendor.sendRequest('/session', { method: 'POST', body })).status, 400);
  });

  test('lasts over a restart of the service', () => {
    const again = vendor.reopen();
    assert.equal(again.cookieSecret, vendor.cookieSecret);
    again.close();
  });
});

describe('an editor token', () => {
  test('is given for a plugin of the user’s own tenant, and accepted by the service', async () => {
    const response = await askForToken(await vendor.signIn('ada'), targetOf('customer-7'));
    assert.equal(response.status, 200);
    const { token, expires_in } = (await response.json()) as { token: string; expires_in: number };
    assert.equal(expires_in, 900);
    const draft = await fetch(
      `http://127.0.0.1:${vendor.servicePort}/api/v1/draft/com.example.customer-7/orders/add-record`,
      { headers: { authorization: `Bearer ${token}` } },
    );
    // Let in, and nothing there yet.
    assert.equal(draft.status, 404);
  });

  for (const [user, tenant, status] of [
    ['bram', 'customer-7', 200],
    ['bram', 'customer-8', 200],
    ['bram', 'customer-9', 403],
    ['ada', 'customer-8', 403],
    ['cleo', 'customer-7', 403],
    ['ada', 'customer-77', 403],
    ['ada', 'x.customer-7', 403],
    ['dan', 'customer-7', 200],
    ['dan', 'customer-8', 403],
    ['mia', 'customer-7', 403],
  ] as const) {
    test(`for ${user} and ${tenant} is answered with ${status}`, async () => {
      const response = await askForToken(await vendor.signIn(user), targetOf(tenant));
      assert.equal(response.status, status);
      assert.equal((await response.text()).includes('"token"'), status === 200);
    });
  }

  test('is refused with 401 to a user who is signed out', async () => {
    const response = await askForToken(undefined, targetOf('customer-7'));
    assert.equal(response.status, 401);
    assert.equal(await codeOf(response), 'signed-out');
  });

  test('is refused with 401 to forged and expired cookies', async () => {
    const cookie = await vendor.signIn('cleo');
    const name = 'larder-session-5173';
    const signed = async (value: string, secret = vendor.cookieSecret) =>
      (await generateSignedCookie(name, value, secret)).split(';', 1)[0] as string;
    const later = Date.now() + 60_000;
    assert.equal((await askForToken(await signed(`ada.${later}`), targetOf('customer-7'))).status, 200);
    for (const forged of [
      cookie.replace('=cleo.', '=ada.'),
      cookie.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A')),
      `${name}=ada.${later}`,
      await signed(`ada.${later}`, 'another secret'),
      await signed(`ada.${Date.now() - 1}`),
      await signed(`mallory.${later}`),
      await signed('ada'),
    ]) {
      assert.equal((await askForToken(forged, targetOf('customer-7'))).status, 401, forged);
    }
  });

  test('comes in responses that never hold the environment token', async () => {
    const cookie = await vendor.signIn('ada');
    const responses = await Promise.all([
      vendor.sendRequest('/'),
      vendor.sendRequest('/session', { cookie }),
      askForToken(cookie, targetOf('customer-7')),
      askForToken(cookie, targetOf('customer-8')),
      askForToken(cookie, 'nonsense'),
    ]);
    for (const response of responses) {
      const content = JSON.stringify([...response.headers]) + (await response.text());
      assert.equal(content.includes(vendor.environmentToken), false);
    }
  });
});

describe('adding a plugin', () => {
  const add = async (user: string, ident: string, name: unknown) =>
    vendor.sendRequest('/plugins', {
      method: 'POST',
      body: { ident, name },
      cookie: await vendor.signIn(user),
    });

  test('puts it into the tenant’s list, for everybody who works for that tenant', async () => {
    assert.equal((await add('ada', 'com.example.customer-7', 'weigh-basket')).status, 201);
    const response = await vendor.sendRequest('/session', { cookie: await vendor.signIn('bram') });
    const { tenants } = (await response.json()) as { tenants: { plugins: { name: string }[] }[] };
    assert.deepEqual(
      tenants.map(({ plugins }) => plugins.some(({ name }) => name === 'weigh-basket')),
      [true, false],
    );
    const again = vendor.reopen();
    assert.deepEqual(again.pluginsOf('com.example.customer-7'), ['weigh-basket']);
    again.close();
  });

  test('outlasts that staff take the tenant on again where others did so before', async () => {
    assert.equal((await add('cleo', 'com.example.customer-8', 'count-oysters')).status, 201);
    const response = await vendor.sendRequest('/customers', {
      method: 'POST',
      body: { ident: 'com.example.customer-8' },
      cookie: await vendor.signIn('mia'),
    });
    assert.equal(response.status, 201);
    const session = await vendor.sendRequest('/session', { cookie: await vendor.signIn('cleo') });
    assert.match(await session.text(), /count-oysters/);
  });

  test('to another tenant’s list is refused', async () => {
    assert.equal((await add('ada', 'com.example.customer-8', 'intruder')).status, 403);
  });

  test('is refused with 401 to a user who is signed out', async () => {
    const response = await vendor.sendRequest('/plugins', {
      method: 'POST',
      body: { ident: 'com.example.customer-7', name: 'late' },
    });
    assert.equal(response.status, 401);
  });

  test('is refused with 409 when the name is taken', async () => {
    assert.equal((await add('ada', 'com.example.customer-7', 'twice')).status, 201);
    assert.equal((await add('ada', 'com.example.customer-7', 'twice')).status, 409);
    assert.equal((await add('ada', 'com.example.customer-7', 'price-rule')).status, 409);
  });

  for (const name of ['', 'Upper', 'a b', '../x', '-a', 'a-', 'a--b', 'ü', 'a'.repeat(41), 7, null]) {
    test(`is refused for the invalid name ${JSON.stringify(name)}`, async () => {
      assert.equal((await add('ada', 'com.example.customer-7', name)).status, 400);
    });
  }
});

describe('webhooks', () => {
  const tell = (body: string, headers: Record<string, string>) =>
    vendor.sendRequest('/webhooks', { method: 'POST', headers, body });
  const shownTo = async (user: string) => {
    const response = await vendor.sendRequest('/webhooks', { cookie: await vendor.signIn(user) });
    const { messages } = (await response.json()) as { messages: { type: string; fields: string }[] };
    return messages.map(({ type, fields }) => `${type}: ${fields}`);
  };

  test('are taken where they are signed, once each, and shown to who works for the customer', async () => {
    const at = new Date();
    const data = { ident: 'com.example.customer-7', name: 'price-rule', version: 'v1.0.0', actor: 'ada' };
    const body = JSON.stringify({ type: 'plugin.deployed', timestamp: at.toISOString(), data });
    const headers = {
      'webhook-id': 'msg_1',
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': new Webhook(vendor.webhookSecret).sign('msg_1', at, body),
    };
    const forged = await tell(body.replace('v1.0.0', 'v1.0.1'), headers);
    assert.deepEqual([forged.status, await codeOf(forged)], [401, 'not-signed']);
    for (let i = 0; i < 2; i++) assert.equal((await tell(body, headers)).status, 204);
    const expected = [
      'plugin.deployed: ident: com.example.customer-7, name: price-rule, version: v1.0.0, actor: Ada Lindqvist',
    ];
    assert.deepEqual(await shownTo('ada'), expected);
    assert.deepEqual(await shownTo('mia'), expected);
    assert.deepEqual(await shownTo('cleo'), []);
    assert.equal((await vendor.sendRequest('/webhooks')).status, 401);
  });
});

describe('other sites', () => {
  const sources: [string, Record<string, string>][] = [
    ['a cross-site request', { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }],
    ['a same-site request', { 'sec-fetch-site': 'same-site', origin: 'http://localhost:8082' }],
    ['another origin, from a browser without Sec-Fetch-Site', { origin: 'http://localhost:8082' }],
    ['an opaque origin', { origin: 'null' }],
    ['no header that says where the request is from', {}],
  ];
  for (const [what, headers] of sources) {
    test(`change nothing and get no token with ${what}`, async () => {
      const cookie = await vendor.signIn('ada');
      for (const [method, path, body] of [
        ['POST', '/session', { user: 'bram' }],
        ['DELETE', '/session', undefined],
        ['POST', '/plugins', { ident: 'com.example.customer-7', name: 'from-outside' }],
        ['PUT', '/plugins/live', { ident: 'com.example.customer-7', name: 'add-record', version: null }],
        ['PATCH', '/customers', { ident: 'com.example.customer-7', suspended: true }],
        ['DELETE', '/customers', { ident: 'com.example.customer-7' }],
        ['POST', '/customers', { ident: 'com.example.customer-7' }],
        ['POST', '/plugins/editor-token', targetOf('customer-7')],
      ] as const) {
        const response = await vendor.sendRequest(path, { method, headers, body, cookie });
        assert.equal(response.status, 403, `${method} ${path}`);
        assert.equal(response.headers.get('set-cookie'), null);
        assert.equal(response.headers.get('access-control-allow-origin'), null);
      }
    });
  }

  test('a browser that sends only the Origin header is accepted from the demo’s own page', async () => {
    const response = await vendor.sendRequest('/session', {
      method: 'POST',
      headers: { origin: ORIGIN },
      body: { user: 'ada' },
    });
    assert.equal(response.status, 200);
  });
});

describe('the demo’s server', () => {
  test('serves the page with a policy that names only the service', async () => {
    const response = await vendor.sendRequest('/');
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('cache-control'), 'no-cache');
    const service = `http://127.0.0.1:${vendor.servicePort}`;
    assert.deepEqual(response.headers.get('content-security-policy')?.split('; '), [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "img-src 'self' data:",
      `connect-src 'self' ${service}`,
      `frame-src ${service}`,
      "frame-ancestors 'none'",
      "base-uri 'none'",
      "form-action 'self'",
      "require-trusted-types-for 'script'",
      'trusted-types lit-html',
    ]);
    assert.equal(response.headers.get('x-content-type-options'), 'nosniff');
    assert.equal(response.headers.get('x-frame-options'), 'DENY');
    assert.equal(response.headers.get('referrer-policy'), 'strict-origin-when-cross-origin');
    assert.equal(response.headers.get('strict-transport-security'), null);
  });

  test('lets files with hashes in their names be cached', async () => {
    const response = await vendor.sendRequest('/assets/main-abcd1234.js');
    assert.equal(response.headers.get('content-type'), 'text/javascript');
    assert.equal(response.headers.get('cache-control'), 'public, max-age=31536000, immutable');
  });

  test('answers 404 in JSON to anything else', async () => {
    const response = await vendor.sendRequest('/demo/main.ts');
    assert.equal(response.status, 404);
    assert.equal(await codeOf(response), 'not-found');
  });

  for (const host of [
    'rebound.example:5173',
    'localhost',
    'localhost:8082',
    '[::1]:5173',
    '192.168.1.5:5173',
  ]) {
    test(`answers 421 to the Host ${host}`, async () => {
      for (const path of ['/', '/session', '/plugins/editor-token']) {
        assert.equal((await vendor.sendRequest(`http://${host}${path}`)).status, 421, path);
      }
    });
  }
});
