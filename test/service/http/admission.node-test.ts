import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, test } from 'node:test';
import type { TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { Hono } from 'hono';
import type { Context, Handler } from 'hono';
import { admit, Admission, httpLimits } from '../../../service/src/http/admission.ts';
import type { HttpLimits } from '../../../service/src/http/admission.ts';
import type { ServiceContext } from '../../../service/src/http/context.ts';
import { errorResponse } from '../../../service/src/http/errors.ts';
import type { Operation } from '../../../service/src/http/operations/operation.ts';
import { Held, requestShares, Shares } from '../../../service/src/http/shares.ts';
import type { RequestShares } from '../../../service/src/http/shares.ts';
import { requestInfo } from '../../../service/src/http/request-info.ts';
import type { ServiceResponse } from '../../../service/src/http/response.ts';
import type { Db } from '../../../service/src/storage/db.ts';
import { toBlockList } from '../../../service/src/settings/setting-kinds.ts';
import { provisionEnvironmentToken } from '../../../service/src/accounts/environment-token.ts';
import { bearer, listen } from '../harness.ts';
import { sharedToolProcesses } from '../tool-processes.ts';
import { until } from '../../support/until.ts';
import { createRateCounters } from '../../../service/src/storage/tables/rate-counters.ts';

const kibibyte = 1024;

/** A service with these shares, and tokens for plugins of some tenants. */
async function start(
  t: TestContext,
  shares: Partial<RequestShares>,
  limits: Partial<HttpLimits> = {},
  options: Parameters<typeof listen>[1] = {},
) {
  const service = await listen(t, { shares, ...options }, limits);
  const environments = new Map<string, string>();
  /** A client of the plugin `add-record` of a tenant such as `com.acme.t1`. */
  const client = async (tenant: string, plugin = 'add-record') => {
    const environment = tenant.replace(/\.[^.]+$/, '');
    const vendor = environments.get(environment) ?? (await service.environmentToken(environment));
    environments.set(environment, vendor);
    const path = `${tenant}/default/${plugin}`;
    const headers = bearer(await service.editorToken(`/auth/v2/access/${path}`, vendor));
    const draft = `/api/v1/draft/${path}`;
    /** The bytes of a whole request, or of its head and a part of its body. */
    const bytesOf = (method: string, target: string, body = '', length = body.length) =>
      `${method} ${target} HTTP/1.1\r\nhost: 127.0.0.1:${service.port}\r\nauthorization: ${headers.authorization}\r\n` +
      `accept: application/json, text/event-stream\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n${body}`;
    /** Sends them, and keeps the connection. */
    const open = (...request: Parameters<typeof bytesOf>) => {
      const socket = connect(service.port, '127.0.0.1').setEncoding('latin1');
      t.after(() => socket.destroy());
      socket.on('error', () => {});
      socket.write(bytesOf(...request));
      return socket;
    };
    const read = () => service.send('GET', draft, headers);
    const save = (size: number) =>
      service.send(
        'POST',
        draft,
        { ...headers, 'content-type': 'application/json' },
        JSON.stringify({ contents: 'x'.repeat(size), lang: 'javascript' }),
      );
    /** Sends a request, by default for the draft, again and again by a few connections, and reads no response. */
    const leaveUnread = (method = 'GET', target = draft, body = '') =>
      Array.from({ length: 3 }, () => {
        const socket = open(method, target, body).pause();
        for (let i = 0; i < 20; i++) socket.write(bytesOf(method, target, body));
        return socket;
      });
    return { headers, draft, open, read, save, leaveUnread };
  };
  return { ...service, client };
}

const codeOf = ({ status, body }: { status: number; body: string }) => [
  status,
  (JSON.parse(body) as { error?: { code: string } }).error?.code,
];

const busy = [503, 'busy'];
const tooMany = [429, 'too-many-requests'];

describe('the bodies that a service receives', () => {
  const received = {
    total: 4 * kibibyte,
    perEnvironment: 3 * kibibyte,
    perTenant: 2 * kibibyte,
    perToken: 2 * kibibyte,
  };

  test('are refused with 503 and Retry-After beyond the share of a tenant, an environment and the service', async (t) => {
    const { client, send, port } = await start(t, { received });
    const one = await client('com.acme.t1');
    const [two, three, other] = [
      await client('com.acme.t2'),
      await client('com.acme.t3'),
      await client('org.other.t1'),
    ];
    // A request is refused while a try of `until` counts, so that it is sent again.
    const hold = ({ open, draft, save }: typeof one, length: number) =>
      until('it counts', async () => {
        open('POST', draft, '{', length);
        return (await save(10)).status === 503;
      });
    await hold(one, 2 * kibibyte);
    const refused = await one.save(10);
    assert.deepEqual([codeOf(refused), refused.headers['retry-after']], [busy, '1']);
    await hold(two, kibibyte - 10);
    assert.deepEqual(codeOf(await three.save(10)), busy, 'The environment has used up its share.');
    await hold(other, kibibyte);
    // What needs no body passes.
    assert.equal((await one.read()).status, 200);
    assert.equal((await send('GET', '/healthz', { host: `127.0.0.1:${port}` })).status, 200);
  });

  test('count no longer than their request, and one of unknown length counts as the largest', async (t) => {
    const { client, send } = await start(t, { received });
    const one = await client('com.acme.t1');
    for (let i = 0; i < 5; i++) assert.equal((await one.save(kibibyte)).status, 200);
    const headers = { ...one.headers, 'content-type': 'application/json', 'transfer-encoding': 'chunked' };
    assert.deepEqual(codeOf(await send('POST', one.draft, headers, '{}')), busy);
  });

  test('without a valid token are not read, and take no room from others', async (t) => {
    const { client, send } = await start(t, { received });
    const one = await client('com.acme.t1');
    const guess = { ...bearer('pe_edit_guess'), 'content-type': 'application/json' };
    const body = JSON.stringify({ contents: 'x'.repeat(100 * kibibyte), lang: 'javascript' });
    for (let i = 0; i < 3; i++) assert.equal((await send('POST', one.draft, guess, body)).status, 401);
    assert.equal((await one.save(kibibyte)).status, 200);
  });
});

describe('the requests of a token', () => {
  const requests = { total: 6, perEnvironment: 4, perTenant: 3, perToken: 2 };

  test('that are in progress are limited, those of its tenant, its environment and the service likewise', async (t) => {
    const { client } = await start(t, { requests });
    const one = await client('com.acme.t1');
    // A request is refused while a try of `until` counts, so that it is sent again.
    const fill = ({ open, draft, read }: typeof one, status: number) =>
      until('they count', async () => {
        open('POST', draft, '{', 100);
        return (await read()).status === status;
      });
    const [sibling, two, other] = [
      await client('com.acme.t1', 'other'),
      await client('com.acme.t2'),
      await client('org.other.t1'),
    ];
    await fill(one, 429);
    assert.deepEqual(codeOf(await one.read()), tooMany);
    assert.equal((await sibling.read()).status, 404);
    await fill(sibling, 429);
    await fill(two, 503);
    assert.deepEqual(codeOf(await two.read()), busy);
    assert.equal((await other.read()).status, 404);
  });
});

describe('responses that are not taken', () => {
  const unsent = {
    total: 300_000_000,
    perEnvironment: 200_000_000,
    perTenant: 100_000_000,
    perToken: 100_000,
  };

  test('let further requests of their token wait, and none of others', async (t) => {
    const { client } = await start(t, { unsent }, { paceTime: 60_000 });
    const one = await client('com.acme.t1');
    const other = await client('com.acme.t1', 'other');
    assert.equal((await one.save(1_000_000)).status, 200);
    // What the system takes does not count. Each connection holds the response that it takes no more of.
    const unread = one.leaveUnread();
    await until('they count', async () => (await one.read()).status === 429);
    assert.equal((await other.read()).status, 404);
    for (const socket of unread) socket.destroy();
    await until('they are gone', async () => (await one.read()).status === 200);
  });

  test('count as well while the body of their request does not arrive', async (t) => {
    const { client, send } = await start(t, { unsent }, { paceTime: 60_000 });
    const one = await client('com.acme.t1');
    // As JSON it has six times the size, and is more than the system takes.
    const path = one.draft.replace('draft', 'build/javascript');
    const headers = { ...one.headers, 'content-type': 'text/plain' };
    assert.equal((await send('POST', path, headers, '\u0001'.repeat(1_000_000))).status, 200);
    const unread = Array.from({ length: 8 }, () => one.open('GET', one.draft, '', 100_000).pause());
    await until('they count', async () => (await one.read()).status === 429);
    for (const socket of unread) socket.destroy();
    await until('they are gone', async () => (await one.read()).status === 200);
  });
});

test('the requests of an environment token take no share from another token of the environment', async (t) => {
  const requests = { total: 8, perEnvironment: 8, perTenant: 8, perToken: 2 };
  const { send, environmentToken, port, storage, clock } = await start(t, { requests });
  const path = '/api/v1/environment/com.acme/namespaces/one';
  const busyToken = await environmentToken();
  const otherToken = await provisionEnvironmentToken(storage, 'com.acme', clock.now, { holder: 'other' });
  const read = async (token: string) => (await send('GET', path, bearer(token))).status;
  const idle = await read(busyToken);
  await until('they count', async () => {
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    t.after(() => socket.destroy());
    socket.write(
      `PUT ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nauthorization: Bearer ${busyToken}\r\n` +
        'content-type: application/json\r\ncontent-length: 100\r\n\r\n{',
    );
    return (await read(busyToken)) === 503;
  });
  assert.equal(await read(otherToken), idle);
});

/** Lets reads of drafts wait until they are let through. */
function holdReads(t: TestContext, db: Db) {
  const begun = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const executor = db.query.getExecutor();
  const execute = executor.executeQuery.bind(executor);
  t.mock.method(executor, 'executeQuery', async (...[query]: Parameters<typeof execute>) => {
    if (query.sql.includes('from "drafts"')) {
      begun.resolve();
      await released.promise;
    }
    return execute(query);
  });
  return { begun: begun.promise, release: () => released.resolve() };
}

test('a request whose turn comes after too much was made for its token is refused', async (t) => {
  const unsent = { ...requestShares.unsent, perToken: 100_000 };
  const turns = { ...requestShares.turns, slotsPerTenant: 1, waitingPerToken: 1 };
  const { client, storage } = await start(t, { unsent, turns });
  const one = await client('com.acme.t1');
  assert.equal((await one.save(1_000_000)).status, 200);
  const { begun, release } = holdReads(t, storage.db);
  const first = one.read();
  await begun;
  // One of the two is refused because the other waits.
  const others = [one.read(), one.read()];
  const { status, body } = await Promise.race(others);
  assert.equal(status, 429, body);
  release();
  assert.equal((await first).status, 200);
  const replies = await Promise.all(others);
  assert.ok(
    replies.some((reply) => reply.status === 429 && reply.body.includes('have not been read')),
    replies.map((reply) => `${reply.status} ${reply.body.slice(0, 200)}`).join(', '),
  );
});

test('what a tool of an agent does is admitted like what a request does', async (t) => {
  const unsent = { ...requestShares.unsent, perToken: 100_000 };
  const turns = { ...requestShares.turns, slotsPerTenant: 1, waitingPerToken: 0 };
  const { client, send, storage } = await start(t, { unsent, turns }, { paceTime: 60_000 });
  const one = await client('com.acme.t1');
  assert.equal((await one.save(900_000)).status, 200);
  const params = { name: 'read_plugin', arguments: {} };
  const message = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  const headers = {
    ...one.headers,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  const call = (body = message) => send('POST', '/mcp', headers, body);
  assert.match((await call()).body, /"structuredContent":/);
  assert.deepEqual(codeOf(await call(`[${message},${message}]`)), [422, 'invalid-body']);

  const { begun, release } = holdReads(t, storage.db);
  const first = one.read();
  await begun;
  assert.match((await call()).body, /too-many-requests.*"isError":true/);
  release();
  assert.equal((await first).status, 200);

  one.leaveUnread('POST', '/mcp', message);
  await until('unread results count', async () => (await one.read()).body.includes('have not been read'));
});

test('a tool of an agent begins no further operation once its client has gone', async (t) => {
  const { client, storage } = await start(t, {});
  const one = await client('com.acme.t1');
  assert.equal((await one.save(10)).status, 200);
  const { begun, release } = holdReads(t, storage.db);
  const params = { name: 'save_draft', arguments: { source: 'new' } };
  const socket = one.open(
    'POST',
    '/mcp',
    JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
  );
  const left = t.mock.method(Held.prototype, 'release');
  await begun;
  socket.destroy();
  await until('the service knows', () => left.mock.callCount() > 0);
  release();
  // The tool would have saved by then.
  for (let i = 0; i < 5; i++) assert.match((await one.read()).body, /"x{10}"/);
});

test('what a process does for a token does not begin after too much was made for it, and is sent once it has begun', async (t) => {
  const unsent = { ...requestShares.unsent, perToken: 100_000 };
  const { client, send } = await start(t, { unsent }, { paceTime: 60_000 });
  const one = await client('com.acme.t1');
  const path = one.draft.slice('/api/v1/draft/'.length);
  const post = (target: string, body: string, headers: Record<string, string> = {}) =>
    send(
      'POST',
      `/api/v1/${target}/${path}`,
      { ...one.headers, 'content-type': 'text/plain', ...headers },
      body,
    );
  const source = `export const run = (input) => input; // ${'x'.repeat(900_000)}`;
  assert.match((await post('build/javascript', source)).body, /"succeeded":true/);

  // Each job is held before its queue, but for the run of "begun", which is held after it has run.
  const full = Promise.withResolvers<void>();
  let held = 0;
  const hold = () => {
    held += 1;
    return full.promise;
  };
  const { sandbox, builds, languageHelp } = sharedToolProcesses();
  const run = sandbox.runAndMeasure.bind(sandbox);
  t.mock.method(sandbox, 'runAndMeasure', async (...args: Parameters<typeof run>) => {
    if (args[0].input !== 'begun') await hold();
    const finished = await run(...args);
    if (args[0].input === 'begun') await hold();
    return finished;
  });
  const build = builds.build.bind(builds);
  t.mock.method(builds, 'build', (...args: Parameters<typeof build>) => hold().then(() => build(...args)));
  const check = builds.check.bind(builds);
  t.mock.method(builds, 'check', (...args: Parameters<typeof check>) => hold().then(() => check(...args)));
  const help = languageHelp.help.bind(languageHelp);
  t.mock.method(languageHelp, 'help', (...args: Parameters<typeof help>) => hold().then(() => help(...args)));

  const request = { method: 'textDocument/hover', params: { position: { line: 0, character: 0 } } };
  const waiting = [
    post('test', 'waits'),
    post('build/javascript', source),
    post('check/javascript', 'let a;'),
    post('language-help/javascript', JSON.stringify({ contents: 'let a;', request }), {
      'content-type': 'application/json',
    }),
  ];
  const begun = [post('test', 'begun'), post('build/javascript', source, { accept: 'text/event-stream' })];
  await until('all are held', () => held === waiting.length + begun.length);
  const unread = one.leaveUnread();
  await until('unread responses count', async () => (await one.read()).status === 429);
  full.resolve();
  for (const { status, body } of await Promise.all(waiting)) {
    assert.equal(status, 429, body);
    assert.match(body, /have not been read/);
  }
  const [ran, streamed] = await Promise.all(begun);
  assert.match(ran?.body ?? '', /"result":"begun"/);
  assert.match(streamed?.body ?? '', /event: result\ndata: \{"succeeded":true/);
  for (const socket of unread) socket.destroy();
});

test('a long text is handled at its turn, while short ones and the inputs of runs go on', async (t) => {
  const longTurns = { ...requestShares.longTurns, waitingPerEnvironment: 0 };
  // The turn of the first one does not end.
  const { client, send, environmentToken } = await start(t, { longTurns, longTurnTime: 60 });
  const one = await client('com.acme.t1');
  const other = await client('org.other.t1');
  const path = 'org.other.t1/default/add-record';
  const text = { ...other.headers, 'content-type': 'text/plain' };
  await send('POST', `/api/v1/build/javascript/${path}`, text, 'export const run = (input) => input;');
  await send('POST', `/api/v1/draft/${path}/promote`, other.headers);
  assert.equal((await one.save(40_000)).status, 200);
  assert.deepEqual(codeOf(await one.save(40_000)), busy);
  assert.deepEqual(codeOf(await other.save(40_000)), busy);
  assert.equal((await other.save(1000)).status, 200);
  const vendor = bearer(await environmentToken('org.other'));
  const input = 'x'.repeat(40_000);
  assert.equal((await send('POST', `/exec/name/${path}`, vendor, input)).body, input);
});

describe('a rate of requests', () => {
  /** How a connection ends, or that it stays, after this many requests at once. */
  async function exchange(
    port: number,
    request: string,
    count: number,
  ): Promise<{ statuses: string; isClosed: boolean }> {
    const socket = connect(port, '127.0.0.1').setEncoding('latin1');
    let received = '';
    socket.on('data', (part: string) => (received += part));
    const statuses = () => [...received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);
    socket.write(request.repeat(count));
    let isClosed = false;
    socket.once('close', () => (isClosed = true));
    await until('it is over', () => isClosed || statuses().length === count);
    socket.destroy();
    return { statuses: statuses().join(' '), isClosed };
  }

  /** An app that admits requests of one address, and what such a request comes with. */
  function admitting(t: TestContext, admission: Admission, handle: Handler) {
    t.after(() => admission.close());
    const app = new Hono()
      .use(async (c, next) => {
        c.set('request', { id: 'an-id', responseHeaders: {} });
        await next();
      })
      .get('/:token', handle);
    const incoming = { socket: { remoteAddress: '192.0.2.1' } };
    return (token: number, outgoing?: Partial<ServiceResponse>) =>
      Promise.resolve(app.request(`/${token}`, {}, { incoming, ...(outgoing && { outgoing }) }));
  }

  const hashOf = (c: Context) => new Uint8Array(32).fill(Number(c.req.param('token')));

  test('counts one of the requests that come at once with a token that is new to the node', async (t) => {
    const { storage } = await start(t, {});
    const requests = { ...requestShares.requests, perToken: 2 };
    const admission = new Admission(createRateCounters(storage.db), {
      now: Date.now,
      rates: { addressRequests: 1 },
      shares: { requests },
    });
    const found = Promise.withResolvers<string>();
    const request = admitting(t, admission, async (c) =>
      c.text(await admission.checkToken(c, hashOf(c), () => found.promise)),
    );
    const responses = Array.from({ length: 20 }, () => request(1));
    found.resolve('known');
    for (const response of await Promise.all(responses)) assert.equal(await response.text(), 'known');
  });

  test('lets many tokens that are new to the node wait for their look-ups, whatever else their address has', async (t) => {
    const { storage } = await start(t, {});
    const few = { total: 200, perEnvironment: 200, perTenant: 1, perToken: 1 };
    const lookUpTurns = { ...requestShares.lookUpTurns, slotsPerTenant: 2 };
    const admission = new Admission(createRateCounters(storage.db), {
      now: Date.now,
      rates: { addressRequests: 10_000 },
      shares: { requests: few, unsent: few, lookUpTurns },
    });
    let [looking, most] = [0, 0];
    const request = admitting(t, admission, async (c) => {
      if (c.req.param('token') === '0') {
        // A client without a token that does not read.
        new Held(admission.shares, admission.anonymous(c)).holdUnsent(100);
        return c.text('known');
      }
      const lookUp = async () => {
        most = Math.max(most, ++looking);
        await setImmediate();
        looking--;
        return 'known';
      };
      return c.text(await admission.checkToken(c, hashOf(c), lookUp));
    });
    assert.equal(await (await request(0, {})).text(), 'known');
    const responses = await Promise.all(Array.from({ length: 100 }, (_, i) => request(i + 1)));
    for (const response of responses) assert.equal(await response.text(), 'known');
    assert.equal(most, 2);
    const refused = Promise.withResolvers<unknown>();
    const anonymous = admitting(t, admission, (c) => {
      try {
        new Held(admission.shares, admission.anonymous(c)).release();
      } catch (error) {
        refused.resolve(error);
      }
      return c.text('');
    });
    await anonymous(0);
    assert.match(String(await refused.promise), /Too many responses to this address/);
  });

  test('closes no connection while it cannot be asked for', async (t) => {
    const lost = { lease: () => Promise.reject(new Error('lost')), prune: () => Promise.resolve() };
    const admission = new Admission(lost, { now: Date.now, rates: { addressRequests: 100 } });
    const request = admitting(t, admission, async (c) => {
      const code = await admission.takeAddress(c).then(
        () => 'taken',
        ({ name }: Error) => name,
      );
      return c.json([code, requestInfo(c).responseHeaders]);
    });
    assert.deepEqual(await (await request(1)).json(), ['taken', {}]);
    assert.deepEqual(await (await request(1)).json(), ['StorageUnavailableError', {}]);
  });

  test('closes the connection of an address that is past it, and of a token', async (t) => {
    const rates = { addressRequests: 4, tokenRequests: 3 };
    const { port, client } = await start(t, {}, {}, { rates });
    const host = `host: 127.0.0.1:${port}\r\n`;
    const one = await client('com.acme.t1');
    assert.deepEqual(await exchange(port, `GET /nothing HTTP/1.1\r\n${host}\r\n`, 100), {
      statuses: '404 404 404 404 429',
      isClosed: true,
    });
    const read = `GET ${one.draft} HTTP/1.1\r\n${host}authorization: ${one.headers.authorization}\r\n\r\n`;
    assert.deepEqual(await exchange(port, read, 100), { statuses: '404 404 404 429', isClosed: true });
  });

  test('closes no connection of a trusted proxy', async (t) => {
    const trustedProxies = toBlockList(['127.0.0.1']);
    const { port } = await start(t, {}, {}, { rates: { addressRequests: 2 }, trustedProxies });
    const request = `GET /nothing HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nx-forwarded-for: 203.0.113.5\r\n\r\n`;
    assert.deepEqual(await exchange(port, request, 5), { statuses: '404 404 429 429 429', isClosed: false });
  });

  test('of runs closes none', async (t) => {
    const { port, environmentToken } = await start(t, {}, {}, { rates: { environmentRuns: 1 } });
    const { authorization } = bearer(await environmentToken());
    const request = `POST /exec/name/com.acme.t1/default/none HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nauthorization: ${authorization}\r\ncontent-length: 0\r\n\r\n`;
    assert.deepEqual(await exchange(port, request, 4), { statuses: '404 429 429 429', isClosed: false });
  });
});

describe('whatever holds connections', () => {
  test('health is answered, and one network locks out no other', async (t) => {
    const { port, send } = await listen(t, {}, { maxConnections: 20 });
    const half = Array.from({ length: 60 }, () => {
      const socket = connect(port, '127.0.0.1');
      t.after(() => socket.destroy());
      socket.on('error', () => {});
      socket.write('GET / HTTP/1.1\r\nhost: x');
      return socket;
    });
    await Promise.all(half.map((socket) => once(socket, 'connect')));
    for (const path of ['/healthz', '/readyz']) assert.notEqual((await send('GET', path)).status, 0);
    assert.equal((await send('GET', '/healthz')).status, 200);
  });
});

test('the reason of the signal of a request whose client has gone is no fault', async () => {
  const counters = { lease: () => Promise.reject(new Error('lost')), prune: () => Promise.resolve() };
  const admission = new Admission(counters, { now: Date.now });
  const signal = AbortSignal.abort('The connection was closed.');
  const operation = { path: '/list', auth: 'none', handle: () => signal.throwIfAborted() };
  const app = new Hono()
    .use(async (c, next) => {
      c.set('request', { id: 'an-id', responseHeaders: {} });
      await next();
    })
    .get('/list', admit(operation as unknown as Operation, { admission } as ServiceContext, assert.fail))
    .onError((error) => errorResponse(error, 'an-id'));
  const response = await app.request('/list');
  assert.deepEqual(codeOf({ status: response.status, body: await response.text() }), [503, 'cancelled']);
  admission.close();
});

test('a request takes nothing once all that it held is released, and keeps no turn that it is refused', async () => {
  const { received, turns } = requestShares;
  const shares = new Shares({ turns: { ...turns, slotsPerTenant: 1 } });
  const owner = { environment: 'com.acme', tenant: 't1', token: 'one' };
  // Where no turn is free at once, it refuses the request.
  const aborted = () => AbortSignal.abort();
  const gone = new Held(shares, owner);
  gone.release();
  gone.reserveBody(1);
  await gone.takeTurn(aborted);
  const held = new Held(shares, owner);
  held.reserveBody(received.perToken);
  const take = held.holdUnsent(requestShares.unsent.perToken + 1);
  await assert.rejects(held.takeTurn(aborted), { code: 'too-many-requests' });
  take();
  (await held.takeTurn(aborted))();
});

test('more requests may be in progress than wait for a run, and fewer than there are connections', () => {
  const { requests, turns } = requestShares;
  assert.ok(requests.perTenant > 256 && requests.perEnvironment > 512 && requests.total > 1024);
  assert.ok(requests.total < httpLimits.maxConnections && turns.waiting <= requests.total);
});
