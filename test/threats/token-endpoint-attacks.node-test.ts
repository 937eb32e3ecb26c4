import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { getRequestListener } from '@hono/node-server';
import express from 'express';
import { Hono } from 'hono';
import { AccessClient } from '../../src/server/access-client.ts';
import { type NodeContext, toNodeHandler } from '../../src/server/to-node-handler.ts';
import { createTokenEndpoint } from '../../src/server/token-endpoint.ts';
import {
  listen as listenWith,
  type RawRequest,
  rawRequest,
  type RawResponse,
} from '../server/raw-request.ts';
import { lastRequest, sendRaw } from './raw-socket.ts';
import { startWithPlugins } from './service-plugins.ts';

/** The tenant of the only user who is signed in. */
const OWN_IDENT = 'com.acme.t1';
const SESSION = 'session=ada';

/** A plugin that the service gave a token for. */
interface Granted {
  ident: string;
  namespace: string;
  fn: string;
}

/**
 * One endpoint behind each of the servers that the documentation shows, in front of the real service. Every request is
 * of a page of the endpoint's own origin, by a user who is signed in, unless its headers say otherwise.
 */
async function startTokenServers(t: TestContext) {
  const { storage, port: servicePort, environmentToken } = await startWithPlugins(t);
  const secret = await environmentToken('com.acme');
  const { db } = storage;
  const forget = () => db.query.deleteFrom('editor_tokens').execute();
  const granted = async (): Promise<Granted[]> => {
    const tokens = await db.query
      .selectFrom('editor_tokens')
      .innerJoin('tenants', 'tenants.id', 'editor_tokens.tenant_id')
      .select(['tenants.environment', 'tenants.name', 'namespace', 'plugin_name'])
      .execute();
    return tokens.map((token) => ({
      ident: `${token.environment}.${token.name}`,
      namespace: token.namespace ?? '',
      fn: token.plugin_name ?? '',
    }));
  };

  const access = new AccessClient({
    builderUrl: `http://127.0.0.1:${servicePort}`,
    environmentToken: secret,
  });
  const identOf = (cookie: string | null | undefined) => (cookie === SESSION ? OWN_IDENT : false);
  const onNode = createTokenEndpoint<NodeContext>({
    access,
    authorize: (_, __, { req }) => identOf(req.headers.cookie),
  });
  const onHono = createTokenEndpoint({ access, authorize: ({ headers }) => identOf(headers.get('cookie')) });

  const inExpress = express().use(express.json()).all('/token', toNodeHandler(onNode));
  // Else it prints each body that it refuses.
  inExpress.set('env', 'test');
  const inHono = new Hono().all('/token', (c) => onHono(c.req.raw));
  const honoListener = getRequestListener(inHono.fetch, { overrideGlobalObjects: false });
  const handlers = [
    ['node:http', toNodeHandler(onNode)],
    ['Express', inExpress],
    ['Hono', (req, res) => void honoListener(req, res)],
  ] as const satisfies [string, Parameters<typeof listenWith>[0]][];

  const servers = await Promise.all(
    handlers.map(async ([name, handler]) => {
      const server = await listenWith(handler);
      t.after(() => server[Symbol.asyncDispose]());
      const { port } = server;
      const sendRequest = (request: RawRequest): Promise<RawResponse> =>
        rawRequest(port, { ...request, headers: { cookie: SESSION, ...request.headers } });
      return { name, port, sendRequest };
    }),
  );
  return { servers, granted, forget, secret, session: SESSION };
}

const FIELDS = { ident: OWN_IDENT, namespace: 'default', fn: 'add-record' };

/**
 * Sends each request to each server, or to one of them in turn where no server reads what is in it. A number is the status that
 * refuses it; otherwise it is granted, and what is expected is the plugin that the one token is for. The caller's own tenant is the
 * only one that tokens are for.
 */
