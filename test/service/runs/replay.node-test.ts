import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RecordedCalls } from '../../../service/src/outbound/recorded-calls.ts';
import { digestedOf, RunCaller } from '../../../service/src/outbound/run-caller.ts';
import { Secrets } from '../../../service/src/outbound/secrets.ts';
import { isReplayable, isSameEnding, replayedEnding } from '../../../service/src/runs/replay.ts';
import type { RecordedCall, StoredRun } from '../../../service/src/storage/tables/runs.ts';
import type { CallResult, GuestRequest } from '../../../service/src/sandbox/run-calls.ts';
import { run as callContext, secretsKey } from '../outbound/connected-service.ts';

const run = (details: StoredRun['details'], more: Partial<StoredRun> = {}): StoredRun => ({
  id: '019a0b2c-4d5e-7f60-8123-456789abcdef',
  version: 'v1.0.0',
  code: undefined,
  took: 1,
  inputBytes: Buffer.byteLength(details.input ?? ''),
  outputBytes: Buffer.byteLength(details.output ?? ''),
  details,
  ...more,
});
const result = (text: string) => ({ result: text, logs: [] });
const error = (code: 'plugin-error' | 'invalid-input', path?: string) => ({
  error: { code, message: 'another message', ...(path !== undefined && { path }) },
  logs: [],
});

test('outputs are the same by their text, or as JSON', () => {
  for (const [before, after, same] of [
    ['a', 'a', true],
    ['a', 'b', false],
    ['{"a":1,"b":[2]}', '{ "b": [2], "a": 1 }', true],
    ['{"a":1}', '{"a":2}', false],
    ['[1,2]', '[2,1]', false],
    ['1', '1.0', false],
    ['[0]', '[-0.0]', true],
    ['[9007199254740993]', '[9007199254740992]', false],
    // Integers of a long text are compared as doubles, because that takes far less time.
    ['[9007199254740993]', `[${' '.repeat(70_000)}9007199254740992]`, true],
    ['{', '{ ', false],
    ['', '\uFFFD', false],
    ['\uFFFD', '\uD800', true],
  ] as const)
    assert.equal(isSameEnding(run({ output: before }), result(after)), same, `${before} ${after}`);
  const deep = '['.repeat(7000) + ']'.repeat(7000);
  assert.doesNotThrow(() => isSameEnding(run({ output: deep }), result(` ${deep}`)));
});

test('of an output that was cut its beginning and its length are compared', () => {
  const cut = run({ output: 'abc', truncated: true }, { outputBytes: 5 });
  assert.equal(isSameEnding(cut, result('abcde')), true);
  assert.equal(isSameEnding(cut, result('abcdef')), false);
  assert.equal(isSameEnding(cut, result('abxde')), false);
});

test('errors are the same by code and path, and never the same as an output', () => {
  const failed = (path?: string) =>
    run({ message: 'no', ...(path !== undefined && { path }) }, { code: 'plugin-error' });
  assert.equal(isSameEnding(failed(), error('plugin-error')), true);
  assert.equal(isSameEnding(failed(), error('invalid-input')), false);
  assert.equal(isSameEnding(failed('/a'), error('plugin-error', '/a')), true);
  assert.equal(isSameEnding(failed('/a'), error('plugin-error', '/b')), false);
  assert.equal(isSameEnding(failed(), result('')), false);
  assert.equal(isSameEnding(run({ output: '' }), error('plugin-error')), false);
});

test('a long output of a replay is cut as a record is', () => {
  assert.deepEqual(replayedEnding(result('short')), { output: 'short' });
  const { output = '', truncated } = replayedEnding(result('x'.repeat(20_000)));
  assert.deepEqual([output.length, truncated], [16 * 1024, true]);
});

const secrets = new Secrets({ keys: [secretsKey] });
const url = 'https://api.example.com/a?b=1';
const encoder = new TextEncoder();
const recorded = (body: string, more: Partial<RecordedCall> = {}): RecordedCall => {
  const digest = secrets.digest(
    ...digestedOf({ method: 'POST', url, headers: [], body: encoder.encode(body) }),
  );
  return {
    connection: 'api',
    method: 'POST',
    url: 'https://api.example.com/a',
    took: 1,
    requestBytes: body.length,
    responseBytes: 0,
    ...(digest !== undefined && { digest }),
    ...more,
  };
};

