import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { runInNewContext } from 'node:vm';
import type { PluginTarget } from '../../src/server/plugin-target.ts';
import { createTokenEndpoint } from '../../src/server/token-endpoint.ts';
import { IDENT, FIELDS, pageRequest, startEndpoint } from './endpoint-fixture.ts';

describe('authorize', () => {
  for (const [name, result, status] of [
    ['the ident', IDENT, 200],
    ['a promise of the ident', Promise.resolve(IDENT), 200],
    ['several, with the ident', ['com.acme.other', IDENT], 200],
    ['another ident', 'com.acme.other', 403],
    ['an ident in another case', IDENT.toUpperCase(), 403],
    ['the environment alone', 'com.acme', 403],
    ['a longer ident', `${IDENT}7`, 403],
    ['the beginning of the ident', IDENT.slice(0, -1), 403],
    ['the ident and a space', `${IDENT} `, 403],
    ['a pattern', 'com.acme.*', 403],
    ['several others', ['com.acme', `${IDENT}7`, '*'], 403],
    ['a list in a list', [[IDENT]], 403],
    ['nobody', [], 403],
    ['a list of true', [true], 403],
    ['false', false, 403],
    ['true', true, 403],
    ['nothing', undefined, 403],
    ['null', null, 403],
    ['no text', '', 403],
    ['1', 1, 403],
    ['a record with the ident', { ident: IDENT }, 200],
    ['a record with several', { ident: ['com.acme.other', IDENT] }, 200],
    ['a record without a prototype', Object.assign(Object.create(null), { ident: IDENT }), 200],
    ['a record of another realm', runInNewContext('({ ident })', { ident: IDENT }), 200],
    ['a record with another ident', { ident: 'com.acme.other' }, 403],
    ['a record with true', { ident: true }, 403],
    ['a record with a list in a list', { ident: [[IDENT]] }, 403],
    ['an empty record', {}, 403],
    ['a record without an ident', { permissions: ['read'] }, 403],
    [
      'an instance with the ident',
      new (class {
        ident = IDENT;
      })(),
      403,
    ],
    ['a record that inherits the ident', Object.create({ ident: IDENT }), 403],
    ['a String object', Object(IDENT), 403],
    ['a Set', new Set([IDENT]), 403],
  ] as [string, unknown, number][]) {
    test(`leads to status ${status} when it returns ${name}`, async () => {
      await using at = await startEndpoint({ authorize: () => result as string });
      const response = await at.sendRequest();
      assert.equal(response.status, status);
      assert.equal(response.code, status === 403 ? 'not-authorized' : undefined);
      assert.equal((await at.builderRequests()).length, status === 200 ? 1 : 0);
      assert.deepEqual(at.errors, []);
      assert.equal(response.headers.get('cache-control'), 'no-store');
    });
  }

  test('is called with the request, the target and the context', async () => {
    const seen: unknown[] = [];
    await using at = await startEndpoint({
      authorize: (request, target, context) => {
        seen.push(request.headers.get('cookie'), target, context);
        return IDENT;
      },
    });
    const context = { user: 7 };
    await at.endpoint(pageRequest(FIELDS, { cookie: 'session=s1' }), context);
    const target: PluginTarget = { ...FIELDS, environment: 'com.acme', tenant: 'customer-7' };
    assert.deepEqual(seen, ['session=s1', target, context]);
    assert.equal(seen[2], context);
  });

  test('can read the body of the original request again', async () => {
    const bodies: unknown[] = [];
    const request = pageRequest({ ...FIELDS, csrf: 'c1' });
    await using at = await startEndpoint({
      authorize: async (passed) => {
        assert.equal(passed, request);
        bodies.push(await passed.json());
        return IDENT;
      },
    });
    assert.equal((await at.endpoint(request)).status, 200);
    assert.deepEqual(bodies, [{ ...FIELDS, csrf: 'c1' }]);
  });

  for (const [name, authorize] of [
    [
      'throws',
      () => {
        throw new Error('secret detail');
      },
    ],
    ['rejects', () => Promise.reject(new Error('secret detail'))],
  ] as const) {
    test(`leads to status 500 without details when it ${name}, and onError is called`, async () => {
      await using at = await startEndpoint({ authorize });
      const response = await at.sendRequest();
      assert.equal(response.status, 500);
      assert.equal(response.code, 'internal');
      assert.doesNotMatch(JSON.stringify([...response.headers, response.body]), /secret detail/);
      assert.deepEqual(at.errors.map(String), ['Error: secret detail']);
      assert.deepEqual(await at.builderRequests(), []);
    });
  }

  test('leads to status 500 and a call of onError when it rejects without an error', async () => {
    await using at = await startEndpoint({ authorize: () => Promise.reject() });
    assert.equal((await at.sendRequest()).status, 500);
    assert.deepEqual(at.errors.map(String), ['Error: A function of the options threw no error']);
  });

  test('can return a response, which is sent unchanged and without a token', async () => {
    const headers = new Headers({ 'content-type': 'text/html', 'x-own': '1', 'www-authenticate': 'Form' });
    headers.append('set-cookie', 'a=1; Path=/');
    headers.append('set-cookie', 'b=2');
    await using at = await startEndpoint({
      authorize: () => new Response('<p>Sign in', { status: 401, statusText: 'Sign in first', headers }),
    });
    const response = await at.endpoint(pageRequest());
    assert.equal(response.status, 401);
    assert.equal(response.statusText, 'Sign in first');
    assert.equal(await response.text(), '<p>Sign in');
    assert.equal(response.headers.get('content-type'), 'text/html');
    assert.equal(response.headers.get('x-own'), '1');
    assert.deepEqual(response.headers.getSetCookie(), ['a=1; Path=/', 'b=2']);
    assert.deepEqual(await at.builderRequests(), []);
  });

  test('can return a response, which no cache stores unless it allows that', async () => {
    for (const [headers, expected] of [
      [{}, 'no-store'],
      [{ 'cache-control': 'private, max-age=5' }, 'private, max-age=5'],
    ] as const) {
      await using at = await startEndpoint({
        authorize: () => new Response(null, { status: 401, headers: headers }),
      });
      assert.equal((await at.endpoint(pageRequest())).headers.get('cache-control'), expected);
    }
  });

  test('can return a redirect, and the same response each time', async () => {
    const signIn = Response.redirect('https://app.example/sign-in', 303);
    const denied = new Response('denied', { status: 401 });
    await using at = await startEndpoint({
      authorize: (_, { fn }) => (fn === 'redirect' ? signIn : denied),
    });
    for (const round of [1, 2]) {
      const moved = await at.sendRequest({ ...FIELDS, fn: 'redirect' });
      assert.equal(moved.status, 303, `round ${round}`);
      assert.equal(moved.headers.get('location'), 'https://app.example/sign-in');
      assert.deepEqual((await at.sendRequest()).body, 'denied');
    }
    assert.deepEqual(at.errors, []);
  });

  test('can return an instance of a framework’s subclass of Response', async () => {
    class OwnResponse extends Response {}
    await using at = await startEndpoint({ authorize: () => new OwnResponse(null, { status: 402 }) });
    assert.equal((await at.sendRequest()).status, 402);
  });

  test('is not called for a request that cannot be granted anyway', async () => {
    let calls = 0;
    await using at = await startEndpoint({ authorize: () => `${++calls}` });
    await at.sendRequest({});
    await at.sendRequest(FIELDS, {}, { method: 'PUT' });
    await at.sendRequest(FIELDS, { 'content-type': 'text/plain' });
    assert.equal(calls, 0);
  });

  test('is called before `access`', async () => {
    let chosen = 0;
    const endpoint = createTokenEndpoint({
      authorize: () => false,
      access: () => {
        chosen++;
        throw new Error('not reached');
      },
    });
    assert.equal((await endpoint(pageRequest())).status, 403);
    assert.equal(chosen, 0);
  });
});
