import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, afterEach, test } from 'node:test';
import type { TestContext } from 'node:test';
import type { ServiceOptions } from '../../../service/src/http/create-service.ts';
import { listen } from '../../../service/src/http/listen.ts';
import { MockedCalls } from '../../../service/src/outbound/mocked-calls.ts';
import { RecordedCalls } from '../../../service/src/outbound/recorded-calls.ts';
import { Secrets } from '../../../service/src/outbound/secrets.ts';
import { isEndedFromOutside, runErrorCodes } from '../../../service/src/sandbox/outcome.ts';
import { eventually, until } from '../../support/until.ts';
import { startPlugin } from '../plugin.ts';
import { patientLimits, sharedToolProcesses } from '../tool-processes.ts';
import { secretsKey } from './connected-service.ts';
import { startUpstream } from './upstream.ts';
import type { Upstream } from './upstream.ts';

const upstream = await startUpstream();
const origin = `http://localhost:${upstream.port}`;
after(() => upstream[Symbol.asyncDispose]());
afterEach(() => upstream.reset());

const value = 'value-that-no-plugin-sees';
const rates = {
  name: 'rates',
  origin,
  pathPrefix: '/v1',
  methods: ['GET', 'POST'],
  credential: { type: 'header', header: 'x-key', prefix: 'key ' },
};

const asyncRun = (body: string) => `export async function run(input) {\n${body}\n}`;

/** A plugin of a namespace with a connection, which is built, deployed and asked by HTTP. */
async function start(
  t: TestContext,
  code: string,
  { record, ...options }: Partial<ServiceOptions> & { readonly record?: object } = {},
) {
  const plugin = await startPlugin(t, 't1', undefined, {
    secrets: { keys: [secretsKey] },
    outbound: { allow: [origin], timeout: 60_000 },
    runLimits: patientLimits,
    ...(!options.waiting && { toolProcesses: sharedToolProcesses() }),
    ...options,
  });
  const ask = async (method: string, path: string, body?: object) => {
    const headers = { ...plugin.vendor, 'content-type': 'application/json' };
    const response = await plugin.send(method, path, headers, body && JSON.stringify(body));
    assert.ok(response.status < 300, response.body);
  };
  const setNamespace = (more: object) =>
    ask('PUT', '/api/v1/environment/com.acme/namespaces/default', { ...record, ...more });
  await setNamespace({ connections: [rates] });
  await ask('PUT', '/api/v1/tenant/com.acme.t1/connections/default/rates', { value });
  const built = await plugin.build(code);
  assert.ok(built.succeeded, built.outputLog);
  const version = await plugin.deploy();
  return { ...plugin, ask, setNamespace, version, call: (input = '') => plugin.run(version, input) };
}

const errorOf = ({ body }: { readonly body: string }) =>
  (JSON.parse(body) as { error: { code: string; message: string } }).error;

const fetchText = `return (await fetch('${origin}/v1/' + input)).text();`;

interface TestAnswer {
  readonly result?: string;
  readonly error?: { readonly code: string; readonly message: string; readonly path?: string };
  readonly calls?: readonly {
    readonly connection: string;
    readonly url: string;
    readonly status?: number;
    readonly error?: string;
    readonly responseBody?: string;
  }[];
}

interface RecordedRun {
  readonly waited: number;
  readonly calls?: readonly { readonly took: number; readonly error?: string; readonly digest?: string }[];
}

interface Counts {
  readonly runs: number;
  readonly failures: number;
}

/** Holds the responses to all requests until they are let go. */
function hold(): { readonly held: Parameters<Upstream['handle']>[]; release: () => void } {
  const held: Parameters<Upstream['handle']>[] = [];
  upstream.handle = (...args) => void held.push(args);
  return {
    held,
    release: () => {
      for (const [{ url }, response] of held.splice(0)) response.end(`got ${url}`);
    },
  };
}