async function attack(
  t: TestContext,
  requests: [name: string, request: RawRequest, expected: number | { namespace?: string; fn?: string }][],
  to: 'each' | 'one in turn' = 'each',
): Promise<void> {
  const { servers, granted, forget, secret } = await startTokenServers(t);
  for (const [at, { name: server, sendRequest }] of servers.entries()) {
    const its = to === 'each' ? requests : requests.filter((_, i) => i % servers.length === at);
    for (const [name, request, expected] of its) {
      await forget();
      const { status, text, headers } = await sendRequest(request);
      const shown = `${server}: ${name} is answered ${status} ${text}`;
      if (typeof expected === 'number') {
        assert.equal(status, expected, shown);
        assert.deepEqual(await granted(), [], shown);
      } else {
        assert.equal(status, 200, shown);
        assert.deepEqual(await granted(), [{ ...FIELDS, ...expected }], shown);
      }
      assert.ok(!(text + JSON.stringify(headers)).includes(secret), shown);
    }
  }
}

const post = (body: unknown, headers: RawRequest['headers'] = {}): RawRequest => ({ body, headers });
const get = (query: string, more: RawRequest = {}): RawRequest => ({
  method: 'GET',
  path: `/token?${query}`,
  ...more,
});
/** A body that says how long it is, as that of a GET has to. */
const sized = (body: object, headers: RawRequest['headers'] = {}): RawRequest =>
  post(body, { 'content-length': String(JSON.stringify(body).length), ...headers });
const query = (fields: Record<string, string>) => new URLSearchParams(fields).toString();

test('no spelling of an ident is taken for another one', (t) =>
  attack(
    t,
    [
      ['the own one', post(FIELDS), {}],
      ['the own one by query', get(query(FIELDS)), {}],
      ...(
        [
          ['com.acme.t2', 403],
          ['com.acme.T1', 403],
          ['COM.ACME.T1', 403],
          ['com.acme.t1 ', 403],
          [' com.acme.t1', 403],
          ['com.acme.t1\n', 403],
          ['com.acme.t1\0', 403],
          ['com.acme.t1\u00a0', 403],
          ['com.acme.t1\u200b', 403],
          ['\ufeffcom.acme.t1', 403],
          ['com.acme.\uff541', 403],
          ['com.\u0430cme.t1', 403],
          ['com.acme.t\u0661', 403],
          ['com.acme\uff0et1', 403],
          ['com.acme.t1/', 403],
          ['com.acme.t1/default/x', 403],
          ['com.acme.t1/../com.acme.t2', 403],
          ['../com.acme.t1', 403],
          ['com.acme.t1%00', 403],
          ['com.acme%2Et1', 403],
          ['%63om.acme.t1', 403],
          ['com.acme.t1,com.acme.t2', 403],
          ['com.acme.t2,com.acme.t1', 403],
          ['com.acme.t1;com.acme.t2', 403],
          ['com.acme.t1?', 403],
          ['com.acme.t1#', 403],
          ['com.acme.*', 403],
          ['com.acme.%', 403],
          ['com.acme..t1', 403],
          ['com..acme.t1', 403],
          ['.com.acme.t1', 403],
          ['com.other.t1', 403],
          ['x.com.acme.t1', 403],
          ['acme.t1', 403],
          ['__proto__.t1', 403],
          ['com.acme.constructor', 403],
          ['com.acme.t1.', 400],
          ['.t1', 400],
          ['t1', 400],
          ['true', 400],
        ] as const
      ).flatMap(([ident, status]): [string, RawRequest, number][] => [
        [`${JSON.stringify(ident)} in a body`, post({ ...FIELDS, ident }), status],
        [`${JSON.stringify(ident)} in a query`, get(query({ ...FIELDS, ident })), status],
      ]),
    ],
    'one in turn',
  ));

