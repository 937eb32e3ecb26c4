import assert from 'node:assert/strict';
import { test } from 'node:test';
import { accessPath, bearer, draftPath, errorOf, listen, startService } from '../harness.ts';

const codeIn = (body: string) => (JSON.parse(body) as { error: { code: string } }).error.code;

test('a template uses the decoded names of the path', async (t) => {
  const { fetch } = await startService(t);
  const response = await fetch('/api/v2/template/javascript/a%2Fb%2520?namespace=n%2Fs+1');
  assert.match(((await response.json()) as { contents: string }).contents, /"a\/b%20"[^]*"n\/s 1"/);
});

test('dot segments, empty segments and malformed encodings are answered with 400 on every interface', async (t) => {
  const { send } = await listen(t);
  const targets = [
    '/api/v1/draft/com.acme.t1/../x',
    '/api/v1/draft/../../../auth/v2/access/com.acme.t1/default/x',
    '/api/v1/draft/com.acme.t1/%2e%2E/x',
    '/api/v1/draft/com.acme.t1/default/%2e',
    '/api/v1/draft/com.acme.t1/default/..',
    '/api/v1/draft/com.acme.t1//x',
    '/api/v1/draft/com.acme.t1/default/',
    '/api/v1/draft/com.acme.t1/default/%',
    '/api/v1/draft/com.acme.t1/default/%zz',
    '/api/v1/draft/com.acme.t1/default/%ff',
    '/api/v1/draft/com.acme.t1/default/%ed%a0%80',
    '/api/v2/template/javascript/%c3%28',
    '/auth/v2/access/com.acme.t1/./x',
    '/editor/../api/v1/features',
    '/editor/%2e%2e/%2e%2e/etc/passwd',
    '/editor/%e0%80',
    '/nothing/%',
  ];
  for (const target of targets) {
    const { status, body } = await send('GET', target);
    assert.deepEqual([status, codeIn(body)], [400, 'invalid-path'], target);
  }
});

test('a name with U+0000, or one that is too long for a database, is answered with 400', async (t) => {
  const { send, environmentToken } = await listen(t);
  const environment = bearer(await environmentToken());
  const most = 'x'.repeat(2000 - 'v2accesscom.acme.t1default'.length);
  for (const [target, status, message] of [
    ['/auth/v2/access/com.acme.t1/default/%00', 400, /U\+0000/],
    ['/auth/v2/access/com.acme%00.t1/default/x', 400, /U\+0000/],
    [`/auth/v2/access/com.acme.t1/default/${most}`, 200, /token/],
    [`/auth/v2/access/com.acme.t1/default/${most}x`, 400, /2000 bytes/],
    [`/auth/v2/access/com.acme.t1/${'%C3%A4'.repeat(500)}/${'y'.repeat(1000)}`, 400, /2000 bytes/],
  ] as const) {
    const response = await send('GET', target, environment);
    assert.equal(response.status, status, target);
    assert.match(response.body, message);
  }
});

test('an encoded slash never splits a segment of a path', async (t) => {
  const { send } = await listen(t);
  for (const target of [
    '/api/v1/draft/..%2f..',
    '/api/v1%2ffeatures',
    '/api/v1/draft/com.acme.t1%2Fdefault/x',
    '/%61pi/v1/features',
    '/%65ditor/x',
  ]) {
    const { status, body } = await send('GET', target);
    assert.deepEqual([status, codeIn(body)], [404, 'not-found'], target);
  }
});

test('an unknown path is answered with 404 in JSON', async (t) => {
  const { fetch } = await startService(t);
  for (const path of [
    '/',
    '/api',
    '/api/v1',
    '/api/v3/features',
    '/api/v1/features/x',
    '/exec/a/b/c',
    '/favicon.ico',
  ]) {
    const error = await errorOf(await fetch(path));
    assert.deepEqual([error.status, error.code], [404, 'not-found'], path);
  }
});

test('another method on a known path is answered with 405 and the allowed ones', async (t) => {
  const { send } = await listen(t);
  const cases: [method: string, path: string, allow: string][] = [
    ['POST', '/api/v1/features', 'GET, HEAD, OPTIONS'],
    ['PUT', '/api/v2/template/javascript/x', 'GET, HEAD, OPTIONS'],
    ['DELETE', draftPath, 'GET, HEAD, POST, OPTIONS'],
    ['PATCH', draftPath, 'GET, HEAD, POST, OPTIONS'],
    ['POST', accessPath, 'GET, HEAD, OPTIONS'],
    ['PROPFIND', accessPath, 'GET, HEAD, OPTIONS'],
    ['POST', '/editor/', 'GET, HEAD, OPTIONS'],
  ];
  for (const [method, path, allow] of cases) {
    const { status, headers, body } = await send(method, path);
    assert.deepEqual(
      [status, headers.allow, codeIn(body)],
      [405, allow, 'method-not-allowed'],
      `${method} ${path}`,
    );
    const options = await send('OPTIONS', path);
    assert.deepEqual([options.status, options.headers.allow], [204, allow]);
  }
});

