import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { inspect } from 'node:util';
import {
  EnvironmentClient,
  type EnvironmentClientOptions,
  type SessionRequest,
  eachPage,
} from '../../src/server.ts';
import { PLUGIN, RUN, SESSION, VERSION } from '../core/client/records.ts';
import type { Rule } from '../support/script-rules.ts';
import { startScriptedServer } from '../support/scripted-server-node.ts';
import { ENVIRONMENT_TOKEN, IDENT } from './endpoint-fixture.ts';

const HERE = { environment: 'com.acme' };
const TENANT = { identifier: IDENT };
const LOCATION = { identifier: IDENT, pluginName: 'add-record' };
const PATH = `${IDENT}/default/add-record`;

const TENANT_RECORD = {
  environment: 'com.acme',
  tenant: 'customer-7',
  ident: IDENT,
  description: 'Seven',
  suspended: false,
  createdAt: '2031-01-02T03:04:05Z',
  plugins: 2,
  limits: { plugins: 10 },
  more: { kept: true },
};
const DAY = { day: '2031-01-02', tenant: 'customer-7', runs: 3, failures: 1, milliseconds: 4.5, builds: 0 };
const CREATED = { token: 'editor-1', expires_in: 900, permissions: ['read', 'write', 'deploy'], more: 1 };
const TYPES = {
  description: 'Prices',
  input: { type: 'object' },
  output: true,
  samples: [{ name: 'a', input: {}, output: 1 }],
  templates: { javascript: '' },
};

async function start(options: Partial<EnvironmentClientOptions>, ...rules: Omit<Rule, 'path'>[]) {
  const service = await startScriptedServer(...rules.map((rule) => ({ path: '*', ...rule })));
  const client = new EnvironmentClient({
    builderUrl: service.url(),
    environmentToken: ENVIRONMENT_TOKEN,
    ...options,
  });
  return { service, client, [Symbol.asyncDispose]: () => service[Symbol.asyncDispose]() };
}

type Call = (client: EnvironmentClient, options?: { signal: AbortSignal }) => Promise<unknown>;

