import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { inspect } from 'node:util';
import * as fc from 'fast-check';
import { ExecutionClient, HttpError, RunError } from '../../src/server.ts';
import type { Rule } from '../support/scripted-server-rules.ts';
import { startScriptedServer } from '../support/scripted-server-node.ts';
import { ENVIRONMENT_TOKEN, IDENT } from './endpoint-fixture.ts';

const LOCATION = { identifier: IDENT, pluginName: 'add-record', version: 'v1.0.0' };

async function start(...rules: Omit<Rule, 'path'>[]) {
  const service = await startScriptedServer(...rules.map((rule) => ({ path: '*', ...rule })));
  const client = new ExecutionClient({
    executionUrl: service.url('/exec'),
    environmentToken: ENVIRONMENT_TOKEN,
  });
  return { service, client, [Symbol.asyncDispose]: () => service[Symbol.asyncDispose]() };
}

async function failure(rule: Omit<Rule, 'path'>): Promise<HttpError> {
  await using at = await start({ status: 422, ...rule });
  const error = await at.client.run(LOCATION, 'x').catch((thrown: unknown) => thrown);
  assert.ok(error instanceof HttpError, inspect(error));
  return error;
}

const bytesOf = (error: RunError) => Buffer.byteLength([error.message, ...(error.logs ?? [])].join(''));

describe('a run without output', () => {
  test('rejects with a RunError that has the reason, the logs and the id of the run', async () => {
    const error = (await failure({
      json: {
        error: { code: 'plugin-error', message: 'no price', path: '/price', requestId: 'r-1' },
        logs: ['a', 'b\nc'],
      },
    })) as RunError;
    assert.ok(error instanceof RunError && error instanceof Error);
    const { name, status, code, message, path, logs, requestId, attempts, redirect } = error;
    assert.deepEqual(
      { name, status, code, message, path, logs, requestId, attempts, redirect },
      {
        name: 'RunError',
        status: 422,
        code: 'plugin-error',
        message: 'no price',
        path: '/price',
        logs: ['a', 'b\nc'],
        requestId: 'r-1',
        attempts: 1,
        redirect: false,
      },
    );
    assert.match(inspect(error), /^RunError: no price\n/);
  });

  test('takes the id of the run from the header first', async () => {
    const error = await failure({
      headers: { 'x-request-id': 'r-2' },
      json: { error: { code: 'c', requestId: 'r-1' } },
    });
    assert.equal((error as RunError).requestId, 'r-2');
  });

  test('includes how long to wait, if the response has it', async () => {
    const error = await failure({
      status: 429,
      headers: { 'retry-after': '2' },
      json: { error: { code: 'too-many-requests' } },
    });
    assert.deepEqual([error.code, error.retryAfter], ['too-many-requests', 2000]);
  });

  test('has a message with request and status when the response has none', async () => {
    const error = await failure({ json: { error: { code: 'busy' } } });
    assert.match(error.message, /^POST http.* answered 422$/);
    assert.ok(!('logs' in error) && !('requestId' in error));
  });

  for (const [name, rule] of [
    ['is not JSON', { html: '<p>no' }],
    ['has no code', { json: { error: { message: 'no' }, logs: ['a'] } }],
    ['has a code of two lines', { json: { error: { code: 'a\nb', message: 'no' } } }],
    ['is a redirect', { status: 307, redirect: '/other' }],
    ['is empty', { body: '' }],
    ['breaks off', { drop: 'midway', json: { error: { code: 'plugin-error', message: 'no' } } }],
  ] as [string, Omit<Rule, 'path'>][]) {
    test(`rejects with an HttpError when the response ${name}`, async () => {
      const error = await failure(rule);
      assert.deepEqual([error.name, error instanceof RunError], ['HttpError', false]);
      assert.equal(error.status, rule.status ?? 422);
    });
  }

  test('has no control or bidirectional characters in its message, nor in its stack', async () => {
    const message = 'a\n\u001b[31mb\r\u0000c\u0085d\u2028e\u202ef\u2066g\u007fh';
    const error = await failure({ json: { error: { code: 'plugin-error', message } } });
    assert.equal(error.message, 'a [31mb c d e f g h');
    assert.ok(!['\u001b', '\u202e', '\u0085'].some((one) => error.stack?.includes(one)));
  });

  test('keeps replacement patterns in a message as text', async () => {
    const error = await failure({ json: { error: { code: 'plugin-error', message: "$& $' $`" } } });
    assert.match(error.stack ?? '', /: \$& \$' \$`\n/);
  });

  for (const [name, body] of [
    ['a message', { error: { code: 'plugin-error', message: 'ä'.repeat(200_000) } }],
    ['one entry of a log', { error: { code: 'plugin-error', message: 'm' }, logs: ['😀'.repeat(100_000)] }],
    [
      'many entries',
      {
        error: { code: 'plugin-error', message: 'm' },
        logs: Array.from({ length: 9000 }, () => 'entry '.repeat(20)),
      },
    ],
  ] as [string, object][]) {
    test(`keeps at most 64 KB of ${name}, and no half of a surrogate pair`, async () => {
      const error = (await failure({ json: body })) as RunError;
      assert.equal(error.name, 'RunError');
      assert.ok(bytesOf(error) <= 65_536 && bytesOf(error) > 65_000, `${bytesOf(error)}`);
      assert.ok([error.message, ...(error.logs ?? [])].every((text) => text.isWellFormed()));
    });
  }

  test('keeps an empty log entry, and drops one that is no text', async () => {
    const error = (await failure({
      json: { error: { code: 'c' }, logs: ['', 7, null, 'a', { b: 1 }] },
    })) as RunError;
    assert.deepEqual(error.logs, ['', 'a']);
  });

  test('never contains the environment token, wherever a response repeats it', async () => {
    const echo = `x ${ENVIRONMENT_TOKEN} y`;
    for (const code of ['plugin-error', ENVIRONMENT_TOKEN]) {
      const error = await failure({
        json: {
          error: { code, message: echo, path: `/${echo}`, requestId: ENVIRONMENT_TOKEN },
          logs: [echo],
        },
      });
      assert.ok(!inspect(error, { depth: null, showHidden: true }).includes(ENVIRONMENT_TOKEN));
    }
  });

  test('has fields of safe types and lengths, whatever the body is', async () => {
    const body = fc.oneof(
      fc.json(),
      fc
        .record(
          {
            error: fc.record({
              code: fc.anything(),
              message: fc.anything(),
              path: fc.anything(),
              requestId: fc.anything(),
            }),
            logs: fc.anything(),
          },
          { requiredKeys: [] },
        )
        .map(
          (value) =>
            JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? `${part}` : part)) ?? '',
        ),
    );
    await fc.assert(
      fc.asyncProperty(body, async (text) => {
        const client = new ExecutionClient({
          executionUrl: 'http://127.0.0.1',
          environmentToken: ENVIRONMENT_TOKEN,
          fetch: () => Promise.resolve(new Response(text, { status: 422 })),
        });
        const error = (await client.run(LOCATION, '').catch((thrown: unknown) => thrown)) as RunError;
        assert.ok(error instanceof HttpError);
        assert.doesNotMatch(error.message, /\p{Cc}/u);
        for (const value of [error.code, error.path, error.requestId]) {
          assert.ok(value === undefined || (typeof value === 'string' && value.length <= 1000));
        }
        assert.ok((error.logs ?? []).every((entry) => typeof entry === 'string'));
      }),
    );
  });
});