test('HEAD is answered as GET is, without the body', async (t) => {
  const { send } = await listen(t);
  const response = await send('HEAD', '/api/v1/features');
  assert.deepEqual([response.status, response.body], [200, '']);
  assert.equal((await send('HEAD', draftPath)).status, 401);
});

test('an unknown host is answered with 421 on every path', async (t) => {
  const { send, port } = await listen(t);
  for (const host of [
    'evil.example',
    `evil.example:${port}`,
    '127.0.0.1',
    `127.0.0.1:${port + 1}`,
    `127.0.0.1.nip.io:${port}`,
  ]) {
    for (const path of ['/api/v1/features', draftPath, accessPath, '/editor/', '/nothing', '/api/v1//x']) {
      const { status, headers, body } = await send('GET', path, { host });
      assert.deepEqual([status, codeIn(body)], [421, 'misdirected'], `${host} ${path}`);
      assert.equal(headers['access-control-allow-origin'], undefined);
    }
  }
  assert.equal((await send('GET', '/api/v1/features')).status, 200);
});

test('a request target with a whole address must name a known host, too', async (t) => {
  const { send, port } = await listen(t);
  assert.equal((await send('GET', 'http://evil.example/api/v1/features')).status, 421);
  const known = `http://127.0.0.1:${port}/api/v1/features`;
  assert.equal((await send('GET', known, { host: 'evil.example' })).status, 421);
  assert.equal((await send('GET', known)).status, 200);
});

test('the name of a host is compared without regard to case', async (t) => {
  const { service } = await startService(t);
  const request = new Request('http://localhost:8082/api/v1/features', {
    headers: { host: 'LOCALHOST:8082' },
  });
  assert.equal((await service.fetch(request)).status, 200);
});

test('a fault in the HTTP server itself is answered with 500', async (t) => {
  const { refuse } = (await startService(t)).service;
  assert.equal(refuse(new Error('a fault')).status, 500);
});

test('pages of any origin may call the builder, with a token and without cookies, and read its errors', async (t) => {
  const { fetch } = await startService(t);
  const cors = { origin: 'https://editor.example', 'access-control-request-method': 'POST' };
  const preflight = await fetch(draftPath, {
    method: 'OPTIONS',
    headers: { ...cors, 'access-control-request-headers': 'authorization, content-type, if-match' },
  });
  assert.equal(preflight.status, 204);
  const listOf = (name: string) => (preflight.headers.get(name) ?? '').toLowerCase().split(/, ?/);
  assert.equal(preflight.headers.get('access-control-allow-origin'), '*');
  for (const header of ['authorization', 'content-type', 'if-match', 'if-none-match']) {
    assert.ok(listOf('access-control-allow-headers').includes(header), header);
  }
  assert.deepEqual(listOf('access-control-allow-methods').toSorted(), ['get', 'head', 'post']);

  for (const path of ['/api/v1/features', draftPath, '/api/nothing', '/api/v1/draft//x/y']) {
    const response = await fetch(path, { headers: { origin: 'https://editor.example' } });
    assert.equal(response.headers.get('access-control-allow-origin'), '*', path);
    assert.equal(response.headers.get('access-control-allow-credentials'), null, path);
    assert.match(response.headers.get('access-control-expose-headers')?.toLowerCase() ?? '', /etag/);
  }
});

test('no page may call the access interface', async (t) => {
  const { fetch, environmentToken } = await startService(t);
  const origin = { origin: 'https://editor.example' };
  const preflight = await fetch(accessPath, {
    method: 'OPTIONS',
    headers: {
      ...origin,
      'access-control-request-method': 'GET',
      'access-control-request-headers': 'authorization',
    },
  });
  const response = await fetch(accessPath, { headers: { ...origin, ...bearer(await environmentToken()) } });
  for (const one of [preflight, response]) {
    assert.deepEqual(
      [...one.headers.keys()].filter((name) => name.startsWith('access-control-')),
      [],
    );
  }
});

test('no response may be cached, sniffed or rendered', async (t) => {
  const { fetch } = await startService(t);
  for (const path of ['/api/v1/features', draftPath, '/nothing']) {
    const { headers } = await fetch(path);
    assert.equal(headers.get('cache-control'), 'no-store');
    assert.equal(headers.get('x-content-type-options'), 'nosniff');
    assert.match(headers.get('content-security-policy') ?? '', /default-src 'none'/);
  }
});