/** Each operation: how it is called, what that sends, and what it answers. */
const OPERATIONS: [name: string, call: Call, sent: string, answer: object | undefined][] = [
  [
    'listTenants',
    (c, o) => c.listTenants(HERE, { limit: 2, after: 'c', ...o }),
    'GET /api/v1/environment/com.acme?limit=2&after=c',
    { environment: 'com.acme', tenants: [TENANT_RECORD], next: 'c2' },
  ],
  ['getTenant', (c, o) => c.getTenant(TENANT, o), `GET /api/v1/tenant/${IDENT}`, TENANT_RECORD],
  [
    'createTenant',
    (c, o) => c.createTenant(TENANT, { description: 'Seven', limits: { plugins: 10 } }, o),
    `POST /api/v1/tenant/${IDENT} {"description":"Seven","limits":{"plugins":10}}`,
    TENANT_RECORD,
  ],
  [
    'createTenant without details',
    (c, o) => c.createTenant(TENANT, undefined, o),
    `POST /api/v1/tenant/${IDENT} {}`,
    TENANT_RECORD,
  ],
  [
    'updateTenant',
    (c, o) => c.updateTenant(TENANT, { suspended: true }, o),
    `PATCH /api/v1/tenant/${IDENT} {"suspended":true}`,
    TENANT_RECORD,
  ],
  [
    'updateTenant with a limit that is taken back',
    (c, o) => c.updateTenant(TENANT, { limits: { plugins: null } }, o),
    `PATCH /api/v1/tenant/${IDENT} {"limits":{"plugins":null}}`,
    TENANT_RECORD,
  ],
  ['deleteTenant', (c, o) => c.deleteTenant(TENANT, o), `DELETE /api/v1/tenant/${IDENT}`, undefined],
  [
    'createSession for a plugin',
    (c, o) => c.createSession(TENANT, { scope: 'plugin', fn: 'add-record' }, o),
    `POST /api/v1/tenant/${IDENT}/session {"fn":"add-record"}`,
    CREATED,
  ],
  [
    'createSession for a plugin of a namespace',
    (c, o) => c.createSession(TENANT, { scope: 'plugin', fn: 'a', namespace: 'n', expires_in: 60 }, o),
    `POST /api/v1/tenant/${IDENT}/session {"fn":"a","namespace":"n","expires_in":60}`,
    CREATED,
  ],
  [
    'createSession for a namespace',
    (c, o) => c.createSession(TENANT, { scope: 'namespace', namespace: 'n', permissions: ['read'] }, o),
    `POST /api/v1/tenant/${IDENT}/session {"namespace":"n","permissions":["read"]}`,
    { ...CREATED, permissions: ['read'] },
  ],
  [
    'createSession for a tenant',
    (c, o) => c.createSession(TENANT, { scope: 'tenant', actor: 'u-1' }, o),
    `POST /api/v1/tenant/${IDENT}/session {"actor":"u-1"}`,
    { ...CREATED, actor: 'u-1' },
  ],
  ['endSessions', (c, o) => c.endSessions(TENANT, o), `DELETE /api/v1/tenant/${IDENT}/sessions`, undefined],
  [
    'endSessions of an actor',
    (c, o) => c.endSessions(TENANT, { actor: 'u 1', ...o }),
    `DELETE /api/v1/tenant/${IDENT}/sessions?actor=u+1`,
    undefined,
  ],
  [
    'listPlugins',
    (c, o) => c.listPlugins(TENANT, { namespace: 'n', ...o }),
    `GET /api/v1/tenant/${IDENT}/plugins?namespace=n`,
    { plugins: [PLUGIN] },
  ],
  ['getPlugin', (c, o) => c.getPlugin(LOCATION, o), `GET /api/v1/plugin/${PATH}`, PLUGIN],
  [
    'deletePlugin',
    (c, o) => c.deletePlugin({ ...LOCATION, namespace: 'n' }, o),
    `DELETE /api/v1/plugin/${IDENT}/n/add-record`,
    undefined,
  ],
  [
    'listVersions',
    (c, o) => c.listVersions(LOCATION, o),
    `GET /api/v1/plugin/${PATH}/versions`,
    { versions: [VERSION] },
  ],
  [
    'getVersion',
    (c, o) => c.getVersion(LOCATION, 'v1.0.0', o),
    `GET /api/v1/plugin/${PATH}/versions/v1.0.0`,
    { ...VERSION, contents: 'x' },
  ],
  [
    'setLive',
    (c, o) => c.setLive(LOCATION, null, o),
    `PUT /api/v1/plugin/${PATH}/live {"version":null}`,
    PLUGIN,
  ],
  [
    'listRuns',
    (c, o) => c.listRuns(LOCATION, { success: false, limit: 5, ...o }),
    `GET /api/v1/plugin/${PATH}/runs?success=false&limit=5`,
    { runs: [RUN] },
  ],
  ['getRun', (c, o) => c.getRun('0193-7a', o), 'GET /api/v1/run/0193-7a', RUN],
  [
    'getUsage',
    (c, o) => c.getUsage(HERE, { from: '2031-01-01', to: '2031-01-02', tenant: 't', ...o }),
    'GET /api/v1/environment/com.acme/usage?from=2031-01-01&to=2031-01-02&tenant=t',
    { days: [DAY] },
  ],
  [
    'listTokens',
    (c, o) => c.listTokens(HERE, { limit: 3, ...o }),
    'GET /api/v1/environment/com.acme/tokens?limit=3',
    { tokens: [{ id: '1', holder: 'h', createdAt: 'now', endsAt: 'then' }] },
  ],
  [
    'createToken',
    (c, o) => c.createToken(HERE, { holder: 'h', overlap: 60 }, o),
    'POST /api/v1/environment/com.acme/tokens {"holder":"h","overlap":60}',
    { id: '2', token: 'env-2' },
  ],
  [
    'deleteToken',
    (c, o) => c.deleteToken({ ...HERE, id: '2' }, o),
    'DELETE /api/v1/environment/com.acme/tokens/2',
    undefined,
  ],
  ['getSession', (c, o) => c.getSession(o), 'GET /api/v1/session', SESSION],
  ['getTypes', (c, o) => c.getTypes(LOCATION, o), `GET /api/v1/types/${PATH}`, { declarations: '' }],
  [
    'listNamespaces',
    (c, o) => c.listNamespaces(HERE, { limit: 1, ...o }),
    'GET /api/v1/environment/com.acme/namespaces?limit=1',
    { namespaces: [{ namespace: 'n' }] },
  ],
  [
    'getNamespace',
    (c, o) => c.getNamespace({ ...HERE, namespace: 'n' }, o),
    'GET /api/v1/environment/com.acme/namespaces/n',
    TYPES,
  ],
  [
    'setNamespace',
    (c, o) => c.setNamespace({ ...HERE, namespace: 'n' }, TYPES, o),
    `PUT /api/v1/environment/com.acme/namespaces/n ${JSON.stringify(TYPES)}`,
    TYPES,
  ],
  [
    'deleteNamespace',
    (c, o) => c.deleteNamespace({ ...HERE, namespace: 'n' }, o),
    'DELETE /api/v1/environment/com.acme/namespaces/n',
    undefined,
  ],
];