test('a body is read in one way only, by its type', (t) => {
  const json = JSON.stringify;
  const other = 'com.acme.t2';
  return attack(t, [
    ['a list of idents', post({ ...FIELDS, ident: [OWN_IDENT, other] }), 400],
    ['a list of one', post({ ...FIELDS, ident: [OWN_IDENT] }), 400],
    ['an object with a value', post({ ...FIELDS, ident: { $ne: null } }), 400],
    ['an object like text', post({ ...FIELDS, ident: { toString: OWN_IDENT, length: 11 } }), 400],
    ['a number', post({ ...FIELDS, ident: 1.1 }), 400],
    ['true', post({ ...FIELDS, ident: true }), 400],
    ['a list of bodies', post(json([FIELDS, { ...FIELDS, ident: other }])), 400],
    ['an ident by prototype', post(`{"__proto__":${json(FIELDS)}}`), 400],
    ['an ident by constructor', post(`{"constructor":{"prototype":${json(FIELDS)}}}`), 400],
    ['a second ident, another’s', post(`{"ident":"${OWN_IDENT}","fn":"x","ident":"${other}"}`), 403],
    [
      'a second ident, the own one',
      post(`{"ident":"${other}","fn":"x","ident":"${OWN_IDENT}"}`),
      { fn: 'x' },
    ],
    ['a name in escapes', post(`{"\\u0069dent":"com.acme.t\\u0031","fn":"x"}`), { fn: 'x' }],
    ['another’s in escapes', post(`{"ident":"com.acme.t\\u0032","fn":"x"}`), 403],
    ['fields in capitals', post({ Ident: OWN_IDENT, FN: 'x' }), 400],
    ['the parts of an ident', post({ environment: 'com.acme', tenant: 't1', fn: 'x' }), 400],
    ['parts that say another', post({ ...FIELDS, environment: 'com.other', tenant: 't2' }), {}],
    ['the third segment', post({ ...FIELDS, ext: 'other', identifier: other }), {}],
    [
      'permissions of its own',
      post({ ...FIELDS, permissions: ['runs'], actor: 'root', expires_in: 1e9 }),
      {},
    ],
    ['a form', post(query(FIELDS), { 'content-type': 'application/x-www-form-urlencoded' }), 415],
    ['text', post(json(FIELDS), { 'content-type': 'text/plain' }), 415],
    ['text that mentions JSON', post(json(FIELDS), { 'content-type': 'text/plain; application/json' }), 415],
    ['text, then JSON', post(json(FIELDS), { 'content-type': 'text/plain, application/json' }), 415],
    ['a type that begins alike', post(json(FIELDS), { 'content-type': 'application/jsonp' }), 415],
    ['no type', post(json(FIELDS), { 'content-type': undefined }), 415],
    ['something behind the JSON', post(`${json(FIELDS)}{}`), 400],
    ['JSON with comments', post(`{"ident":"com.acme.t2"/*","fn":"x"}`), 400],
    ['no JSON', post(`ident=${OWN_IDENT}&fn=x`), 400],
    ['the own body beside another’s query', { path: `/token?ident=${other}&fn=x`, body: FIELDS }, {}],
    [
      'another’s body beside the own query',
      { path: `/token?${query(FIELDS)}`, body: { ...FIELDS, ident: other } },
      403,
    ],
    ['the own query and no body', { path: `/token?${query(FIELDS)}` }, 400],
    ['a larger body', post({ ...FIELDS, x: 'x'.repeat(5000) }), 413],
  ]);
});

