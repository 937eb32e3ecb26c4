import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { inspect } from 'node:util';
import { EnvironmentClient, HttpError, eachPage } from '../../src/server.ts';
import { PLUGIN, SESSION } from '../core/client/records.ts';
import { testTimeouts } from '../core/client/time-outs.ts';
import { ENVIRONMENT_TOKEN } from './endpoint-fixture.ts';
import { HERE, LOCATION, OPERATIONS, TENANT, TENANT_RECORD, start } from './environment-operations.ts';

describe('EnvironmentClient', () => {
  testTimeouts(
    (options) =>
      new EnvironmentClient({
        builderUrl: 'http://127.0.0.1',
        environmentToken: ENVIRONMENT_TOKEN,
        ...options,
      }),
    [
      ['setNamespace', (c) => c.setNamespace({ ...HERE, namespace: 'n' }, {}), 60_000],
      [
        'putLibrary',
        (c) => c.putLibrary({ ...HERE, library: 'a', version: '1.0.0' }, { contents: '' }),
        60_000,
      ],
      ['replay', (c) => c.replay(LOCATION), 600_000],
      ['listPlugins', (c) => c.listPlugins(TENANT), 15_000],
    ],
  );

  for (const [name, call, sent, data] of OPERATIONS) {
    test(`${name} sends ${sent} with the environment token, and resolves with the unchanged response`, async () => {
      await using at = await start({}, data ? { json: data } : { status: 204 });
      assert.deepEqual(await call(at.client), data);
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

    if (data)
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

  test('creates and updates no tenant with an undefined field', async () => {
    await using at = await start({}, { json: TENANT_RECORD });
    const empty = { suspended: { suspended: undefined }, plugins: { limits: { plugins: undefined } } };
    for (const [name, changes] of Object.entries(empty)) {
      for (const method of ['createTenant', 'updateTenant'] as const)
        await assert.rejects(at.client[method](TENANT, changes as never), {
          name: 'TypeError',
          message: new RegExp(`^${name} must`),
        });
    }
    assert.deepEqual(await at.service.requests(), []);
  });

  test('creates no token, and changes no webhook, by a field that JSON would leave out', async () => {
    await using at = await start({}, { json: {} });
    const here = { environment: 'com.acme' };
    const calls: Record<string, () => Promise<unknown>> = {
      scopes: () => at.client.createToken(here, { scopes: undefined } as never),
      scope: () => at.client.createToken(here, { scope: ['run'] } as never),
      enabled: () => at.client.updateWebhook({ ...here, webhook: 'w1' }, { enabled: undefined } as never),
    };
    for (const [name, call] of Object.entries(calls)) {
      await assert.rejects(
        call,
        (error: Error) => error instanceof TypeError && error.message.startsWith(name),
      );
    }
    assert.deepEqual(await at.service.requests(), []);
  });

  test('ends no session where actor is misspelt', async () => {
    await using at = await start({}, { status: 204 });
    await assert.rejects(at.client.endSessions(TENANT, { actro: 'u1' } as { actor?: string }), {
      name: 'TypeError',
      message: 'actro is not known here; the known fields are actor',
    });
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

  test('rejects with a message that ends with what the service says', async () => {
    const message = `/input/type: must be one of "string" or "number"\n, not ${ENVIRONMENT_TOKEN}.`;
    const body = { error: { code: 'invalid-record', path: '/input/type', message } };
    await using at = await start({}, { status: 422, json: body, headers: { 'x-request-id': 'r-1' } });
    const detail = '/input/type: must be one of "string" or "number" , not ….';
    const error = await at.client
      .setNamespace({ ...HERE, namespace: 'n' }, {})
      .catch((thrown: Error) => thrown);
    assert.ok(error instanceof HttpError);
    assert.deepEqual([error.detail, error.requestId], [detail, 'r-1']);
    assert.equal(
      error.message,
      `PUT ${at.service.url('/api/v1/environment/com.acme/namespaces/n')} answered 422: ${detail}`,
    );
    assert.ok(error.stack?.includes(detail));
  });

  test('has the service’s words in the message of an error that ends a stream', async () => {
    const event = { status: 503, error: { code: 'cancelled', message: 'It shuts down.' } };
    const body = `event: error\ndata: ${JSON.stringify(event)}\n\n`;
    await using at = await start({}, { headers: { 'content-type': 'text/event-stream' }, body });
    await assert.rejects(at.client.replay(LOCATION), {
      status: 503,
      message: /answered 503: It shuts down\.$/,
    });
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

test('actor is sent percent-encoded, of the call before that of the client, and refused where it cannot be one', async () => {
  await using started = await start({ actor: 'Zoë' }, { json: { ...TENANT_RECORD, runs: [] } });
  const { client, service } = started;
  await client.getTenant(TENANT);
  await client.getTenant(TENANT, { actor: 'staff 7' });
  await client.listRuns(LOCATION, { limit: 1, actor: 'ada' });
  assert.deepEqual(
    (await service.requests(3)).map(({ headers, search }) => [headers['x-actor'], search]),
    [
      ['Zo%C3%AB', ''],
      ['staff%207', ''],
      ['ada', '?limit=1'],
    ],
  );
  await assert.rejects(client.getTenant(TENANT, { actor: '' }), TypeError);
  const options = { builderUrl: 'http://localhost', environmentToken: ENVIRONMENT_TOKEN, actor: 'a\nb' };
  assert.throws(() => new EnvironmentClient(options), TypeError);
  assert.equal((await service.requests()).length, 3);
});
