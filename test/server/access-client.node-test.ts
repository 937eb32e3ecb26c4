import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { inspect } from 'node:util';
import { AccessClient, type AccessLocation } from '../../src/server/access-client.ts';
import { startScriptedServer } from '../support/scripted-server-node.ts';
import type { Rule } from '../support/scripted-server-rules.ts';
import { ENVIRONMENT_TOKEN, IDENT, TOKEN_RULE } from './endpoint-fixture.ts';

const LOCATION: AccessLocation = { identifier: IDENT, ext: 'add-record' };

async function start(...rules: Rule[]) {
  const builder = await startScriptedServer(...rules);
  const client = new AccessClient({
    builderUrl: builder.url(),
    environmentToken: ENVIRONMENT_TOKEN,
    retry: 0,
    timeout: 60_000,
  });
  return { builder, client, [Symbol.asyncDispose]: () => builder[Symbol.asyncDispose]() };
}

describe('AccessClient', () => {
  test('requests a token with the environment token, and keeps additional fields', async () => {
    await using at = await start({
      path: '/auth/*',
      json: { token: 'editor-1', expires_in: 900, scope: 'all' },
    });
    const record = await at.client.getEditorToken(LOCATION);
    assert.deepEqual(record, { token: 'editor-1', expires_in: 900, scope: 'all' });
    const [request] = await at.builder.requests(1);
    assert.equal(request?.method, 'GET');
    assert.equal(request?.path, `/auth/v2/access/${IDENT}/default/add-record`);
    assert.equal(request?.headers['authorization'], `Bearer ${ENVIRONMENT_TOKEN}`);
  });

  test('encodes every segment', async () => {
    await using at = await start(TOKEN_RULE);
    await at.client.getEditorToken({ identifier: 'com.acme.a/b', namespace: '%2e%2e', ext: '../ü?#' });
    const [request] = await at.builder.requests(1);
    assert.equal(request?.path, '/auth/v2/access/com.acme.a%2Fb/%252e%252e/..%2F%C3%BC%3F%23');
  });

  for (const bad of ['', '.', '..', '\ud800']) {
    for (const name of ['identifier', 'namespace', 'ext'] as const) {
      test(`rejects ${JSON.stringify(bad)} as ${name}, before any request`, async () => {
        await using at = await start(TOKEN_RULE);
        await assert.rejects(at.client.getEditorToken({ ...LOCATION, [name]: bad }), {
          name: 'TypeError',
          message: new RegExp(`^${name} `),
        });
        assert.deepEqual(await at.builder.requests(), []);
      });
    }
  }

  test('calls a function for the environment token of each call', async () => {
    await using builder = await startScriptedServer(TOKEN_RULE);
    let calls = 0;
    const environmentToken = () => Promise.resolve(`secret-${++calls}`);
    const client = new AccessClient({ builderUrl: builder.url(), environmentToken });
    await client.getEditorToken(LOCATION);
    await client.getEditorToken(LOCATION);
    const sent = (await builder.requests(2)).map(({ headers }) => headers['authorization']);
    assert.deepEqual(sent, ['Bearer secret-1', 'Bearer secret-2']);
  });

  for (const [rule, expected] of [
    [{ redirect: '/elsewhere' }, { name: 'HttpError', status: 302, redirect: true }],
    [{ status: 401 }, { name: 'HttpError', status: 401 }],
    [{ status: 503 }, { name: 'HttpError', status: 503 }],
    [{ drop: 'start' }, { name: 'NetworkError' }],
    [{ html: '<p>sign in' }, { name: 'SchemaError' }],
    [{ json: {} }, { name: 'SchemaError', path: 'token' }],
    [{ json: { token: '' } }, { name: 'SchemaError', path: 'token' }],
    [{ json: { token: 7 } }, { name: 'SchemaError', path: 'token' }],
    [{ json: { token: ENVIRONMENT_TOKEN } }, { name: 'SchemaError', path: 'token' }],
    [{ json: { token: `Bearer ${ENVIRONMENT_TOKEN}` } }, { name: 'SchemaError', path: 'token' }],
  ] satisfies [Omit<Rule, 'path'>, object][]) {
    test(`rejects a response with ${JSON.stringify(rule)}`, async () => {
      await using at = await start(
        { path: '/auth/*', ...rule },
        { path: '/elsewhere', json: { token: 'stolen' } },
      );
      const error: unknown = await at.client.getEditorToken(LOCATION).catch((thrown: unknown) => thrown);
      for (const [name, value] of Object.entries(expected)) assert.equal((error as never)[name], value, name);
      assert.equal((await at.builder.requests()).length, 1);
      assert.ok(!inspect(error, { depth: null }).includes(ENVIRONMENT_TOKEN));
    });
  }

  test('rejects after its time limit', async () => {
    await using builder = await startScriptedServer({ path: '*', delay: 'hang' });
    const client = new AccessClient({
      builderUrl: builder.url(),
      environmentToken: ENVIRONMENT_TOKEN,
      timeout: 50,
    });
    await assert.rejects(client.getEditorToken(LOCATION), { name: 'TimeoutError', message: / 50 ms$/ });
  });

  test('has a time limit of 10 s by default, which is less than that of a page', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const client = new AccessClient({
      builderUrl: 'http://127.0.0.1',
      environmentToken: ENVIRONMENT_TOKEN,
      fetch: () => {
        queueMicrotask(() => t.mock.timers.tick(10_000));
        return new Promise(() => undefined);
      },
    });
    await assert.rejects(client.getEditorToken(LOCATION), { name: 'TimeoutError' });
  });

  test('takes the time of the function for the environment token off that of the request', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    let now = 0;
    t.mock.method(performance, 'now', () => now);
    const client = new AccessClient({
      builderUrl: 'http://127.0.0.1',
      environmentToken: () => {
        now += 6000;
        return ENVIRONMENT_TOKEN;
      },
      fetch: () => {
        queueMicrotask(() => t.mock.timers.tick(10_000));
        return new Promise(() => undefined);
      },
    });
    await assert.rejects(client.getEditorToken(LOCATION), { name: 'TimeoutError', message: / 4000 ms$/ });
  });

  test('ends in time although the function for the environment token never answers, and when the signal aborts', async () => {
    const never = { builderUrl: 'http://127.0.0.1:9', environmentToken: () => new Promise<string>(() => {}) };
    const hasting = new AccessClient({ ...never, timeout: 20 });
    await assert.rejects(hasting.getEditorToken(LOCATION), {
      name: 'TimeoutError',
      message: /^environmentToken did not answer within 20 ms/,
    });
    const abort = new AbortController();
    const aborted = new AccessClient(never).getEditorToken(LOCATION, { signal: abort.signal });
    abort.abort(new Error('enough'));
    await assert.rejects(aborted, /^Error: enough$/);
  });

  test('stops and rejects with the reason of an aborted signal', async () => {
    await using at = await start({ path: '*', delay: 'hang' });
    const controller = new AbortController();
    const request = at.client.getEditorToken(LOCATION, { signal: controller.signal });
    await at.builder.requests(1);
    controller.abort(new Error('enough'));
    await assert.rejects(request, { message: 'enough' });
    assert.equal((await at.builder.aborted()).length, 1);
  });

  for (const [name, options, message] of [
    ['no environmentToken', { environmentToken: undefined }, /^environmentToken must be text/],
    ['an empty environmentToken', { environmentToken: '' }, /^environmentToken must be visible ASCII/],
    [
      'an environmentToken with a line break',
      { environmentToken: 'secret-9\n' },
      /^environmentToken must be visible ASCII/,
    ],
    ['no builderUrl', { builderUrl: undefined }, /^builderUrl must be an http or https address/],
    [
      'a builderUrl of another scheme',
      { builderUrl: 'ftp://a.example' },
      /^builderUrl must be an http or https address/,
    ],
    [
      'a builderUrl with a password',
      { builderUrl: 'http://u:hidden@a.example' },
      /^builderUrl must not hold a user name/,
    ],
  ] as const) {
    test(`throws for ${name}`, () => {
      const all = { builderUrl: 'http://127.0.0.1', environmentToken: ENVIRONMENT_TOKEN, ...options };
      assert.throws(
        () => new AccessClient(all as never),
        (error: Error) =>
          error instanceof TypeError &&
          message.test(error.message) &&
          !/secret-9|hidden/.test(inspect(error)),
      );
    });
  }

  for (const token of [undefined, 5, 'secret-9\r\nx: y']) {
    test(`rejects when the token function returns ${JSON.stringify(token)}, without repeating it`, async () => {
      await using builder = await startScriptedServer(TOKEN_RULE);
      const client = new AccessClient({ builderUrl: builder.url(), environmentToken: () => token as string });
      await assert.rejects(
        client.getEditorToken(LOCATION),
        (error: Error) =>
          error.message.startsWith('environmentToken must') && !inspect(error).includes('secret-9'),
      );
      assert.deepEqual(await builder.requests(), []);
    });
  }

  test('does not wait for a try that would come after its time limit', async () => {
    await using at = await startScriptedServer({
      ...TOKEN_RULE,
      status: 503,
      headers: { 'retry-after': '30' },
    });
    const client = new AccessClient({
      builderUrl: at.url(),
      environmentToken: ENVIRONMENT_TOKEN,
      timeout: 29_000,
    });
    await assert.rejects(client.getEditorToken(LOCATION), { name: 'HttpError', status: 503, attempts: 1 });
  });

  test('removes the environment token from an error of fetch that quotes the request', async () => {
    const client = new AccessClient({
      builderUrl: 'http://127.0.0.1',
      environmentToken: ENVIRONMENT_TOKEN,
      retry: 0,
      fetch: (_, init) => Promise.reject(new Error(`refused ${JSON.stringify(init?.headers)}`)),
    });
    const error = (await client.getEditorToken(LOCATION).catch((thrown: unknown) => thrown)) as Error;
    assert.ok(!inspect(error, { depth: null, showHidden: true }).includes(ENVIRONMENT_TOKEN));
    assert.match((error.cause as Error).message, /^refused .*\[environment token\]/);
  });

  test('does not print its token', () => {
    const client = new AccessClient({ builderUrl: 'http://127.0.0.1', environmentToken: ENVIRONMENT_TOKEN });
    assert.ok(!inspect(client, { depth: null, showHidden: true }).includes(ENVIRONMENT_TOKEN));
    assert.ok(!JSON.stringify(client).includes(ENVIRONMENT_TOKEN));
  });
});
