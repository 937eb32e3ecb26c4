import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { format, inspect } from 'node:util';
import { AccessClient } from '../../src/server/access-client.ts';
import { createTokenEndpoint } from '../../src/server/token-endpoint.ts';
import type { Rule } from '../support/scripted-server-rules.ts';
import {
  ENVIRONMENT_TOKEN,
  IDENT,
  PARTNER,
  pageRequest,
  readResponse,
  startEndpoint,
} from './endpoint-fixture.ts';

const refusedBy = (status: number, code?: string): Rule => ({
  path: '*',
  status,
  json: code === undefined ? 'marker-1' : { error: { code, message: 'marker-1' } },
});

describe('an environment token that the builder rejects', () => {
  for (const [status, code] of [
    [401, 'token-invalid'],
    [401, 'tenant-suspended'],
    [401, undefined],
    [403, 'forbidden'],
    [403, undefined],
  ] as const) {
    test(`with ${status} ${code} is answered with one 502 that no element retries, and one line to onError`, async () => {
      await using at = await startEndpoint({}, refusedBy(status, code));
      const response = await at.sendRequest();
      assert.deepEqual([response.status, response.code], [502, 'upstream-refused']);
      // No version of the elements waits longer than 30 s.
      assert.equal(response.headers.get('retry-after'), '60');
      assert.equal((await at.builderRequests()).length, 1);
      assert.equal(at.errors.length, 1);
      const logged = format('failed:', at.errors[0]);
      assert.equal(logged.split('\n').length, 1, logged);
      assert.match(
        logged,
        new RegExp(`refused the environment token \\(${status}${code ? ` ${code}` : ''}\\)`),
      );
      const all = inspect([at.errors, response.body, ...response.headers], { depth: null, showHidden: true });
      assert.ok(!all.includes(ENVIRONMENT_TOKEN) && !all.includes('marker-1'), all);
    });
  }

  test('because of its scopes is told apart from one that has ended', async () => {
    await using at = await startEndpoint({}, refusedBy(403, 'not-permitted'));
    assert.equal((await at.sendRequest()).code, 'upstream-refused');
    assert.match(String(at.errors[0]), /may not give this editor token \(403 not-permitted\): its scopes/);
  });

  test('is not meant by the status of an error of the function that gives it', async () => {
    const denied = { status: 403, message: 'permission denied on secret/prod' };
    const access = new AccessClient({
      builderUrl: 'https://builder.example.com',
      environmentToken: () => Promise.reject(denied),
    });
    await using at = await startEndpoint({ access });
    assert.equal((await at.sendRequest()).code, 'upstream-failed');
    assert.equal((at.errors[0] as Error).cause, denied);
  });

  test('is one line on the console without onError', async (t) => {
    const log = t.mock.method(console, 'error', () => undefined);
    await using at = await startEndpoint({}, refusedBy(401, 'token-invalid'));
    const endpoint = createTokenEndpoint({ access: at.access, authorize: () => IDENT });
    await endpoint(pageRequest());
    const lines = log.mock.calls.map(({ arguments: parameters }) => format(...parameters));
    assert.equal(lines.length, 1);
    assert.doesNotMatch(lines[0] ?? '', /\n/);
  });

  test('is recognised with any client, by the status of its error', async () => {
    const error = Object.assign(new Error('marker-1'), { status: 401, code: 7 });
    await using at = await startEndpoint({ access: { getEditorToken: () => Promise.reject(error) } });
    assert.equal((await at.sendRequest()).code, 'upstream-refused');
    assert.doesNotMatch(String(at.errors[0]), /marker-1|7\)/);
  });

  test('tells a page of an allowed origin how long to wait', async () => {
    await using at = await startEndpoint({ allowedOrigins: [PARTNER] }, refusedBy(401));
    const response = await at.sendRequest(undefined, { origin: PARTNER, 'sec-fetch-site': 'cross-site' });
    assert.equal(response.headers.get('access-control-allow-origin'), PARTNER);
    assert.match(response.headers.get('access-control-expose-headers') ?? '', /retry-after/);
  });
});

describe('a customer for whom the builder gives no tokens', () => {
  for (const code of ['tenant-suspended', 'tenant-deleted']) {
    test(`is answered with 403 and the code ${code}, which is no failure`, async () => {
      await using at = await startEndpoint({}, refusedBy(403, code));
      const response = await at.sendRequest();
      assert.deepEqual([response.status, response.code], [403, code]);
      assert.equal(response.headers.get('retry-after'), null);
      assert.equal(response.headers.get('cache-control'), 'no-store');
      assert.ok(!JSON.stringify(response.body).includes('marker-1'));
      assert.deepEqual(at.errors, []);
    });
  }

  test('is not recognised by the status of another error', async () => {
    await using at = await startEndpoint({}, { ...refusedBy(404, 'tenant-deleted') });
    assert.equal((await readResponse(await at.endpoint(pageRequest()))).code, 'upstream-failed');
  });
});
