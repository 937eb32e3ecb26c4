import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { AccessClient } from '../../src/server/access-client.ts';
import type { PluginTarget } from '../../src/server/plugin-target.ts';
import { createTokenEndpoint } from '../../src/server/token-endpoint.ts';
import type { Rule } from '../support/scripted-server-rules.ts';
import {
  ENVIRONMENT_TOKEN,
  FIELDS,
  IDENT,
  pageRequest,
  readResponse,
  startEndpoint,
} from './endpoint-fixture.ts';

describe('the response', () => {
  test('is the token, as JSON that no cache stores', async () => {
    await using at = await startEndpoint();
    const { status, headers, body } = await at.sendRequest();
    assert.equal(status, 200);
    assert.deepEqual(body, { token: 'editor-1' });
    assert.equal(headers.get('content-type'), 'application/json');
    assert.equal(headers.get('cache-control'), 'no-store');
    assert.equal(headers.get('x-content-type-options'), 'nosniff');
    const [request] = await at.builderRequests();
    assert.equal(request?.path, `/auth/v2/access/${IDENT}/default/add-record`);
  });

  for (const [token, expected] of [
    [{ expires_in: 900 }, { expires_in: 900 }],
    [{ expires_in: 0.5 }, { expires_in: 0.5 }],
    [{ expires_in: 0 }, {}],
    [{ expires_in: -1 }, {}],
    [{ expires_in: '900' }, {}],
    [{ expires_in: null }, {}],
    [{ expires_at: 1_800_000_000 }, { expires_at: 1_800_000_000 }],
    [{ expires_at: -5 }, {}],
    [{ expires_at: '2031-01-02T03:04:05Z' }, { expires_at: '2031-01-02T03:04:05Z' }],
    [{ expires_at: '2031-01-02T03:04:05.678+02:00' }, { expires_at: '2031-01-02T03:04:05.678+02:00' }],
    [{ expires_at: '2031-01-02' }, { expires_at: '2031-01-02' }],
    [{ expires_at: '2031-01-02 (a secret)' }, {}],
    [{ expires_at: '2031-13-02T03:04:05Z' }, {}],
    [{ expires_at: 'soon' }, {}],
    [{ expires_at: { secret: 1 } }, {}],
    [
      { expires_in: 900, expires_at: 1_800_000_000 },
      { expires_in: 900, expires_at: 1_800_000_000 },
    ],
    [{ refresh_token: 'r', scope: 's', environment: 'com.acme', Token: 't' }, {}],
  ] as const) {
    test(`holds ${JSON.stringify(expected)} of ${JSON.stringify(token)}, and nothing else`, async () => {
      await using at = await startEndpoint({}, { path: '*', json: { token: 'editor-1', ...token } });
      assert.deepEqual((await at.sendRequest()).body, { token: 'editor-1', ...expected });
    });
  }
});

describe('a failure of the builder', () => {
  for (const [rule, status, name] of [
    [{ status: 400 }, 502, 'HttpError'],
    [{ status: 404 }, 502, 'HttpError'],
    [{ status: 429, headers: { 'x-marker': 'marker-1' } }, 502, 'HttpError'],
    [{ status: 500 }, 502, 'HttpError'],
    [{ status: 504 }, 502, 'HttpError'],
    [{ redirect: '/marker-1' }, 502, 'HttpError'],
    [{ drop: 'start' }, 502, 'NetworkError'],
    [{ drop: 'midway', json: { token: 'marker-1' } }, 502, 'NetworkError'],
    [{ html: '<p>marker-1' }, 502, 'SchemaError'],
    [{ json: { token: '' } }, 502, 'SchemaError'],
    [{ json: { tokens: 'marker-1' } }, 502, 'SchemaError'],
    [{ json: ['marker-1'] }, 502, 'SchemaError'],
    [{ json: { token: ENVIRONMENT_TOKEN } }, 502, 'SchemaError'],
  ] satisfies [Omit<Rule, 'path'>, number, string][]) {
    test(`with ${JSON.stringify(rule)} is answered with ${status}, and onError gets a ${name}`, async () => {
      await using at = await startEndpoint({}, { path: '/auth/*', ...rule });
      const response = await at.sendRequest();
      assert.equal(response.status, status);
      assert.equal(response.code, 'upstream-failed');
      const content = JSON.stringify([...response.headers, response.body]);
      assert.ok(!content.includes('marker-1') && !content.includes(new URL(at.builder.origin).port), content);
      assert.deepEqual(
        at.errors.map((error) => (error as Error).name),
        [name],
      );
      assert.equal(response.headers.get('cache-control'), 'no-store');
    });
  }

  test('by timeout is answered with 504', async () => {
    await using at = await startEndpoint({}, { path: '*', delay: 'hang' });
    const access = new AccessClient({
      builderUrl: at.builder.url(),
      environmentToken: ENVIRONMENT_TOKEN,
      timeout: 50,
    });
    const errors: unknown[] = [];
    const onError = (error: unknown) => void errors.push(error);
    const endpoint = createTokenEndpoint({ access, authorize: () => IDENT, onError });
    const response = await readResponse(await endpoint(pageRequest()));
    assert.equal(response.status, 504);
    assert.equal(response.code, 'upstream-timeout');
    assert.equal((errors[0] as Error).name, 'TimeoutError');
  });

  for (const [name, thrown, status] of [
    ['an error of its own', new Error('detail'), 502],
    ['a TimeoutError of the platform', new DOMException('late', 'TimeoutError'), 504],
    ['nothing', undefined, 502],
    ['text', 'detail', 502],
  ] as const) {
    test(`from a client that rejects with ${name} is answered with ${status}`, async () => {
      await using at = await startEndpoint({
        access: { getEditorToken: () => Promise.reject(thrown) },
      });
      const response = await at.sendRequest();
      assert.equal(response.status, status);
      assert.doesNotMatch(response.message, /detail/);
      assert.equal(at.errors.length, 1);
      if (thrown !== undefined) assert.equal(at.errors[0], thrown);
    });
  }
});