test('a run is replayed only if its input and its calls are recorded whole', () => {
  assert.equal(isReplayable(run({})), false);
  assert.equal(isReplayable(run({ input: '' })), true);
  assert.equal(isReplayable(run({ input: 'é', truncated: true })), true);
  assert.equal(isReplayable(run({ input: 'a' }, { inputBytes: 2 })), false);
  const { digest: _, ...withoutDigest } = recorded('');
  assert.equal(isReplayable(run({ input: '', calls: [recorded('')] })), true);
  assert.equal(isReplayable(run({ input: '', calls: [recorded('', { truncated: true })] })), false);
  assert.equal(isReplayable(run({ input: '', calls: [withoutDigest] })), false);
});

test('recorded calls answer by method, address and body, each once and in order', async () => {
  const calls = new RecordedCalls(
    [
      recorded('a', { status: 201, responseType: 'text/plain', responseBody: 'first' }),
      recorded('a', { status: 200, responseBody: 'second' }),
      recorded('b', { error: 'unreachable' }),
    ],
    // The key has been replaced since.
    new Secrets({ keys: [Buffer.alloc(32, 9), secretsKey] }),
  );
  const ask = async (body: string, more: { method?: string; url?: string } = {}) => {
    const request = { method: 'POST', url, headers: [], body: encoder.encode(body), ...more };
    const answer = await calls.call(request, new AbortController().signal);
    return 'error' in answer
      ? answer.error.code
      : [answer.response.status, answer.response.headers, Buffer.from(answer.response.body).toString()];
  };
  assert.equal(await ask('b'), 'unreachable');
  assert.equal(await ask('a', { method: 'GET' }), 'call-not-recorded');
  assert.equal(await ask('a', { url: `${url}2` }), 'call-not-recorded');
  assert.deepEqual(await ask('a'), [201, [['content-type', 'text/plain']], 'first']);
  assert.deepEqual(await ask('a'), [200, [], 'second']);
  assert.equal(await ask('a'), 'call-not-recorded');
  assert.deepEqual(
    calls.records.map(({ connection, status, error: code }) => [connection, status ?? code]),
    [
      ['api', 'unreachable'],
      ['', 'call-not-recorded'],
      ['', 'call-not-recorded'],
      ['api', 201],
      ['api', 200],
      ['', 'call-not-recorded'],
    ],
  );
});

test('equal calls that were made at once get the responses that each of them got', async () => {
  const responses: ((text: string) => void)[] = [];
  const outbound = {
    call: async ({ method, url: address, body }: GuestRequest) => {
      const { promise, resolve } = Promise.withResolvers<string>();
      responses.push(resolve);
      const response = {
        status: 200,
        statusText: '',
        url: address,
        headers: [],
        body: encoder.encode(await promise),
      };
      const sizes = { requestBytes: body?.length ?? 0, responseBytes: response.body.length };
      return {
        response,
        record: { connection: 'api', method, url: address, status: 200, took: 1, ...sizes },
      };
    },
  };
  const caller = new RunCaller(outbound, callContext, { secrets });
  const { signal } = new AbortController();
  const request = { method: 'POST', url, headers: [], body: encoder.encode('a') };
  const made = ['first', 'second'].map(() => caller.call(request, signal));
  responses[1]?.('second');
  await made[1];
  responses[0]?.('first');
  const given = await Promise.all(made);
  const calls = new RecordedCalls(caller.records, secrets);
  const replayed = [await calls.call(request, signal), await calls.call(request, signal)];
  const textOf = (one: CallResult) => 'response' in one && Buffer.from(one.response.body).toString();
  assert.deepEqual(given.map(textOf), ['first', 'second']);
  assert.deepEqual(replayed.map(textOf), ['first', 'second']);
});

test('a call that the recorded run did not wait for is answered at the end of the run', async () => {
  const calls = new RecordedCalls([recorded('a', { error: 'cancelled' })], secrets);
  const ending = new AbortController();
  const request = { method: 'POST', url, headers: [], body: encoder.encode('a') };
  const answer = calls.call(request, ending.signal);
  assert.deepEqual(calls.records, []);
  ending.abort();
  assert.equal('error' in (await answer), true);
  assert.deepEqual(
    calls.records.map(({ error: code }) => code),
    ['cancelled'],
  );
});