test('a plugin gets what its namespace grants, with a credential that it never sees', async (t) => {
  const { call } = await start(
    t,
    asyncRun(`const response = await fetch(${JSON.stringify(origin)} + '/v1/latest?of=' + input, {
      method: 'POST', headers: { 'x-key': 'mine', 'x-other': 'kept' }, body: 'asked',
    });
    return JSON.stringify([response.status, await response.text(), [...response.headers.keys()]]);`),
  );
  upstream.handle = (_, response) => response.writeHead(201, { 'x-a': 'b' }).end('rate 1.08');
  const { status, body } = await call('EUR');
  assert.equal(status, 200, body);
  const [code, text, headers] = JSON.parse(body) as [number, string, string[]];
  assert.deepEqual([code, text], [201, 'rate 1.08']);
  assert.ok(headers.includes('x-a'));
  const [asked] = upstream.requests;
  assert.deepEqual([asked?.method, asked?.url, asked?.body], ['POST', '/v1/latest?of=EUR', 'asked']);
  assert.equal(asked?.headers['x-key'], `key ${value}`);
  assert.equal(asked?.headers['x-other'], 'kept');
});

test('without connections there is no fetch', async (t) => {
  const { call, setNamespace } = await start(t, asyncRun('return typeof fetch + typeof setTimeout;'));
  assert.equal((await call()).body, 'functionfunction');
  await setNamespace({ connections: null });
  assert.equal((await call()).body, 'undefinedundefined');
});

test('a plugin with types calls, too', async (t) => {
  const { call } = await start(
    t,
    asyncRun(`return { rate: await (await fetch('${origin}/v1/' + input.of)).json() };`),
    {
      record: {
        input: { type: 'object', required: ['of'], properties: { of: { type: 'string' } } },
        output: { type: 'object', required: ['rate'], properties: { rate: { type: 'number' } } },
      },
    },
  );
  upstream.handle = (_, response) => response.end('1.08');
  assert.deepEqual(JSON.parse((await call('{"of":"EUR"}')).body), { rate: 1.08 });
  upstream.handle = (_, response) => response.end('"dear"');
  assert.equal(errorOf(await call('{"of":"EUR"}')).code, 'invalid-output');
});

test('the call ends when the client has gone', async (t) => {
  const { port, paths, vendor, version } = await start(t, asyncRun(fetchText));
  const { held } = hold();
  const client = request({
    host: '127.0.0.1',
    port,
    method: 'POST',
    path: paths.exec(version),
    headers: vendor,
  });
  client.on('error', () => {});
  client.end();
  await until('the call came', () => held.length === 1);
  const [, response] = held[0] ?? [];
  client.destroy();
  await until('the call was ended', () => response?.destroyed === true);
});

for (const [what, method, body] of [
  ['suspended', 'PATCH', { suspended: true }],
  ['deleted', 'DELETE', undefined],
] as const)
  test(`runs that wait end when their tenant is ${what}`, async (t) => {
    const { call, ask, send, vendor } = await start(t, asyncRun(fetchText));
    const { held } = hold();
    const ended = call();
    await until('the call came', () => held.length === 1);
    const [, upstreamResponse] = held[0] ?? [];
    await ask(method, '/api/v1/tenant/com.acme.t1', body);
    const response = await ended;
    assert.deepEqual([response.status, errorOf(response).code], [403, `tenant-${what}`]);
    await until('the call was ended', () => upstreamResponse?.destroyed === true);
    if (what === 'deleted') return;
    await until('its record has the call that it waited for', async () => {
      const path = `/api/v1/run/${String(response.headers['x-request-id'])}`;
      const record = await send('GET', path, vendor);
      if (record.status !== 200) return false;
      return (JSON.parse(record.body) as RecordedRun).calls?.[0]?.error === 'cancelled';
    });
  });

