import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { inspect } from 'node:util';
import {
  BuilderClient,
  type BuilderClientOptions,
  type BusyOptions,
  type HttpError,
  NetworkError,
} from '../../../src/client.ts';
import type { Rule } from '../../support/scripted-server-rules.ts';
import { startScriptedServer } from '../../support/scripted-server-node.ts';
import { PATH, type Operation, pluginOperations } from './plugin-operations.ts';
import { PLUGIN, SOURCE } from './records.ts';
import { testTimeouts } from './time-outs.ts';

const TENANT = { environment: 'com.acme', userID: 'customer-7' };
const LOCATION = { ...TENANT, pluginName: 'add-record' };
const TOKEN = 'editor-token-77';
const HELP = {
  contents: 'x',
  request: { method: 'textDocument/hover', params: { position: { line: 0, character: 1 } } },
};

async function start(options: Partial<BuilderClientOptions>, ...rules: Omit<Rule, 'path'>[]) {
  const server = await startScriptedServer(...rules.map((rule) => ({ path: '*', ...rule })));
  const client = new BuilderClient({ baseUrl: server.url(), token: TOKEN, ...options });
  return { server, client, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

const OPERATIONS: Operation<BuilderClient>[] = [
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
  ['endSession', (c, o) => c.endSession(o), 'DELETE /api/v1/session', undefined],
  ...pluginOperations(LOCATION),
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
    'checkSource',
    (c, o) => c.checkSource({ ...LOCATION, language: 'javascript' }, 'söurce', o),
    `POST /api/v1/check/javascript/${PATH} söurce`,
    { diagnostics: [{ line: 1, column: 2, message: 'm', severity: 'warning', more: 1 }] },
  ],
  [
    'helpWithSource',
    (c, o) => c.helpWithSource({ ...LOCATION, language: 'javascript' }, HELP, o),
    `POST /api/v1/language-help/javascript/${PATH} ${JSON.stringify(HELP)}`,
    { result: [{ label: 'log' }] },
  ],
  [
    'getProgress',
    (c, o) => c.getProgress(LOCATION, o),
    `GET /api/v1/progress/${PATH}`,
    { built: true, deployed: { version: 'v1.0.0', current: false } },
  ],
  [
    'test',
    (c, o) => c.test(LOCATION, 'ä', o),
    `POST /api/v1/test/${PATH} ä`,
    { result: 'A', took: 0.5, logs: ['l'] },
  ],
  [
    'test with responses to calls',
    (c, o) => c.test(LOCATION, 'ä', { calls: [{ url: 'https://a.example/*', response: { body: 1 } }], ...o }),
    `POST /api/v1/test/${PATH} {"payload":"ä","calls":[{"url":"https://a.example/*","response":{"body":1}}]}`,
    { result: 'A', calls: [] },
  ],
  [
    'test with real calls',
    (c, o) => c.test(LOCATION, 'ä', { real: true, calls: [], ...o }),
    `POST /api/v1/test/${PATH}?calls=real ä`,
    { result: 'A' },
  ],
  [
    'testSource',
    (c, o) => c.testSource({ ...LOCATION, language: 'javascript' }, 'söurce', 'ä', o),
    `POST /api/v1/test/javascript/${PATH} {"contents":"söurce","payload":"ä"}`,
    { result: 'A' },
  ],
  [
    'deploy',
    (c, o) => c.deploy(LOCATION, o),
    `POST /api/v1/draft/${PATH}/promote`,
    { version: 'v1.0.0', live: 'v1.0.0' },
  ],
  [
    'deploy with a rollout',
    (c, o) => c.deploy(LOCATION, { rollout: { percent: 10 }, ...o }),
    `POST /api/v1/draft/${PATH}/promote {"rollout":{"percent":10}}`,
    { version: 'v1.0.1', live: 'v1.0.0' },
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
      const json = body.includes('"calls"') ? 'vnd.plugin-editor.test+json' : 'json';
      const text = body ? 'text/plain; charset=utf-8' : undefined;
      const type = body.startsWith('{') ? `application/${json}` : text;
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

  testTimeouts(
    (options) => new BuilderClient({ baseUrl: 'http://127.0.0.1', token: TOKEN, ...options }),
    [
      ['build', (c) => c.build({ ...LOCATION, language: 'ts' }, ''), 60_000],
      ['checkSource', (c) => c.checkSource({ ...LOCATION, language: 'ts' }, ''), 30_000],
      ['test', (c) => c.test(LOCATION, ''), 30_000],
      ['testSource', (c) => c.testSource({ ...LOCATION, language: 'ts' }, '', ''), 30_000],
      ['deploy', (c) => c.deploy(LOCATION), 30_000],
      ['saveDraft', (c) => c.saveDraft(LOCATION, SOURCE), 15_000],
    ],
  );

  for (const [name, call] of [
    ['build', (c, o) => c.build({ ...LOCATION, language: 'ts' }, '', o)],
    ['test', (c, o) => c.test(LOCATION, '', o)],
    ['deploy', (c, o) => c.deploy(LOCATION, o)],
  ] as [string, (client: BuilderClient, options: BusyOptions) => Promise<unknown>][]) {
    test(`${name} waits for a busy service up to 5 times where onBusy is set`, async () => {
      const wait = { headers: { 'retry-after': '0' } };
      const done = { json: { succeeded: true, outputLog: '', version: 'v1.0.0' } };
      await using at = await start(
        {},
        { times: 3, status: 503, ...wait },
        { times: 2, status: 429, ...wait },
        done,
      );
      const waits: number[] = [];
      const onBusy = (ms: number) => void waits.push(ms);
      await call(at.client, { onBusy });
      assert.deepEqual(waits, [0, 0, 0, 0, 0]);
      await at.server.reset({ path: '*', status: 503, ...wait });
      await assert.rejects(call(at.client, { onBusy }), { status: 503, attempts: 6 });
    });

    test(`${name} is not sent again after any other failure, onBusy or not`, async () => {
      for (const rule of [
        { status: 500 },
        { drop: 'start' },
        { status: 503, headers: { 'retry-after': '31' } },
      ]) {
        await using at = await start({}, rule as Omit<Rule, 'path'>);
        const onBusy = () => assert.fail('it is not waited for');
        await assert.rejects(call(at.client, { onBusy }), { attempts: 1 });
        assert.equal((await at.server.requests()).length, 1);
      }
    });
  }

  test('stops waiting for a busy service when the signal aborts', async () => {
    await using at = await start({}, { status: 503, headers: { 'retry-after': '25' } });
    const abort = new AbortController();
    const onBusy = () => queueMicrotask(() => abort.abort(new Error('enough')));
    await assert.rejects(at.client.test(LOCATION, '', { onBusy, signal: abort.signal }), {
      message: 'enough',
    });
    assert.equal((await at.server.requests()).length, 1);
  });

  test('saves by a request that outlives its page where that is asked for and the body is small enough', async () => {
    const sent: unknown[] = [];
    const client = new BuilderClient({
      baseUrl: 'http://127.0.0.1',
      token: TOKEN,
      fetch: (_, init) => {
        sent.push(init?.keepalive);
        return Promise.resolve(Response.json(SOURCE));
      },
    });
    await client.saveDraft(LOCATION, SOURCE);
    await client.saveDraft(LOCATION, SOURCE, { keepalive: true });
    await client.saveDraft(LOCATION, { ...SOURCE, contents: 'ä'.repeat(30_000) }, { keepalive: true });
    assert.deepEqual(sent, [undefined, true, undefined]);
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

    test(`are built with the ETag ${etag} as ${header ?? 'an unconditional request'}, and have another one then`, async () => {
      const result = { succeeded: true, outputLog: '' };
      await using at = await start({}, { json: result, headers: { etag: '"e2"' } });
      const location = { ...LOCATION, language: 'ts' };
      assert.deepEqual(await at.client.build(location, 'x', { etag }), { ...result, etag: '"e2"' });
      const [request] = await at.server.requests(1);
      if (header) assert.equal(request?.headers[header], value);
      else assert.ok(!request?.headers['if-match'] && !request?.headers['if-none-match']);
    });
  }

  for (const etag of ['', 'e1', '"e1', '*', '"a"b"', '"a", "b"', '"ä"', '"a\n"']) {
    test(`cannot be saved or deployed with ${JSON.stringify(etag)} as their ETag`, async () => {
      await using at = await start({}, { json: SOURCE });
      await assert.rejects(at.client.saveDraft(LOCATION, SOURCE, { etag }), /^TypeError: etag must be/);
      await assert.rejects(at.client.deploy(LOCATION, { etag }), /^TypeError: etag must be/);
      const building = at.client.build({ ...LOCATION, language: 'ts' }, '', { etag });
      await assert.rejects(building, /^TypeError: etag must be/);
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

describe('replay', () => {
  for (const mine of [new Error('the page is gone'), new NetworkError('mine', new Error('no answer'))]) {
    test(`rejects with the ${mine.name} that onResult throws, and is sent once, whatever retry says`, async () => {
      const result = { uuid: 'u', same: true, before: { output: 'A' }, after: { output: 'A', took: 1 } };
      const body = `event: result\ndata: ${JSON.stringify(result)}\n\n`;
      await using at = await start({ retry: 2 }, { headers: { 'content-type': 'text/event-stream' }, body });
      const replayed = at.client.replay(LOCATION, {
        onResult: () => {
          throw mine;
        },
      });
      await assert.rejects(replayed, (error) => error === mine);
      assert.equal((await at.server.requests()).length, 1);
    });
  }

  test('says of a result in another shape how often it was sent', async () => {
    const headers = { 'content-type': 'text/event-stream', 'retry-after': '0' };
    const body = 'event: result\ndata: {"uuid":7}\n\n';
    await using at = await start({ retry: 1 }, { status: 503, times: 1, headers }, { headers, body });
    await assert.rejects(at.client.replay(LOCATION, { onResult: () => assert.fail('it is no result') }), {
      name: 'SchemaError',
      attempts: 2,
    });
  });
});

describe('error responses', () => {
  const failing = async (rule: Omit<Rule, 'path'>, options: Partial<BuilderClientOptions> = {}) => {
    await using at = await start({ retry: 0, ...options }, rule);
    const error = await at.client.getFeatures().catch((thrown: unknown) => thrown);
    return error as HttpError;
  };

  test('give their code, path, detail and request id, and leave the detail out of the message', async () => {
    const error = await failing({
      status: 422,
      headers: { 'x-request-id': 'id-1' },
      json: {
        error: { code: 'invalid-record', path: '/tests/0', message: 'It must be\ntext.', requestId: 'id-2' },
      },
    });
    assert.deepEqual(
      [error.name, error.status, error.code, error.path, error.detail, error.requestId],
      ['HttpError', 422, 'invalid-record', '/tests/0', 'It must be text.', 'id-1'],
    );
    assert.match(error.message, /^GET http.*\/api\/v1\/features answered 422$/);
  });

  test('give the request id of the body where no header has one, each only if it is one', async () => {
    const body = { error: { requestId: '0193-7a' } };
    assert.equal((await failing({ status: 400, json: body })).requestId, '0193-7a');
    const odd = { status: 400, headers: { 'x-request-id': 'a b' }, json: body };
    assert.equal((await failing(odd)).requestId, undefined);
  });

  for (const [name, message, detail] of [
    ['control and bidirectional characters', 'a\u0000\r\n\u001b[2Jb\u202ec', 'a [2Jb c'],
    ['half a character', 'a\ud800', 'a\ufffd'],
    ['the token', `no ${TOKEN} here`, 'no … here'],
    ['more than 1,000 characters', 'x'.repeat(2000), `${'x'.repeat(999)}…`],
    ['1,000 characters', 'x'.repeat(1000), 'x'.repeat(1000)],
    ['another type', 7, undefined],
    ['no text', '', undefined],
  ] as [string, unknown, string | undefined][]) {
    test(`give ${name} in a message as ${inspect(detail, { maxStringLength: 20 })}`, async () => {
      assert.equal((await failing({ status: 400, json: { error: { message } } })).detail, detail);
    });
  }

  test('have no token in them when they end a replay', async () => {
    const event = { status: 503, error: { code: 'cancelled', message: `no ${TOKEN} here` } };
    const body = `event: error\ndata: ${JSON.stringify(event)}\n\n`;
    await using at = await start({}, { headers: { 'content-type': 'text/event-stream' }, body });
    await assert.rejects(at.client.replay(LOCATION), {
      name: 'HttpError',
      code: 'cancelled',
      detail: 'no … here',
    });
  });

  for (const [name, rule] of [
    ['is not JSON', { html: '<p>marker-1' }],
    ['is JSON in another shape', { json: ['marker-1'] }],
    ['is null', { json: null }],
    ['is text', { json: 'marker-1' }],
    ['has text instead of its error', { json: { error: 'marker-1' } }],
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