describe('ExecutionClient', () => {
  for (const version of [undefined, null] as const) {
    test(`runs the live version when ${version === null ? 'no version is given' : 'the version is undefined'}`, async () => {
      await using at = await start({ body: 'out' });
      const { version: _, ...live } = LOCATION;
      assert.equal(await at.client.run(version === null ? live : { ...LOCATION, version }, 'in'), 'out');
      const [request] = await at.service.requests(1);
      assert.equal(request?.path, `/exec/name/${IDENT}/default/add-record`);
      assert.equal(request?.body, 'in');
    });
  }

  for (const version of ['', 'v', null, 1]) {
    test(`rejects ${JSON.stringify(version)} as a version, before any request`, async () => {
      await using at = await start({ body: '' });
      await assert.rejects(at.client.run({ ...LOCATION, version: version as string }, ''), {
        name: 'TypeError',
        message: /^version must/,
      });
      assert.deepEqual(await at.service.requests(), []);
    });
  }

  for (const [name, headers, expected] of [
    ['nothing', {}, {}],
    [
      'everything',
      { 'x-request-id': 'r-1', 'x-plugin-version': 'v1.0.2', 'server-timing': 'run;dur=12.5' },
      { requestId: 'r-1', version: 'v1.0.2', took: 12.5 },
    ],
    ['the id by its other name', { 'x-suborbital-requestid': 'r-2' }, { requestId: 'r-2' }],
    ['other times too', { 'server-timing': 'proxy;dur=4, run;dur=0' }, { took: 0 }],
    ['times of others alone', { 'server-timing': 'prerun;dur=4, x;desc="run;dur"' }, {}],
    ['a malformed time', { 'server-timing': 'run;dur=1.2.3' }, {}],
  ] as [string, Record<string, string>, object][]) {
    test(`reports the details of a run: ${name}`, async () => {
      await using at = await start({ body: 'out', headers });
      assert.deepEqual(await at.client.runWithDetails(LOCATION, 'in'), { output: 'out', ...expected });
    });
  }

  test('rejects with a RunError from runWithDetails, too', async () => {
    await using at = await start({
      status: 504,
      json: { error: { code: 'time-limit', message: 'after 1000 ms' } },
    });
    await assert.rejects(at.client.runWithDetails(LOCATION, ''), { name: 'RunError', code: 'time-limit' });
    assert.equal((await at.service.requests()).length, 1);
  });
});