test('a run that its tenant’s end has ended counts for no rollout and for no plugin that fails', async (t) => {
  const { ask, run, build, paths, send, editor, vendor, storage } = await start(t, asyncRun(fetchText));
  // Runs count for a plugin's health where a webhook is told of it.
  const webhook = { url: `${origin}/hooks`, events: ['plugin.failing'] };
  await ask('POST', '/api/v1/environment/com.acme/webhooks', webhook);
  const built = await build(asyncRun(`${fetchText} // The next version.`));
  assert.ok(built.succeeded, built.outputLog);
  const json = { ...editor, 'content-type': 'application/json' };
  const rollout = JSON.stringify({ rollout: { percent: 50 } });
  assert.equal((await send('POST', paths.promote, json, rollout)).status, 200);
  const { held } = hold();
  const ended = Array.from({ length: 6 }, () => run('newest'));
  await until('all runs wait', () => held.length === ended.length);
  await ask('PATCH', '/api/v1/tenant/com.acme.t1', { suspended: true });
  for (const response of await Promise.all(ended)) assert.equal(errorOf(response).code, 'tenant-suspended');
  await ask('PATCH', '/api/v1/tenant/com.acme.t1', { suspended: false });
  upstream.handle = (_, response) => response.end('rate');
  assert.equal((await run('newest')).status, 200);
  // The counts are written in the order in which the runs ended, so this one is the last.
  const counts = async () => {
    const { body } = await send('GET', '/api/v1/plugin/com.acme.t1/default/add-record/rollout', vendor);
    const { runs, failures, live } = JSON.parse(body) as Counts & { live: Counts };
    const health = await storage.db.query.selectFrom('plugin_run_counts').selectAll().execute();
    return {
      rollout: [runs + live.runs, failures + live.failures],
      health: health.map((row) => [row.runs, row.failures]),
    };
  };
  const counted = await eventually(
    counts,
    ({ rollout: [runs], health }) => !!runs && health.length > 0,
    'the counts',
  );
  assert.deepEqual(counted, { rollout: [1, 0], health: [[1, 0]] });
});

test('the end of the client, of the service and of the tenant say nothing about a plugin', () => {
  assert.deepEqual(
    runErrorCodes.filter((code) => isEndedFromOutside({ code, message: '' })),
    ['cancelled', 'tenant-suspended', 'tenant-deleted'],
  );
});

/** The limits of runs that wait, and one of them that is less. */
const waiting = (less: object) => ({
  waiting: { time: 60_000, calls: 20, runs: 1000, memory: 64 * 2 ** 20, ...less },
});

test('a run ends that waits for longer than it may', async (t) => {
  const { call } = await start(t, asyncRun(fetchText), waiting({ time: 500 }));
  const { held } = hold();
  const response = await call();
  assert.deepEqual([response.status, errorOf(response).code], [504, 'wait-limit']);
  await until('the call was ended', () => held.every(([, { destroyed }]) => destroyed));
});

test('a run that may make calls takes a place, else it does not begin', async (t) => {
  const { call } = await start(t, asyncRun(fetchText), waiting({ runs: 4 }));
  const { held, release } = hold();
  const first = call();
  await until('the first waits', () => held.length === 1);
  const refused = await call();
  assert.deepEqual([refused.status, errorOf(refused).code], [503, 'busy']);
  assert.ok(refused.headers['retry-after']);
  release();
  assert.equal((await first).status, 200);
});

test('draining waits for runs that wait, and then ends them with an answer', async (t) => {
  const { service, port, paths, vendor, version } = await start(t, asyncRun(fetchText));
  const { held } = hold();
  const draining = await listen(service, 0, 'SERVICE_PORT', { host: '127.0.0.1' });
  const answered = new Promise<number | undefined>((resolve, reject) => {
    const headers = { ...vendor, host: `127.0.0.1:${port}` };
    const options = { host: '127.0.0.1', port: draining.port, method: 'POST', path: paths.exec(version) };
    const asked = request({ ...options, headers, agent: false }, ({ statusCode }) => resolve(statusCode));
    asked.on('error', reject).end();
  });
  await until('the call came', () => held.length === 1);
  await draining.drain(0, 500, service.cancelWaiting);
  assert.equal(await answered, 503);
});

