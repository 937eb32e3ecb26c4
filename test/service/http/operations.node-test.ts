import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Hono } from 'hono';
import * as z from 'zod';
import type { Auth } from '../../../service/src/http/auth.ts';
import type { ServiceContext } from '../../../service/src/http/context.ts';
import { operationCors } from '../../../service/src/http/cors.ts';
import { errorResponse } from '../../../service/src/http/errors.ts';
import { observeRequests } from '../../../service/src/http/observe-requests.ts';
import { empty, json, respond, text } from '../../../service/src/http/operations/responses.ts';
import { jsonBody, optionalJsonBody, textBody } from '../../../service/src/http/operations/bodies.ts';
import { addOperations } from '../../../service/src/http/operations/mount.ts';
import { operation } from '../../../service/src/http/operations/operation.ts';
import type { Operation } from '../../../service/src/http/operations/operation.ts';
import { requestInfo } from '../../../service/src/http/request-info.ts';
import type { Method } from '../../../service/src/http/routes.ts';
import { errorOf } from '../harness.ts';

// What these operations are given; they take no token, so that nothing else is needed of a service.
const context = { checksResponses: true } as ServiceContext;
const described = { description: '…' };

/** An app with operations, and what it was told of requests and faults. */
function appOf(...operations: Operation[]) {
  const app = new Hono();
  const faults: unknown[] = [];
  const routes: (string | undefined)[] = [];
  app.use('*', observeRequests({}));
  app.use('*', async (c, next) => {
    await next();
    routes.push(requestInfo(c).route);
  });
  addOperations(app, operations, context);
  app.onError((error, c) => {
    const response = errorResponse(error, requestInfo(c).id);
    if (response.status === 500) faults.push(error);
    return response;
  });
  const send = async (method: string, path: string, init: RequestInit = {}) =>
    app.request(path, { method, ...init });
  return { send, faults, routes };
}

const inJson = (value: unknown): RequestInit => ({
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(value),
});

/** What the operations of these tests have in common. */
const monitored = { summary: '…', tag: 'service', auth: 'monitor' } as const;

/** An operation that answers with what its handler was given. */
const echo = operation({
  id: 'echo',
  method: 'PUT',
  path: '/echo/:identifier/:namespace/:name',
  ...monitored,
  query: z.object({ color: z.enum(['red', 'blue']).default('red') }),
  body: jsonBody(z.object({ size: z.number(), tags: z.array(z.string()).optional() }), described),
  responses: { 200: json(z.unknown(), described) },
  handle: ({ path, target, query, body }) => respond(200, { path, target, query, body }),
});

