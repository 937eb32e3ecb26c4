import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { inspect } from 'node:util';
import { BuilderClient, type BuilderClientOptions, type HttpError } from '../../../src/client.ts';
import type { Rule } from '../../support/scripted-server-rules.ts';
import { startScriptedServer } from '../../support/scripted-server-node.ts';
import { PLUGIN, RUN, SESSION, SOURCE, VERSION } from './records.ts';

const TENANT = { environment: 'com.acme', userID: 'customer-7' };
const LOCATION = { ...TENANT, pluginName: 'add-record' };
const PATH = 'com.acme.customer-7/default/add-record';
const TOKEN = 'editor-token-77';

async function start(options: Partial<BuilderClientOptions>, ...rules: Omit<Rule, 'path'>[]) {
  const server = await startScriptedServer(...rules.map((rule) => ({ path: '*', ...rule })));
  const client = new BuilderClient({ baseUrl: server.url(), token: TOKEN, ...options });
  return { server, client, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

type Call = (client: BuilderClient, options?: { signal: AbortSignal }) => Promise<unknown>;

/** Each operation: its call, the request that this sends, and the response. */
const OPERATIONS: [name: string, call: Call, sent: string, data: object | undefined][] = [
  [
    'listPlugins',
    (c, o) => c.listPlugins(TENANT, o),
    'GET /api/v1/tenant/com.acme.customer-7/plugins',
    { plugins: [PLUGIN], next: 'c1' },
  ],
  [
    'listPlugins with a filter',
    (c, o) => c.listPlugins(TENANT, { namespace: 'a b', limit: 2, after: 'c=1', ...o }),
    'GET /api/v1/tenant/com.acme.customer-7/plugins?namespace=a+b&limit=2&after=c%3D1',
    { plugins: [] },
  ],
  [
    'getPlugin',
    (c, o) => c.getPlugin(LOCATION, o),
    `GET /api/v1/plugin/${PATH}`,
    { ...PLUGIN, draft: null, pinned: null, live: null, latest: null },
  ],
  [
    'listVersions',
    (c, o) => c.listVersions(LOCATION, { limit: 1, ...o }),
    `GET /api/v1/plugin/${PATH}/versions?limit=1`,
    { versions: [VERSION] },
  ],
  [
    'getVersion',
    (c, o) => c.getVersion(LOCATION, 'v1.0.0', o),
    `GET /api/v1/plugin/${PATH}/versions/v1.0.0`,
    { ...VERSION, contents: 'x', tests: [{ expected: '1' }] },
  ],
  [
    'setLive',
    (c, o) => c.setLive(LOCATION, 'v1.0.0', o),
    `PUT /api/v1/plugin/${PATH}/live {"version":"v1.0.0"}`,
    PLUGIN,
  ],
  [
    'setLive to the newest',
    (c, o) => c.setLive(LOCATION, null, o),
    `PUT /api/v1/plugin/${PATH}/live {"version":null}`,
    PLUGIN,
  ],
  [
    'listRuns',
    (c, o) => c.listRuns(LOCATION, { version: 'v1.0.0', success: false, ...o }),
    `GET /api/v1/plugin/${PATH}/runs?version=v1.0.0&success=false`,
    { runs: [RUN], next: 'c2' },
  ],
  ['getRun', (c, o) => c.getRun('0193-7a', o), 'GET /api/v1/run/0193-7a', RUN],
  [
    'getTypes',
    (c, o) => c.getTypes(LOCATION, o),
    `GET /api/v1/types/${PATH}`,
    { declarations: 'type Input = 1', input: {} },
  ],
  ['getSession', (c, o) => c.getSession(o), 'GET /api/v1/session', SESSION],
  ['endSession', (c, o) => c.endSession(o), 'DELETE /api/v1/session', undefined],
  [
    'build',
    (c, o) => c.build({ ...LOCATION, language: 'javascript' }, 'söurce', o),
    `POST /api/v1/build/javascript/${PATH} söurce`,
    {
      succeeded: false,
      outputLog: 'no',
      diagnostics: [{ line: 1, column: 2, message: 'm', severity: 'error' }],
    },
  ],
  [
    'test',
    (c, o) => c.test(LOCATION, 'ä', o),
    `POST /api/v1/test/${PATH} ä`,
    { result: 'A', took: 0.5, logs: ['l'] },
  ],
  [
    'deploy',
    (c, o) => c.deploy(LOCATION, o),
    `POST /api/v1/draft/${PATH}/promote`,
    { version: 'v1.0.0', live: 'v1.0.0' },
  ],
  [
    'deploy with a message',
    (c, o) => c.deploy(LOCATION, { message: 'first', ...o }),
    `POST /api/v1/draft/${PATH}/promote {"message":"first"}`,
    { version: 'v1.0.0', unchanged: true, live: null },
  ],
];

describe('BuilderClient', () => {
  for (const [name, call, sent, data] of OPERATIONS) {
    test(`${name} sends ${sent} with the editor token, and resolves with the unchanged response`, async () => {
      await using at = await start({}, data ? { json: data } : { status: 204 });
      assert.deepEqual(await call(at.client), data);
      const [request, ...more] = await at.server.requests(1);
      assert.equal(more.length, 0);
      const { method = '', path = '', search = '', body = '', headers = {} } = request ?? {};
      assert.equal(`${method} ${path}${search}${body && ` ${body}`}`, sent);
      assert.equal(headers['authorization'], `Bearer ${TOKEN}`);
      const type = body.startsWith('{') ? 'application/json' : body ? 'text/plain; charset=utf-8' : undefined;
      assert.equal(headers['content-type'], type);
    });

    test(`${name} rejects with the reason of an aborted signal, and requires a token`, async () => {
      await using at = await start({}, { json: {} });
      const reason = new Error('enough');
      await assert.rejects(call(at.client, { signal: AbortSignal.abort(reason) }), reason);
      await assert.rejects(
        call(new BuilderClient({ baseUrl: at.server.url() })),
        /^TypeError: token must be set/,
      );
      assert.deepEqual(await at.server.requests(), []);
    });
  }

  for (const [name, call, sent] of OPERATIONS) {
    const reads = sent.startsWith('GET');
    test(`${name} is ${reads ? '' : 'not '}retried by default`, async () => {
      await using at = await start({}, { status: 503, headers: { 'retry-after': '0' } });
      await assert.rejects(call(at.client), { name: 'HttpError', attempts: reads ? 3 : 1 });
      assert.equal((await at.server.requests()).length, reads ? 3 : 1);
    });
  }

  test('retries a save when `retry` is set', async () => {
    await using at = await start(
      { retry: 1 },
      { times: 1, status: 503, headers: { 'retry-after': '0' } },
      { json: SOURCE },
    );
    assert.deepEqual(await at.client.saveDraft(LOCATION, SOURCE), { source: SOURCE });
    assert.equal((await at.server.requests()).length, 2);
  });

  test('sends an empty payload, and resolves when the plugin fails', async () => {
    const failed = { error: { code: 'plugin-error', message: 'no price' }, logs: ['a'], took: 2 };
    await using at = await start({}, { json: failed });
    assert.deepEqual(await at.client.test(LOCATION, ''), failed);
    assert.equal((await at.server.requests(1))[0]?.headers['content-length'], '0');
  });

  for (const [name, call] of [
    ['source', (c, text) => c.build({ ...LOCATION, language: 'ts' }, text)],
    ['payload', (c, text) => c.test(LOCATION, text)],
  ] as [string, (client: BuilderClient, text: string) => Promise<unknown>][]) {
    for (const text of ['half \ud83d', { a: 1 }, undefined] as string[]) {
      test(`refuses ${inspect(text)} as ${name}, before any request`, async () => {
        await using at = await start({}, { json: {} });
        await assert.rejects(call(at.client, text), {
          name: 'TypeError',
          message: `${name} must be well-formed text`,
        });
        assert.deepEqual(await at.server.requests(), []);
      });
    }
  }

  for (const bad of ['', '.', '..', '\ud800', undefined, 7] as string[]) {
    for (const [field, call] of [
      ['version', (c) => c.getVersion(LOCATION, bad)],
      ['version', (c) => c.setLive(LOCATION, bad)],
      ['uuid', (c) => c.getRun(bad)],
      ['language', (c) => c.build({ ...LOCATION, language: bad }, '')],
      ['userID', (c) => c.listPlugins({ ...TENANT, userID: bad })],
      ['pluginName', (c) => c.deploy({ ...LOCATION, pluginName: bad })],
      ['pluginName', (c) => c.saveDraft({ ...LOCATION, pluginName: bad }, SOURCE)],
    ] as [string, (client: BuilderClient) => Promise<unknown>][]) {
      test(`refuses ${inspect(bad)} as ${field} in ${call.toString().slice(7, 21)}…, before any request`, async () => {
        await using at = await start({}, { json: {} });
        await assert.rejects(call(at.client), {
          name: 'TypeError',
          message: new RegExp(`^${field} must be`),
        });
        assert.deepEqual(await at.server.requests(), []);
      });
    }
  }
});

describe('drafts', () => {
  test('are read with their ETag, if they have one', async () => {
    await using at = await start({}, { times: 1, json: SOURCE, headers: { etag: '"e1"' } }, { json: SOURCE });
    assert.deepEqual(await at.client.readDraft(LOCATION), { source: SOURCE, etag: '"e1"' });
    assert.deepEqual(await at.client.readDraft(LOCATION), { source: SOURCE });
  });

  for (const [etag, header, value] of [
    [undefined, undefined, undefined],
    ['"e1"', 'if-match', '"e1"'],
    ['W/"e-1!"', 'if-match', 'W/"e-1!"'],
    [null, 'if-none-match', '*'],
  ] as const) {
    test(`are saved with the ETag ${etag} as ${header ?? 'an unconditional request'}`, async () => {
      await using at = await start({}, { json: SOURCE, headers: { etag: '"e2"' } });
      assert.deepEqual(await at.client.saveDraft(LOCATION, SOURCE, { etag }), {
        source: SOURCE,
        etag: '"e2"',
      });
      const [request] = await at.server.requests(1);
      assert.deepEqual(JSON.parse(request?.body ?? ''), SOURCE);
      const sent = ['if-match', 'if-none-match'].filter((name) => request?.headers[name] !== undefined);
      assert.deepEqual(sent, header ? [header] : []);
      if (header) assert.equal(request?.headers[header], value);
    });
  }

  for (const etag of ['', 'e1', '"e1', '*', '"a"b"', '"a", "b"', '"ä"', '"a\n"']) {
    test(`cannot be saved or deployed with ${JSON.stringify(etag)} as their ETag`, async () => {
      await using at = await start({}, { json: SOURCE });
      await assert.rejects(at.client.saveDraft(LOCATION, SOURCE, { etag }), /^TypeError: etag must be/);
      await assert.rejects(at.client.deploy(LOCATION, { etag }), /^TypeError: etag must be/);
      assert.deepEqual(await at.server.requests(), []);
    });
  }

  test('reject a save with status 412 and the code of the body when they have changed meanwhile', async () => {
    await using at = await start(
      {},
      { status: 412, json: { error: { code: 'precondition-failed', message: 'It has changed.' } } },
    );
    await assert.rejects(at.client.saveDraft(LOCATION, SOURCE, { etag: '"e1"' }), {
      name: 'HttpError',
      status: 412,
      code: 'precondition-failed',
    });
  });
});

describe('error responses', () => {
  const failing = async (rule: Omit<Rule, 'path'>, options: Partial<BuilderClientOptions> = {}) => {
    await using at = await start({ retry: 0, ...options }, rule);
    const error = await at.client.getFeatures().catch((thrown: unknown) => thrown);
    return error as HttpError;
  };

  test('give their code and path, but keep their message out of the error', async () => {
    const error = await failing({
      status: 422,
      json: { error: { code: 'invalid-record', path: '/tests/0', message: 'marker-1' } },
    });
    assert.deepEqual(
      [error.name, error.status, error.code, error.path],
      ['HttpError', 422, 'invalid-record', '/tests/0'],
    );
    assert.doesNotMatch(inspect(error, { showHidden: true }), /marker-1/);
    assert.match(error.message, /^GET http.*\/api\/v1\/features answered 422$/);
  });

  for (const [name, rule] of [
    ['is not JSON', { html: '<p>marker-1' }],
    ['is JSON in another shape', { json: ['marker-1'] }],
    ['is null', { json: null }],
    ['is text', { json: 'marker-1' }],
    ['has text in place of its error', { json: { error: 'marker-1' } }],
    ['has other types', { json: { error: { code: 7, path: ['marker-1'] } } }],
    ['has control characters', { json: { error: { code: 'marker-1\n', path: '/\u0000marker-1' } } }],
    [
      'has texts that are too long',
      { json: { error: { code: 'marker-1'.repeat(200), path: `/${'a'.repeat(2000)}` } } },
    ],
    ['is too large', { bodyRepeat: { text: '{"error":{"code":"marker-1"}}        ', times: 3000 } }],
    ['has the token', { json: { error: { code: `x-${TOKEN}`, path: `/${TOKEN}` } } }],
    ['breaks off', { drop: 'midway', json: { error: { code: 'marker-1' } } }],
    ['is empty', { body: '' }],
  ] as [string, Omit<Rule, 'path'>][]) {
    test(`keep the status, but no text, when the body ${name}`, async () => {
      const error = await failing({ status: 404, ...rule });
      assert.deepEqual(
        [error.name, error.status, error.code, error.path],
        ['HttpError', 404, undefined, undefined],
      );
      assert.doesNotMatch(inspect(error, { showHidden: true, depth: null }), /marker-1/);
    });
  }

  test('do not wait for a body that never ends', { timeout: 60_000 }, async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const pull = () => {
      // The time limit of the body has passed, but not that of the request.
      t.mock.timers.tick(5000);
      return new Promise<void>(() => undefined);
    };
    // With a high-water mark of 0, `pull` is not called before the body is read.
    const body = new ReadableStream({ pull }, { highWaterMark: 0 });
    const client = new BuilderClient({
      baseUrl: 'http://127.0.0.1',
      retry: 0,
      fetch: () => Promise.resolve(new Response(body, { status: 404 })),
    });
    await assert.rejects(client.getFeatures(), { name: 'HttpError', status: 404 });
  });
});