for (const level of ['outcome', 'logs', 'payloads'] as const)
  test(`the record of a run has its calls, at the level ${level}`, async (t) => {
    const { call, send, vendor } = await start(
      t,
      asyncRun(`await fetch('${origin}/v1/a?secret=1', { method: 'POST', body: input });
        await fetch('${origin}/v2').catch(() => {}); return 'done';`),
      { recording: { level } },
    );
    upstream.handle = (_, response) =>
      response.writeHead(201, { 'content-type': 'text/plain' }).end('é'.repeat(9000));
    const { headers } = await call('asked');
    const read = async (path: string) => {
      let body = '';
      await until('the run is recorded', async () => {
        const response = await send('GET', path, vendor);
        body = response.body;
        return response.status === 200 && body.includes('"waited"');
      });
      return JSON.parse(body) as RecordedRun;
    };
    const one = await read(`/api/v1/run/${String(headers['x-request-id'])}`);
    const [listed] = (
      (await read('/api/v1/plugin/com.acme.t1/default/add-record/runs')) as unknown as {
        runs: RecordedRun[];
      }
    ).runs;
    assert.ok(one.waited > 0);
    assert.equal(listed?.waited, one.waited);
    const outline = (run: RecordedRun | undefined) =>
      run?.calls?.map(({ took: _took, digest: _digest, ...rest }) => rest);
    const plain = [
      {
        connection: 'rates',
        method: 'POST',
        url: `${origin}/v1/a`,
        status: 201,
        requestBytes: 5,
        responseBytes: 18_000,
      },
      {
        connection: '',
        method: 'GET',
        url: `${origin}/v2`,
        error: 'not-granted',
        requestBytes: 0,
        responseBytes: 0,
      },
    ];
    assert.deepEqual(outline(listed), level === 'outcome' ? undefined : plain);
    if (level !== 'payloads') return assert.deepEqual(one.calls, listed?.calls);
    assert.deepEqual(outline(one), [
      {
        ...plain[0],
        requestType: 'text/plain;charset=UTF-8',
        requestBody: 'asked',
        responseType: 'text/plain',
        responseBody: 'é'.repeat(8192),
        truncated: true,
      },
      {
        ...plain[1],
        errorMessage: `GET ${origin}/v2 is not granted. What is granted: rates (GET, POST ${origin}/v1).`,
      },
    ]);
    assert.ok(one.calls?.[0]?.digest);
    assert.notEqual(one.calls?.[0]?.digest, one.calls?.[1]?.digest);
    assert.ok(!JSON.stringify([one, listed]).includes('secret=1'));
  });

test('the trace of the caller is in the calls and in the record, at every level', async (t) => {
  const trace = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
  const { send, vendor, editor, paths, version } = await start(
    t,
    asyncRun(`const headers = { TraceParent: '00-' + '1'.repeat(32) + '-' + '1'.repeat(16) + '-00' };
      return (await fetch('${origin}/v1/' + input, { headers })).text();`),
    { recording: { level: 'outcome' } },
  );
  upstream.handle = (_, response) => response.end();
  const { headers } = await send('POST', paths.exec(version), { ...vendor, traceparent: trace }, 'run');
  await send('POST', `${paths.test}?calls=real`, { ...editor, traceparent: trace }, 'test');
  assert.deepEqual(
    upstream.requests.map((one) => [one.url, one.headers['traceparent']]),
    [
      ['/v1/run', trace],
      ['/v1/test', trace],
    ],
  );
  await until('the run is recorded', async () => {
    const { status, body } = await send('GET', `/api/v1/run/${String(headers['x-request-id'])}`, vendor);
    return status === 200 && (JSON.parse(body) as { traceparent?: string }).traceparent === trace;
  });
});

const testType = 'application/vnd.plugin-editor.test+json';

const fetchTwice = `const [a, b] = await Promise.all(['/v1/a', '/v1/b'].map(async (path) => {
  const response = await fetch('${origin}' + path, { method: input || 'GET' });
  return [response.status, response.headers.get('content-type'), await response.text()].join(' ');
}));
return a + '; ' + b;`;

test('a test of a draft makes no call, and gets the responses that it names', async (t) => {
  const { send, paths, editor } = await start(t, asyncRun(fetchTwice));
  const ask = async (body: object) => {
    const headers = { ...editor, 'content-type': testType };
    return JSON.parse((await send('POST', paths.test, headers, JSON.stringify(body))).body) as TestAnswer;
  };
  const any = { url: `${origin}/v1/*`, response: { status: 404, body: 'gone' } };
  const first = { method: 'POST', url: `${origin}/v1/a`, response: { body: { rate: 1 } } };
  const good = await ask({ payload: 'POST', calls: [any, first, any] });
  assert.equal(good.result, '404  gone; 404  gone');
  const ordered = await ask({ payload: 'POST', calls: [first, any] });
  assert.equal(ordered.result, '200 application/json {"rate":1}; 404  gone');
  assert.deepEqual(
    ordered.calls?.map(({ url, status }) => [url, status]),
    [
      [`${origin}/v1/a`, 200],
      [`${origin}/v1/b`, 404],
    ],
  );
  const missing = await ask({ payload: '', calls: [first, any] });
  assert.equal(missing.error?.code, 'plugin-error');
  assert.match(missing.error?.message ?? '', /GET .*\/v1\/b was not made: no response is given for it\./);
  assert.ok(missing.calls?.some(({ url, error }) => url.endsWith('/v1/b') && error === 'call-not-mocked'));
  const largest = '\n'.repeat(1024 * 1024);
  const large = { ...any, response: { body: 'x'.repeat(1000 * 1024) } };
  assert.equal((await ask({ payload: largest, calls: [large] })).error?.code, 'plugin-error');
  assert.equal((await ask({ payload: `${largest}x` })).error?.code, 'input-limit');
  assert.equal((await ask({ payload: largest, calls: [large, large] })).error?.code, 'too-large');
  const wrong = await ask({ payload: '', calls: [{ url: 'x' }] });
  assert.deepEqual([wrong.error?.code, wrong.error?.path], ['invalid-body', '/calls/0/response']);
  const source = { contents: asyncRun('return (await fetch(input)).text();'), payload: `${origin}/v1/c` };
  const unsaved = await send(
    'POST',
    paths.test.replace('/test/', '/test/javascript/'),
    { ...editor, 'content-type': 'application/json' },
    JSON.stringify({ ...source, calls: [any] }),
  );
  assert.equal((JSON.parse(unsaved.body) as TestAnswer).result, 'gone');
  assert.equal(upstream.requests.length, 0);
});