describe('access', () => {
  test('may be a function of context and target', async () => {
    const seen: unknown[] = [];
    await using at = await startEndpoint();
    const endpoint = createTokenEndpoint<{ builder: string }>({
      authorize: () => IDENT,
      access: ({ builder }, target) => {
        seen.push(builder, target.ident);
        return Promise.resolve(at.access);
      },
    });
    const response = await endpoint(pageRequest(), { builder: 'b1' });
    assert.deepEqual(await response.json(), { token: 'editor-1' });
    assert.deepEqual(seen, ['b1', IDENT]);
  });

  for (const [name, access] of [
    [
      'throws',
      () => {
        throw new Error('detail');
      },
    ],
    ['gives no client', () => undefined],
  ] as const) {
    test(`that ${name} leads to status 500, and onError is called`, async () => {
      await using at = await startEndpoint({ access: access as never });
      const response = await at.sendRequest();
      assert.equal(response.status, 500);
      assert.doesNotMatch(response.message, /detail/);
      assert.match((at.errors[0] as Error).message, /detail|access must give an AccessClient/);
    });
  }
});

describe('ext', () => {
  test('sets the third segment', async () => {
    const targets: PluginTarget[] = [];
    await using at = await startEndpoint({
      ext: (target) => {
        targets.push(target);
        return Promise.resolve(`${target.fn}.editor/1`);
      },
    });
    await at.sendRequest();
    assert.equal(targets[0]?.fn, FIELDS.fn);
    assert.equal(
      (await at.builderRequests())[0]?.path,
      `/auth/v2/access/${IDENT}/default/add-record.editor%2F1`,
    );
  });

  for (const bad of ['', '..', undefined, 7]) {
    test(`that returns ${bad === '' ? 'an empty text' : bad} leads to status 500 without a request, and onError is called`, async () => {
      await using at = await startEndpoint({ ext: () => bad as string });
      assert.equal((await at.sendRequest()).status, 500);
      assert.match((at.errors[0] as Error).message, /^ext must/);
      assert.deepEqual(await at.builderRequests(), []);
    });
  }
});

describe('onError', () => {
  test('is called with the error, the request and the context', async () => {
    const seen: unknown[] = [];
    await using at = await startEndpoint(
      { onError: (...parameters) => void seen.push(...parameters) },
      { path: '*', status: 500 },
    );
    const request = pageRequest();
    await at.endpoint(request, 'context');
    assert.equal((seen[0] as Error).name, 'HttpError');
    assert.equal(seen[1], request);
    assert.equal(seen[2], 'context');
  });

  for (const [name, onError] of [
    [
      'throws',
      () => {
        throw new Error('log is full');
      },
    ],
    ['rejects', () => Promise.reject(new Error('log is full'))],
    ['never ends', () => new Promise<void>(() => undefined)],
  ] as const) {
    test(`that ${name} does not change the response`, async () => {
      const unhandled: unknown[] = [];
      const listener = (error: unknown) => unhandled.push(error);
      process.on('unhandledRejection', listener);
      try {
        await using at = await startEndpoint({ onError }, { path: '*', status: 500 });
        assert.equal((await at.sendRequest()).status, 502);
        // Node reports an unhandled rejection after the microtasks, before the next timer or connection.
        await new Promise((resolve) => setImmediate(resolve));
        assert.deepEqual(unhandled, []);
      } finally {
        process.off('unhandledRejection', listener);
      }
    });
  }

  test('is console.error by default', async (t) => {
    const log = t.mock.method(console, 'error', () => undefined);
    const access = { getEditorToken: () => Promise.reject(new Error('builder is down')) };
    const endpoint = createTokenEndpoint({ access, authorize: () => IDENT });
    assert.equal((await endpoint(pageRequest())).status, 502);
    assert.equal(log.mock.callCount(), 1);
    assert.match(String(log.mock.calls[0]?.arguments[1]), /builder is down/);
  });
});

describe('a client that disconnects', () => {
  test('cancels the request to the builder, which is no failure', async () => {
    await using at = await startEndpoint({}, { path: '*', delay: 'hang' });
    const controller = new AbortController();
    const response = at.endpoint(pageRequest(FIELDS, {}, { signal: controller.signal }));
    await at.builder.requests(1);
    controller.abort();
    assert.equal((await response).status, 502);
    assert.equal((await at.builder.aborted()).length, 1);
    assert.deepEqual(at.errors, []);
  });
});
