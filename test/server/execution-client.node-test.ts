import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { inspect } from 'node:util';
import { ExecutionClient, type ExecutionLocation } from '../../src/server/execution-client.ts';
import { startScriptedServer } from '../support/scripted-server-node.ts';
import type { Rule } from '../support/scripted-server-rules.ts';
import { ENVIRONMENT_TOKEN, IDENT } from './endpoint-fixture.ts';

const LOCATION: ExecutionLocation = { identifier: IDENT, pluginName: 'add-record', version: '1.0.0' };

async function start(...rules: Rule[]) {
  const service = await startScriptedServer(...rules);
  const client = new ExecutionClient({
    executionUrl: service.url('/exec/'),
    environmentToken: ENVIRONMENT_TOKEN,
    timeout: 60_000,
  });
  return { service, client, [Symbol.asyncDispose]: () => service[Symbol.asyncDispose]() };
}

describe('ExecutionClient', () => {
  for (const version of ['1.0.0', 'v1.0.0']) {
    test(`runs version ${version} with text as input and output`, async () => {
      await using at = await start({ path: '/exec/*', method: 'POST', body: '{"grüße": "zurück ✓"}' });
      const output = await at.client.run({ ...LOCATION, version }, 'grüße ✓\n');
      assert.equal(output, '{"grüße": "zurück ✓"}');
      const [request] = await at.service.requests(1);
      assert.equal(request?.path, `/exec/${IDENT}/default/add-record/v1.0.0`);
      assert.equal(request?.body, 'grüße ✓\n');
      assert.equal(request?.headers['content-type'], 'text/plain; charset=utf-8');
      assert.equal(request?.headers['authorization'], `Bearer ${ENVIRONMENT_TOKEN}`);
    });
  }

  test('sends a rollout key percent-encoded, and none unless it is set', async () => {
    await using at = await start({ path: '/exec/*', body: '' }, { path: '/exec/*', body: '' });
    await at.client.run(LOCATION, '', { rolloutKey: 'Müller & 7' });
    await at.client.run(LOCATION, '');
    const [first, second] = await at.service.requests(2);
    assert.equal(first?.headers['x-rollout-key'], 'M%C3%BCller%20%26%207');
    assert.equal(second?.headers['x-rollout-key'], undefined);
    await assert.rejects(at.client.run(LOCATION, '', { rolloutKey: '\ud800' }), {
      message: 'rolloutKey must be well-formed text',
    });
  });

  test('accepts and returns empty text', async () => {
    await using at = await start({ path: '/exec/*', body: '' });
    assert.equal(await at.client.run(LOCATION, ''), '');
    assert.equal((await at.service.requests(1))[0]?.body, '');
  });

  test('encodes every segment', async () => {
    await using at = await start({ path: '/exec/*', body: '' });
    await at.client.run({ identifier: 'a.b/c', namespace: 'n s', pluginName: 'p?', version: 'v1/..' }, '');
    assert.equal((await at.service.requests(1))[0]?.path, '/exec/a.b%2Fc/n%20s/p%3F/v1%2F..');
  });

  for (const bad of ['', '.', '..', '\udfff']) {
    for (const name of ['identifier', 'namespace', 'pluginName', 'version'] as const) {
      test(`rejects ${JSON.stringify(bad)} as ${name}, before any request`, async () => {
        await using at = await start({ path: '*', body: '' });
        await assert.rejects(at.client.run({ ...LOCATION, [name]: bad }, ''), {
          name: 'TypeError',
          message: new RegExp(`^${name} `),
        });
        assert.deepEqual(await at.service.requests(), []);
      });
    }
  }

  for (const input of ['half \ud83d', { a: 1 }, undefined]) {
    test(`rejects ${inspect(input)} as input, before any request`, async () => {
      await using at = await start({ path: '*', body: '' });
      await assert.rejects(at.client.run(LOCATION, input as string), {
        message: 'input must be well-formed text',
      });
      assert.deepEqual(await at.service.requests(), []);
    });
  }

  for (const [rule, expected] of [
    [
      { status: 503, headers: { 'retry-after': '0' } },
      { name: 'HttpError', status: 503, attempts: 1 },
    ],
    [{ status: 429 }, { name: 'HttpError', status: 429, attempts: 1 }],
    [{ drop: 'start' }, { name: 'NetworkError', attempts: 1 }],
    [
      { drop: 'midway', body: 'half of it' },
      { name: 'NetworkError', attempts: 1 },
    ],
    [
      { status: 307, redirect: '/exec/other' },
      { name: 'HttpError', status: 307, redirect: true },
    ],
  ] satisfies [Omit<Rule, 'path'>, object][]) {
    test(`runs a plugin only once, even after a response with ${JSON.stringify(rule)}`, async () => {
      await using at = await start({ path: '/exec/*', ...rule });
      const error: unknown = await at.client.run(LOCATION, 'x').catch((thrown: unknown) => thrown);
      for (const [name, value] of Object.entries(expected)) assert.equal((error as never)[name], value, name);
      assert.equal((await at.service.requests()).length, 1);
      assert.ok(!inspect(error, { depth: null }).includes(ENVIRONMENT_TOKEN));
    });
  }

  test('retries when told that plugins may run twice', async () => {
    await using service = await startScriptedServer(
      { path: '*', times: 1, status: 503, headers: { 'retry-after': '0' } },
      { path: '*', body: 'second' },
    );
    const client = new ExecutionClient({
      executionUrl: service.url(),
      environmentToken: ENVIRONMENT_TOKEN,
      retry: 1,
    });
    assert.equal(await client.run(LOCATION, 'x'), 'second');
  });

  test('stops and rejects with the reason of an aborted signal', async () => {
    await using at = await start({ path: '*', delay: 'hang' });
    const controller = new AbortController();
    const output = at.client.run(LOCATION, 'x', { signal: controller.signal });
    await at.service.requests(1);
    controller.abort(new Error('enough'));
    await assert.rejects(output, { message: 'enough' });
    assert.equal((await at.service.aborted()).length, 1);
  });

  test('rejects after its time limit', async () => {
    await using service = await startScriptedServer({ path: '*', delay: 'hang' });
    const client = new ExecutionClient({
      executionUrl: service.url(),
      environmentToken: ENVIRONMENT_TOKEN,
      timeout: 50,
    });
    await assert.rejects(client.run(LOCATION, 'x'), { name: 'TimeoutError' });
  });

  test('has a time limit of 35 s by default, which is more than that of the service', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const client = new ExecutionClient({
      executionUrl: 'http://127.0.0.1',
      environmentToken: ENVIRONMENT_TOKEN,
      fetch: () => {
        queueMicrotask(() => t.mock.timers.tick(35_000));
        return new Promise(() => undefined);
      },
    });
    await assert.rejects(client.run(LOCATION, 'x'), { name: 'TimeoutError', message: / 35000 ms$/ });
  });

  test('throws without an address or a token', () => {
    const options = { executionUrl: 'http://127.0.0.1', environmentToken: ENVIRONMENT_TOKEN };
    assert.throws(
      () => new ExecutionClient({ ...options, executionUrl: '/exec' }),
      /^TypeError: executionUrl must/,
    );
    assert.throws(
      () => new ExecutionClient({ ...options, environmentToken: '' }),
      /^TypeError: environmentToken must/,
    );
  });
});