test('a mock that was recorded is for the very call that it was, whatever the order', async () => {
  const secrets = new Secrets({ keys: [secretsKey] });
  const mockOf = (query: string) => ({
    url: `${origin}/v1/a*`,
    digest: secrets.digest(`${origin}/v1/a?${query}`, new Uint8Array()) ?? '',
    response: { body: query },
  });
  const calls = new MockedCalls([mockOf('one'), mockOf('two'), mockOf('three')], secrets);
  const ask = async (query: string) => {
    const result = await calls.call({ method: 'GET', url: `${origin}/v1/a?${query}`, headers: [] });
    return 'response' in result ? new TextDecoder().decode(result.response.body) : result.error.code;
  };
  assert.deepEqual(
    [await ask('two'), await ask('other'), await ask('three'), await ask('two')],
    ['two', 'one', 'three', 'call-not-mocked'],
  );
});

test('a mocked or recorded response has the address without a fragment, as a real one', async () => {
  const secrets = new Secrets({ keys: [secretsKey] });
  const url = `${origin}/v1/a?b#c`;
  const digest = secrets.digest(url, new Uint8Array()) ?? '';
  const recorded = { connection: '', method: 'GET', url, digest, took: 0, requestBytes: 0, responseBytes: 0 };
  for (const calls of [
    new MockedCalls([{ url, response: {} }], secrets),
    new MockedCalls([{ url: `${origin}/v1/a?b`, response: {} }], secrets),
    new RecordedCalls([{ ...recorded, status: 200 }], secrets),
  ]) {
    const result = await calls.call({ method: 'GET', url, headers: [] }, new AbortController().signal);
    assert.equal('response' in result && result.response.url, `${origin}/v1/a?b`);
  }
});

test('a real call of a test needs the permission to deploy, and is in the audit log', async (t) => {
  const { send, paths, editor, vendor } = await start(t, asyncRun(fetchText));
  upstream.handle = (_, response) => response.end('rate');
  const ask = async (headers: object) => send('POST', `${paths.test}?calls=real`, { ...headers }, 'x');
  const { result, calls } = JSON.parse((await ask(editor)).body) as TestAnswer;
  assert.equal(result, 'rate');
  assert.deepEqual(
    calls?.map(({ connection, status, responseBody }) => [connection, status, responseBody]),
    [['rates', 200, 'rate']],
  );
  const session = await send(
    'POST',
    '/api/v1/tenant/com.acme.t1/session',
    { ...vendor, 'content-type': 'application/json' },
    JSON.stringify({ permissions: ['read', 'write'] }),
  );
  const { token } = JSON.parse(session.body) as { token: string };
  const refused = await ask({ authorization: `Bearer ${token}` });
  assert.deepEqual([refused.status, errorOf(refused).code], [403, 'not-permitted']);
  assert.equal(upstream.requests.length, 1);
  const audit = await send('GET', '/api/v1/environment/com.acme/audit?action=test.real-calls', vendor);
  const { entries } = JSON.parse(audit.body) as { entries: { name: string }[] };
  assert.deepEqual(
    entries.map(({ name }) => name),
    ['add-record'],
  );
});