test('a query is read in one way only', (t) =>
  attack(t, [
    ['two idents', get(`ident=${OWN_IDENT}&ident=com.acme.t2&fn=x`), 400],
    ['the same ident twice', get(`ident=${OWN_IDENT}&ident=${OWN_IDENT}&fn=x`), 400],
    ['two plugins', get(`ident=${OWN_IDENT}&fn=x&fn=y`), 400],
    ['two namespaces', get(`ident=${OWN_IDENT}&fn=x&namespace=a&namespace=b`), 400],
    ['a list', get(`ident[]=${OWN_IDENT}&fn=x`), 400],
    ['a list with an index', get(`ident[0]=${OWN_IDENT}&fn=x`), 400],
    ['a name in capitals', get(`IDENT=${OWN_IDENT}&fn=x`), 400],
    ['a name in escapes', get(`%69dent=${OWN_IDENT}&fn=x`), { fn: 'x' }],
    ['a second ident in escapes', get(`ident=${OWN_IDENT}&%69dent=com.acme.t2&fn=x`), 400],
    ['a semicolon between', get(`ident=${OWN_IDENT};ident=com.acme.t2&fn=x`), 403],
    ['an ampersand in a value', get(`ident=${OWN_IDENT}%26ident=com.acme.t2&fn=x`), 403],
    ['an entity', get(`ident=${OWN_IDENT}&amp;fn=x`), 400],
    ['a plus behind', get(`ident=${OWN_IDENT}+&fn=x`), 403],
    ['NUL behind', get(`ident=${OWN_IDENT}%00&fn=x`), 403],
    ['an escape of an escape', get(`ident=com%252Eacme%252Et1&fn=x`), 400],
    ['bytes that are no UTF-8', get(`ident=${OWN_IDENT}%ff&fn=x`), 403],
    ['an overlong period', get(`ident=com.acme%c0%aet1&fn=x`), 403],
    ['half an escape', get(`ident=${OWN_IDENT}%&fn=x`), 403],
    ['a body of another’s', get(query(FIELDS), sized({ ...FIELDS, ident: 'com.acme.t2' })), {}],
    ['another’s, and the own body', get(query({ ...FIELDS, ident: 'com.acme.t2' }), sized(FIELDS)), 403],
    ['no query, and the own body', { method: 'GET', ...sized(FIELDS) }, 400],
  ]));

test('no name makes another path at the service', (t) =>
  attack(
    t,
    (
      [
        ['', 400],
        ['.', 400],
        ['..', 400],
        ['...', 200],
        ['a/b', 200],
        ['../..', 200],
        ['../../com.acme.t2/default/x', 200],
        ['/auth/v2/access', 200],
        ['%2e%2e', 200],
        ['%2F..%2F', 200],
        ['..\\..', 200],
        ['x?ident=com.acme.t2', 200],
        ['x#y', 200],
        ['x;y', 200],
        ['http://evil.example/', 200],
        ['a\r\nx-injected: yes', 200],
        ['caf\u00e9', 200],
        ['cafe\u0301', 200],
        ['\u202etxe', 200],
        ['__proto__', 200],
        [' ', 200],
      ] as const
    ).flatMap(([name, status]): Parameters<typeof attack>[1] =>
      (['namespace', 'fn'] as const).flatMap((field) => {
        const fields = { ...FIELDS, [field]: name };
        const expected = status === 200 ? { [field]: name } : status;
        return [
          [`${field} ${JSON.stringify(name)} in a body`, post(fields), expected],
          [`${field} ${JSON.stringify(name)} in a query`, get(query(fields)), expected],
        ];
      }),
    ),
    'one in turn',
  ));

