import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { inspect } from 'node:util';
import { AccessClient } from '../../src/server/access-client.ts';
import { sendWithEnvironmentToken } from '../../src/server/environment-token.ts';
import { createTokenEndpoint } from '../../src/server/token-endpoint.ts';
import { startScriptedServer } from '../support/scripted-server-node.ts';
import type { Rule } from '../support/scripted-server-rules.ts';
import { ENVIRONMENT_TOKEN, FIELDS, IDENT, PARTNER, pageRequest } from './endpoint-fixture.ts';

/** All text in a value, including messages, stacks, causes, fields that are not enumerable, symbols and JSON. */
function everythingIn(value: unknown): string {
  const seen = new Set<unknown>();
  const parts = [inspect(value, { depth: null, showHidden: true, maxStringLength: null })];
  const walk = (one: unknown): void => {
    if (typeof one !== 'object' || one === null) {
      parts.push(String(one));
      return;
    }
    if (seen.has(one)) return;
    seen.add(one);
    for (const key of Reflect.ownKeys(one)) walk((one as Record<PropertyKey, unknown>)[key]);
    if (one instanceof Error) parts.push(one.stack ?? '', one.message, String(one));
  };
  walk(value);
  return parts.join('\n');
}

const SECRETS = [ENVIRONMENT_TOKEN, encodeURIComponent(ENVIRONMENT_TOKEN), btoa(ENVIRONMENT_TOKEN)];

describe('the environment token', () => {
  test('leaves an error that is no object as it is', async () => {
    await assert.rejects(
      // An abort may have any reason.
      sendWithEnvironmentToken(
        { path: '/' },
        {
          base: new URL('http://127.0.0.1'),
          environmentToken: ENVIRONMENT_TOKEN,
          signal: AbortSignal.abort(null),
        },
      ),
      (error) => error === null,
    );
  });

  test('would be found in causes and symbols by the search of these tests', () => {
    const cause = new Error('x', {
      cause: Object.assign(new Error('y'), { [Symbol('s')]: ENVIRONMENT_TOKEN }),
    });
    assert.ok(everythingIn(new Error('z', { cause })).includes(ENVIRONMENT_TOKEN));
  });

  const echo = ENVIRONMENT_TOKEN;
  for (const [name, rule, options] of [
    ['a token', { json: { token: 'editor-1' } }, {}],
    ['a 401 that repeats it', { status: 401, body: echo, headers: { 'x-echo': echo } }, {}],
    ['a 500 that repeats it as JSON', { status: 500, json: { error: { message: echo } } }, {}],
    ['a redirect to it', { redirect: `http://127.0.0.1:9/${echo}` }, {}],
    ['HTML that repeats it', { html: echo }, {}],
    ['the environment token as the token', { json: { token: echo } }, {}],
    ['the authorization header as the token', { json: { token: `Bearer ${echo}` } }, {}],
    [
      'the environment token in other fields',
      { json: { token: 'editor-1', secret: echo, expires_at: echo, expires_in: echo } },
      {},
    ],
    ['the environment token in a wrong field', { json: { token: { [echo]: echo } } }, {}],
    ['a cut connection', { drop: 'start' }, {}],
    ['half of a response', { drop: 'midway', json: { token: echo } }, {}],
    ['a timeout', { delay: 'hang' }, { timeout: 50 }],
    ['a token that no header can hold', {}, { environmentToken: () => `${ENVIRONMENT_TOKEN}\n` }],
    [
      'a token with a letter that no header can hold',
      {},
      { environmentToken: () => `${ENVIRONMENT_TOKEN}ü` },
    ],
    [
      'a fetch that quotes its request',
      {},
      { fetch: (_: unknown, init?: RequestInit) => Promise.reject(new Error(JSON.stringify(init))) },
    ],
  ] as [string, Omit<Rule, 'path'>, object][]) {
    test(`is in no response, error or console line after ${name}`, async (t) => {
      const lines: unknown[] = [];
      for (const level of ['log', 'info', 'warn', 'error', 'debug'] as const) {
        t.mock.method(console, level, (...line: unknown[]) => void lines.push(line));
      }
      await using builder = await startScriptedServer({ path: '/auth/*', ...rule });
      const access = new AccessClient({
        builderUrl: builder.url(),
        environmentToken: ENVIRONMENT_TOKEN,
        retry: 0,
        ...options,
      });
      // One logs to the console, the other has an onError.
      const errors: unknown[] = [];
      const shared = { access, authorize: () => IDENT, allowedOrigins: [PARTNER] };
      const logging = createTokenEndpoint(shared);
      const reporting = createTokenEndpoint({ ...shared, onError: (error) => void errors.push(error) });
      for (const endpoint of [logging, reporting]) {
        const response = await endpoint(pageRequest(FIELDS, { origin: PARTNER }));
        const text = await response.text();
        const found = everythingIn([text, [...response.headers], response.statusText, errors, lines, access]);
        for (const secret of SECRETS) assert.ok(!found.includes(secret), found);
        if (response.status !== 200) assert.ok(lines.length > 0);
      }
      assert.equal(errors.length, lines.length);
    });
  }
});