describe('EnvironmentClient', () => {
  for (const [name, call, sent, answer] of OPERATIONS) {
    test(`${name} sends ${sent} with the environment token, and resolves with the unchanged response`, async () => {
      await using at = await start({}, answer ? { json: answer } : { status: 204 });
      assert.deepEqual(await call(at.client), answer);
      const [request, ...more] = await at.service.requests(1);
      assert.equal(more.length, 0);
      const { method = '', path = '', search = '', body = '', headers = {} } = request ?? {};
      assert.equal(`${method} ${path}${search}${body && ` ${body}`}`, sent);
      assert.equal(headers['authorization'], `Bearer ${ENVIRONMENT_TOKEN}`);
      assert.equal(headers['content-type'], body ? 'application/json' : undefined);
    });

    test(`${name} rejects with the reason of an aborted signal`, async () => {
      await using at = await start({}, { json: {} });
      const reason = new Error('enough');
      await assert.rejects(call(at.client, { signal: AbortSignal.abort(reason) }), reason);
      assert.deepEqual(await at.service.requests(), []);
    });

    const [method = ''] = sent.split(' ');
    const expected = { GET: [3, 2], PUT: [1, 2], PATCH: [1, 2], DELETE: [1, 2], POST: [1, 1] }[method] ?? [];
    test(`${name} is sent ${expected[0]} times when the service is busy, and ${expected[1]} times with \`retry: 1\``, async () => {
      for (const [index, retry] of [undefined, 1].entries()) {
        await using at = await start({ retry }, { status: 503, headers: { 'retry-after': '0' } });
        await assert.rejects(call(at.client), { name: 'HttpError', status: 503 });
        assert.equal((await at.service.requests()).length, expected[index]);
      }
    });

    test(`${name} rejects a redirect, and reports the code of an error response, but never its token`, async () => {
      await using moved = await start({}, { redirect: '/other' });
      await assert.rejects(call(moved.client), { name: 'HttpError', status: 302, redirect: true });
      assert.equal((await moved.service.requests()).length, 1);
      const body = {
        error: { code: 'tenant-suspended', path: `/${ENVIRONMENT_TOKEN}`, message: ENVIRONMENT_TOKEN },
      };
      await using at = await start({}, { status: 403, json: body });
      const error = await call(at.client).catch((thrown: unknown) => thrown);
      assert.equal((error as { code?: string }).code, 'tenant-suspended');
      assert.ok(!inspect(error, { depth: null, showHidden: true }).includes(ENVIRONMENT_TOKEN));
    });

    if (answer)
      test(`${name} rejects a response of another shape`, async () => {
        await using at = await start({}, { json: ['marker-1'] });
        const error = await call(at.client).catch((thrown: unknown) => thrown);
        assert.equal((error as Error).name, 'SchemaError');
        assert.doesNotMatch(inspect(error, { depth: null }), /marker-1/);
      });
  }

  for (const bad of ['', '.', '..', '\ud800', undefined] as string[]) {
    for (const [field, call] of [
      ['environment', (c) => c.listTenants({ environment: bad })],
      ['environment', (c) => c.createToken({ environment: bad })],
      ['identifier', (c) => c.deleteTenant({ identifier: bad })],
      ['identifier', (c) => c.endSessions({ identifier: bad })],
      ['identifier', (c) => c.createSession({ identifier: bad }, { scope: 'tenant' })],
      ['pluginName', (c) => c.deletePlugin({ ...LOCATION, pluginName: bad })],
      ['version', (c) => c.setLive(LOCATION, bad)],
      ['id', (c) => c.deleteToken({ ...HERE, id: bad })],
      ['namespace', (c) => c.deleteNamespace({ ...HERE, namespace: bad })],
      ['uuid', (c) => c.getRun(bad)],
    ] as [string, (client: EnvironmentClient) => Promise<unknown>][]) {
      test(`${/c\.\w+/.exec(call.toString())?.[0]} rejects ${inspect(bad)} as ${field}, before any request`, async () => {
        await using at = await start({}, { json: {} });
        await assert.rejects(call(at.client), {
          name: 'TypeError',
          message: new RegExp(`^${field} must be`),
        });
        assert.deepEqual(await at.service.requests(), []);
      });
    }
  }

  test('rejects an update of a tenant with an undefined field, before any request', async () => {
    await using at = await start({}, { json: TENANT_RECORD });
    const empty = { suspended: { suspended: undefined }, plugins: { limits: { plugins: undefined } } };
    for (const [name, changes] of Object.entries(empty)) {
      await assert.rejects(
        at.client.updateTenant(TENANT, changes as never),
        (error: Error) => error instanceof TypeError && error.message.startsWith(`${name} must`),
      );
    }
    assert.deepEqual(await at.service.requests(), []);
  });

  for (const actor of [undefined, '', 'a\u0000', '\u202ea', 'a'.repeat(201), 7] as string[]) {
    test(`ends no session for the actor ${inspect(actor, { maxStringLength: 10 })}`, async () => {
      await using at = await start({}, { status: 204 });
      await assert.rejects(at.client.endSessions(TENANT, { actor }), {
        name: 'TypeError',
        message: /^actor must be/,
      });
      assert.deepEqual(await at.service.requests(), []);
    });
  }

  test('calls a function for the environment token of each call', async () => {
    let calls = 0;
    await using at = await start(
      { environmentToken: () => Promise.resolve(`secret-${++calls}`) },
      { json: SESSION },
    );
    await at.client.getSession();
    await at.client.getSession();
    const sent = (await at.service.requests(2)).map(({ headers }) => headers['authorization']);
    assert.deepEqual(sent, ['Bearer secret-1', 'Bearer secret-2']);
  });

  test('can be iterated over with eachPage', async () => {
    await using at = await start(
      {},
      { times: 1, json: { plugins: [PLUGIN], next: 'c1' } },
      { json: { plugins: [PLUGIN] } },
    );
    let count = 0;
    for await (const { plugins } of eachPage((after) => at.client.listPlugins(TENANT, { after })))
      count += plugins.length;
    assert.equal(count, 2);
    assert.deepEqual(
      (await at.service.requests()).map(({ search }) => search),
      ['', '?after=c1'],
    );
  });

  for (const [name, options, message] of [
    ['no builderUrl', { builderUrl: undefined }, /^builderUrl must be an http or https address/],
    [
      'a builderUrl with a password',
      { builderUrl: 'http://u:hidden@a.example' },
      /^builderUrl must not hold a user name/,
    ],
    ['no environmentToken', { environmentToken: undefined }, /^environmentToken must be text/],
    [
      'an environmentToken with a line break',
      { environmentToken: 'secret-9\n' },
      /^environmentToken must be visible ASCII/,
    ],
  ] as const) {
    test(`throws for ${name}`, () => {
      const all = { builderUrl: 'http://127.0.0.1', environmentToken: ENVIRONMENT_TOKEN, ...options };
      assert.throws(
        () => new EnvironmentClient(all as never),
        (error: Error) =>
          error instanceof TypeError &&
          message.test(error.message) &&
          !/secret-9|hidden/.test(inspect(error)),
      );
    });
  }

  test('does not print its token', () => {
    const client = new EnvironmentClient({
      builderUrl: 'http://127.0.0.1',
      environmentToken: ENVIRONMENT_TOKEN,
    });
    assert.ok(!inspect(client, { depth: null, showHidden: true }).includes(ENVIRONMENT_TOKEN));
  });
});