describe('an operation', () => {
  test('gets the path, the object that it names, the query and the body, each with its type', async () => {
    const { send, routes } = appOf(echo);
    const response = await send(
      'PUT',
      '/echo/com.acme.t1/a%2Fb/x?color=blue&other=1',
      inJson({ size: 1, more: 2 }),
    );
    assert.equal(response.status, 200);
    assert.deepEqual(await response.json(), {
      path: { identifier: 'com.acme.t1', namespace: 'a/b', name: 'x' },
      target: { environment: 'com.acme', tenant: 't1', namespace: 'a/b', pluginName: 'x' },
      query: { color: 'blue' },
      // A field that the schema does not name is ignored.
      body: { size: 1 },
    });
    assert.deepEqual(routes, ['/echo/:identifier/:namespace/:name']);
  });

  const path = '/echo/com.acme.t1/a/x';
  for (const [what, target, init, expected] of [
    ['a path', '/echo/acme/a/x', inJson({ size: 1 }), { status: 400, code: 'invalid-path' }],
    [
      'a query',
      `${path}?color=green`,
      inJson({ size: 1 }),
      { status: 400, code: 'invalid-query', path: '/color' },
    ],
    [
      'a query in another encoding',
      `${path}?color=%FF`,
      inJson({ size: 1 }),
      { status: 400, code: 'invalid-query', path: '' },
    ],
    ['a body', path, inJson({ size: 'x' }), { status: 422, code: 'invalid-body', path: '/size' }],
    [
      'a part of a body',
      path,
      inJson({ size: 1, tags: ['', 5] }),
      { status: 422, code: 'invalid-body', path: '/tags/1' },
    ],
    ['a body as a whole', path, inJson(null), { status: 422, code: 'invalid-body', path: '' }],
    ['no body', path, {}, { status: 400, code: 'invalid-json' }],
    [
      'an empty body of another type',
      path,
      { body: '', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
      { status: 400, code: 'invalid-json' },
    ],
    ['another type', path, { body: 'x' }, { status: 415, code: 'unsupported-media-type' }],
    [
      'a content encoding',
      path,
      { body: '{}', headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' } },
      { status: 415, code: 'unsupported-media-type' },
    ],
    ['no JSON', path, { ...inJson(0), body: '{' }, { status: 400, code: 'invalid-json' }],
    ['a long body', path, inJson({ size: 1, long: 'x'.repeat(70_000) }), { status: 413, code: 'too-large' }],
  ] as const satisfies [string, string, RequestInit, object][]) {
    test(`is not called with ${what} that does not fit, and the error says where`, async () => {
      const { send, faults } = appOf(echo);
      const { message, ...error } = await errorOf(await send('PUT', target, init));
      assert.deepEqual(error, expected);
      assert.ok(message.length < 200, message);
      assert.deepEqual(faults, []);
    });
  }

  test('that allows no other fields names an unknown one in at most a hundred characters', async () => {
    const strict = operation({
      id: 'strict',
      method: 'POST',
      path: '/strict',
      ...monitored,
      body: jsonBody(z.strictObject({ identifier: z.string().optional() }), described),
      responses: { 204: empty(described) },
      handle: () => respond(204, undefined),
    });
    const { send } = appOf(strict);
    assert.equal((await send('POST', '/strict', inJson({ identifier: 'x' }))).status, 204);
    const short = await errorOf(await send('POST', '/strict', inJson({ 'a/b~': 1 })));
    assert.deepEqual([short.status, short.path], [422, '/a~1b~0']);
    assert.match(short.message, /there is no field "a\/b~"/);
    const { message, path: pointer } = await errorOf(
      await send('POST', '/strict', inJson({ ['x'.repeat(9000)]: 1 })),
    );
    assert.ok(message.length < 200, message);
    assert.equal(pointer, undefined);
  });

  test('with an optional body accepts an empty one of any type as none', async () => {
    const optional = operation({
      id: 'optional',
      method: 'POST',
      path: '/optional',
      ...monitored,
      body: optionalJsonBody(z.object({ message: z.string().optional() }), described),
      responses: { 200: json(z.unknown(), described) },
      handle: ({ body }) => respond(200, { body: body ?? 'none' }),
    });
    const { send } = appOf(optional);
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    const stream = () => ({ body: new Blob([]).stream(), duplex: 'half' }) as RequestInit;
    for (const init of [{}, { headers: form }, { headers: form, body: '' }, { headers: form, ...stream() }]) {
      assert.deepEqual(await (await send('POST', '/optional', init)).json(), { body: 'none' });
    }
    assert.deepEqual(await (await send('POST', '/optional', inJson({ message: 'x' }))).json(), {
      body: { message: 'x' },
    });
    for (const init of [{ headers: form, body: 'a=1' }, { body: '{}' }]) {
      assert.equal((await send('POST', '/optional', init)).status, 415);
    }
    assert.equal((await send('POST', '/optional', inJson(null))).status, 422);
  });

  test('reads its body as text when it declares so', async () => {
    const upper = operation({
      id: 'upper',
      method: 'POST',
      path: '/upper',
      ...monitored,
      body: textBody({ ...described, limit: 10, tooLarge: 'input-limit' }),
      responses: { 200: text({ ...described, headers: ['server-timing'] }) },
      handle: async ({ body }) => respond(200, (await body()).toUpperCase(), { 'server-timing': 'x' }),
    });
    const { send } = appOf(upper);
    const response = await send('POST', '/upper', { body: 'äb' });
    assert.deepEqual([await response.text(), response.headers.get('server-timing')], ['ÄB', 'x']);
    assert.equal(response.headers.get('content-type'), 'text/plain; charset=utf-8');
    const error = await errorOf(await send('POST', '/upper', { body: 'x'.repeat(11) }));
    assert.deepEqual([error.status, error.code], [413, 'input-limit']);
  });

  test('that returns something undeclared is a fault of the service, of which the client learns nothing', async () => {
    const wrong = (body: unknown) =>
      operation({
        id: 'wrong',
        method: 'GET',
        path: '/wrong',
        ...monitored,
        responses: { 200: json(z.object({ count: z.number() }), described), 204: empty(described) },
        handle: () => respond(200, body as { count: number }),
      });
    const { send, faults } = appOf(wrong({ count: 'secret' }));
    const error = await errorOf(await send('GET', '/wrong'));
    assert.deepEqual([error.status, error.code], [500, 'internal']);
    assert.match(String(faults[0]), /The response 200 of wrong is wrong: count: /);
    assert.doesNotMatch(String(faults[0]), /secret/);
    // What else a response holds is sent as well.
    assert.deepEqual(await (await appOf(wrong({ count: 1, more: 2 })).send('GET', '/wrong')).json(), {
      count: 1,
      more: 2,
    });
  });
});

const simple = (method: Method, path: '/api/a' | '/api/b' | '/api/c', auth: Auth = 'monitor') =>
  operation({
    id: `${method} ${path}`,
    method,
    path,
    summary: '…',
    tag: 'service',
    auth,
    permission: 'read',
    scope: 'any',
    responses: { 204: empty(described) },
    handle: () => respond(204, undefined),
  });

test('a path has the methods of its operations: HEAD goes with GET, any other is 405, and OPTIONS lists them', async () => {
  const { send } = appOf(
    ...(['DELETE', 'GET', 'PATCH', 'PUT', 'POST'] as const).map((method) => simple(method, '/api/a')),
    simple('PUT', '/api/b'),
  );
  const all = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS';
  for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']) {
    assert.equal((await send(method, '/api/a')).status, 204, method);
  }
  const options = await send('OPTIONS', '/api/a');
  assert.deepEqual([options.status, options.headers.get('allow')], [204, all]);
  for (const method of ['GET', 'HEAD', 'PROPFIND']) {
    const response = await send(method, '/api/b');
    assert.deepEqual([response.status, response.headers.get('allow')], [405, 'PUT, OPTIONS'], method);
  }
});

test('no two operations have the same name, or the same method and path', () => {
  const renamed = { ...simple('GET', '/api/a'), id: 'other' };
  assert.throws(() => appOf(simple('GET', '/api/a'), renamed), /Two operations are GET \/api\/a/);
  assert.throws(() => appOf(echo, echo), /Two operations are called echo/);
});

describe('pages of any origin', () => {
  const operations = [
    simple('GET', '/api/a', 'editor-or-environment'),
    simple('PUT', '/api/a', 'editor'),
    simple('DELETE', '/api/a', 'environment'),
    simple('POST', '/api/b', 'environment'),
    simple('POST', '/api/c', 'none'),
  ];
  const app = new Hono();
  app.use('/api/*', operationCors(operations));
  for (const path of ['/api/a', '/api/b', '/api/c']) app.all(path, (c) => c.text(''));

  for (const [method, path, allowed] of [
    ['GET', '/api/a', true],
    ['HEAD', '/api/a', true],
    ['PUT', '/api/a', true],
    ['DELETE', '/api/a', false],
    // Refused with 405, which they may read.
    ['PATCH', '/api/a', true],
    ['POST', '/api/b', false],
    ['GET', '/api/b', false],
    ['POST', '/api/c', true],
    ['GET', '/api/nothing', true],
  ] as const) {
    test(`may ${allowed ? '' : 'not '}read what ${method} ${path} answers`, async () => {
      const response = await app.request(path, { method, headers: { origin: 'https://editor.example' } });
      assert.equal(response.headers.get('access-control-allow-origin'), allowed ? '*' : null);
    });
  }

  for (const [path, method, methods] of [
    ['/api/a', 'PUT', 'GET,HEAD,PUT'],
    ['/api/c', 'POST', 'POST'],
    ['/api/b', 'POST', null],
  ] as const) {
    test(`learn from a preflight that ${path} allows ${methods ?? 'no method to them'}`, async () => {
      const headers = { origin: 'https://editor.example', 'access-control-request-method': method };
      const response = await app.request(path, { method: 'OPTIONS', headers });
      assert.equal(response.headers.get('access-control-allow-methods'), methods);
    });
  }
});