test('requests of other pages and with other methods are refused, whatever headers they have', (t) => {
  const site = (value: string | undefined, more: RawRequest['headers'] = {}) =>
    post(FIELDS, { 'sec-fetch-site': value, ...more });
  return attack(t, [
    ['cross-site', site('cross-site'), 403],
    ['same-site', site('same-site'), 403],
    ['none', site('none'), 403],
    ['nothing', site(undefined), 403],
    ['capitals', site('SAME-ORIGIN'), 403],
    ['a list', site('same-origin, cross-site'), 403],
    ['a parameter', site('same-origin;x'), 403],
    ['a foreign origin', site(undefined, { origin: 'https://evil.example' }), 403],
    ['an origin without one', site(undefined, { origin: 'null' }), 403],
    ['a list of origins', site(undefined, { origin: 'http://127.0.0.1, https://evil.example' }), 403],
    [
      'a Host that is the origin, elsewhere',
      site(undefined, { origin: 'http://evil.example', 'x-forwarded-host': 'evil.example' }),
      403,
    ],
    [
      'a Forwarded host',
      site(undefined, { origin: 'http://evil.example', forwarded: 'host=evil.example;proto=http' }),
      403,
    ],
    [
      'a cross-site page behind a proxy',
      site('cross-site', { origin: 'http://evil.example', host: 'evil.example' }),
      403,
    ],
    ['no session', post(FIELDS, { cookie: undefined }), 403],
    ['a session in capitals', post(FIELDS, { cookie: 'SESSION=ADA' }), 403],
    [
      'a session elsewhere',
      post(FIELDS, { cookie: undefined, authorization: 'Bearer ada', 'x-session': 'ada' }),
      403,
    ],
    ...['PUT', 'PATCH', 'DELETE', 'HEAD', 'PROPFIND', 'TRACE'].map((method): [string, RawRequest, number] => [
      method,
      { method, path: `/token?${query(FIELDS)}` },
      405,
    ]),
    ['a method by header', get('', sized(FIELDS, { 'x-http-method-override': 'POST' })), 400],
    [
      'another path by header',
      post(FIELDS, { 'x-original-url': '/token?ident=com.acme.t2', 'x-rewrite-url': '/x' }),
      {},
    ],
  ]);
});

test('a header that is sent twice counts with neither of its values', async (t) => {
  const { servers, granted, forget, session } = await startTokenServers(t);
  const body = JSON.stringify(FIELDS);
  const common = ['POST /token HTTP/1.1', `Cookie: ${session}`, `Content-Length: ${body.length}`];
  const type = 'Content-Type: application/json';
  for (const { name, port } of servers) {
    const host = `Host: 127.0.0.1:${port}`;
    const own = `Origin: http://127.0.0.1:${port}`;
    for (const lines of [
      [host, type, 'Sec-Fetch-Site: same-origin', 'Sec-Fetch-Site: cross-site'],
      [host, type, 'Sec-Fetch-Site: cross-site', 'Sec-Fetch-Site: same-origin'],
      [host, type, own, 'Origin: https://evil.example'],
      [host, type, 'Origin: https://evil.example', own],
      [host, type, 'Sec-Fetch-Site: same-origin', 'Cookie: session=eve'],
    ]) {
      const { statuses, text } = await sendRaw(port, lastRequest([...common, ...lines], body));
      assert.deepEqual(statuses, [403], `${name}: ${lines.join(' | ')}: ${text}`);
    }
    assert.deepEqual(await granted(), [], name);
    const once = await sendRaw(port, lastRequest([...common, host, type, own], body));
    assert.deepEqual(once.statuses, [200], `${name}: ${once.text}`);
    await forget();
  }
});

test('twenty simultaneous requests, for the own and for another tenant’s plugin, each get their own response', async (t) => {
  const { servers, granted, forget } = await startTokenServers(t);
  for (const { name, sendRequest } of servers) {
    await forget();
    const responses = await Promise.all(
      Array.from({ length: 20 }, async (_, at) => {
        const ident = at % 2 ? OWN_IDENT : 'com.acme.t2';
        const { status, json } = await sendRequest(post({ ...FIELDS, ident, fn: `plugin-${at}` }));
        return { at, status, token: json.token };
      }),
    );
    for (const { at, status, token } of responses) {
      assert.deepEqual([status, typeof token], at % 2 ? [200, 'string'] : [403, 'undefined'], name);
    }
    assert.equal(new Set(responses.map(({ token }) => token)).size, 11);
    const all = await granted();
    assert.ok(all.every(({ ident }) => ident === OWN_IDENT));
    assert.equal(all.length, 10);
  }
});