describe('createSession', () => {
  for (const [name, session, message] of [
    ['no scope', { fn: 'a' }, /^scope must be/],
    ['an unknown scope', { scope: 'environment' }, /^scope must be/],
    ['a scope that objects inherit', { scope: 'constructor' }, /^scope must be/],
    ['a plugin without a name', { scope: 'plugin' }, /^fn must be/],
    ['a plugin without a name, in a namespace', { scope: 'plugin', namespace: 'n' }, /^fn must be/],
    ['an undefined name', { scope: 'plugin', fn: undefined }, /^fn must be/],
    ['an empty name', { scope: 'plugin', fn: '' }, /^fn must be/],
    ['null as a name', { scope: 'plugin', fn: null }, /^fn must be/],
    ['an undefined namespace', { scope: 'plugin', fn: 'a', namespace: undefined }, /^namespace must be/],
    ['no namespace', { scope: 'namespace' }, /^namespace must be/],
    [
      'a plugin in the scope of a namespace',
      { scope: 'namespace', namespace: 'n', fn: 'a' },
      /^fn is not known here/,
    ],
    [
      'an undefined plugin there',
      { scope: 'namespace', namespace: 'n', fn: undefined },
      /^fn is not known here/,
    ],
    [
      'a namespace in the scope of a tenant',
      { scope: 'tenant', namespace: 'n' },
      /^namespace is not known here/,
    ],
    ['a stray key', { scope: 'tenant', pluginName: 'a' }, /^pluginName is not known here/],
    ['a stray key that is undefined', { scope: 'tenant', name: undefined }, /^name is not known here/],
    ['permissions that are undefined', { scope: 'tenant', permissions: undefined }, /^permissions must be/],
    ['an unknown permission', { scope: 'tenant', permissions: ['all'] }, /^permissions must be/],
    ['an actor that is undefined', { scope: 'tenant', actor: undefined }, /^actor must be/],
    ['a life that is undefined', { scope: 'tenant', expires_in: undefined }, /^expires_in must be/],
    ['a life that is too short', { scope: 'tenant', expires_in: 59 }, /^expires_in must be/],
    ['a life that is too long', { scope: 'tenant', expires_in: 86_401 }, /^expires_in must be/],
    ['half a second', { scope: 'tenant', expires_in: 60.5 }, /^expires_in must be/],
    ['a life as text', { scope: 'tenant', expires_in: '60' }, /^expires_in must be/],
  ] as [string, object, RegExp][]) {
    test(`rejects ${name} with a TypeError, before any request`, async () => {
      await using at = await start({}, { json: CREATED });
      await assert.rejects(at.client.createSession(TENANT, session as SessionRequest), {
        name: 'TypeError',
        message,
      });
      assert.deepEqual(await at.service.requests(), []);
    });
  }

  for (const [name, session, answer, path] of [
    ['allows more than was asked for', { permissions: ['read'] }, {}, 'permissions'],
    ['is for somebody else', { actor: 'u-1' }, { actor: 'u-2' }, 'actor'],
    ['is for nobody', { actor: 'u-1' }, {}, 'actor'],
    ['is the environment token', {}, { token: ENVIRONMENT_TOKEN }, 'token'],
    ['is empty', {}, { token: '' }, 'token'],
  ] as [string, object, object, string][]) {
    test(`rejects a token that ${name}`, async () => {
      await using at = await start({}, { json: { ...CREATED, ...answer } });
      const error: unknown = await at.client
        .createSession(TENANT, { scope: 'tenant', ...session })
        .catch((thrown: unknown) => thrown);
      assert.deepEqual([(error as Error).name, (error as { path?: string }).path], ['SchemaError', path]);
      assert.ok(!inspect(error, { depth: null, showHidden: true }).includes(ENVIRONMENT_TOKEN));
    });
  }
});
