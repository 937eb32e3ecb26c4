import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, IncomingMessage, request as httpRequest, type ServerResponse } from 'node:http';
import { connect as connectHttp2, createServer as createHttp2Server } from 'node:http2';
import { type AddressInfo, Socket, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { toWebRequest } from '../../src/server/node-request.ts';
import { type NodeContext, toNodeHandler } from '../../src/server/to-node-handler.ts';
import { createTokenEndpoint, type TokenEndpoint } from '../../src/server/token-endpoint.ts';
import { FIELDS, IDENT, startEndpoint } from './endpoint-fixture.ts';
import { listen, rawRequest } from './raw-request.ts';

const access = { getEditorToken: () => Promise.resolve({ token: 'editor-1' }) };
const grant = createTokenEndpoint<NodeContext>({ access, authorize: () => IDENT });

/** An endpoint that records its requests. */
function recorder(respond: (request: Request) => Response | Promise<Response> = () => new Response()) {
  const requests: Request[] = [];
  const endpoint: TokenEndpoint<NodeContext> = async (request) => {
    requests.push(request);
    return respond(request);
  };
  return { requests, endpoint };
}

/** Sends bytes, and resolves with everything received until the connection ends. */
function sendBytes(port: number, bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.end(bytes);
  return text(socket);
}

describe('toNodeHandler with node:http', () => {
  test('answers a page, with the context { req, res }', async () => {
    const contexts: (NodeContext | undefined)[] = [];
    const endpoint = createTokenEndpoint<NodeContext>({
      access,
      authorize: (_, __, context) => {
        contexts.push(context);
        return context.req.headers.cookie === 'session=s1' ? IDENT : false;
      },
    });
    await using server = await listen(toNodeHandler(endpoint));
    const granted = await rawRequest(server.port, { body: FIELDS, headers: { cookie: 'session=s1' } });
    assert.deepEqual([granted.status, granted.json], [200, { token: 'editor-1' }]);
    assert.equal(granted.headers['content-type'], 'application/json');
    assert.equal(granted.headers['cache-control'], 'no-store');
    assert.equal((await rawRequest(server.port, { body: FIELDS })).status, 403);
    assert.equal(contexts[0]?.req.url, '/token');
    assert.equal(contexts[0]?.res.statusCode, 200);
  });

  test('answers a GET', async () => {
    await using server = await listen(toNodeHandler(grant));
    const path = `/token?${new URLSearchParams(FIELDS)}`;
    assert.equal((await rawRequest(server.port, { method: 'GET', path })).status, 200);
    const head = await rawRequest(server.port, { method: 'HEAD', path });
    assert.deepEqual([head.status, head.text], [405, '']);
  });

  for (const [name, headers, status] of [
    ['its own origin, without Sec-Fetch-Site', { origin: 'http://app.example:81' }, 200],
    ['https, which it cannot know of behind a proxy', { origin: 'https://app.example:81' }, 403],
    ['another port', { origin: 'http://app.example:82' }, 403],
    ['no origin', {}, 403],
  ] as const) {
    test(`answers ${status} after comparing Host with ${name}`, async () => {
      await using server = await listen(toNodeHandler(grant));
      const all = { host: 'app.example:81', 'sec-fetch-site': undefined, ...headers };
      assert.equal((await rawRequest(server.port, { body: FIELDS, headers: all })).status, status);
    });
  }

  for (const [path, expected] of [
    ['/token?a=1', 'http://app.example/token?a=1'],
    ['//evil.example/token', 'http://app.example//evil.example/token'],
    ['http://evil.example/token?a=1', 'http://app.example/token?a=1'],
    ['/\\evil.example', 'http://app.example//evil.example'],
    ['/@evil.example', 'http://app.example/@evil.example'],
  ] as const) {
    test(`turns the path ${path} into the URL ${expected}`, async () => {
      const { endpoint, requests } = recorder();
      await using server = await listen(toNodeHandler(endpoint));
      await rawRequest(server.port, { path, headers: { host: 'app.example' } });
      assert.equal(requests[0]?.url, expected);
    });
  }

  test('does not read a host from a path, and denies a page of that host', async () => {
    await using server = await listen(toNodeHandler(grant));
    const headers = { 'sec-fetch-site': undefined, origin: 'http://evil.example' };
    for (const path of ['//evil.example/token', 'http://evil.example/token']) {
      assert.equal((await rawRequest(server.port, { path, headers, body: FIELDS })).status, 403);
    }
  });

  for (const host of [
    'a b',
    'user@app.example',
    'app.example/x',
    'app.example?x',
    'a.example, b.example',
    '[::1',
    'a:b',
  ]) {
    test(`answers 400 for the Host "${host}"`, async () => {
      const { endpoint, requests } = recorder();
      await using server = await listen(toNodeHandler(endpoint));
      const response = await rawRequest(server.port, { body: FIELDS, headers: { host } });
      assert.equal(response.status, 400);
      assert.match(response.json.error?.message ?? '', /^The Host header must/);
      assert.equal(requests.length, 0);
    });
  }

  test('answers 400 without a Host, or with an empty one', async () => {
    await using server = await listen(toNodeHandler(grant));
    for (const start of [
      'GET /token HTTP/1.0\r\n',
      'GET /token HTTP/1.1\r\nHost:\r\nConnection: close\r\n',
    ]) {
      assert.match(await sendBytes(server.port, `${start}\r\n`), /^HTTP\/1.1 400 .*The Host header must/s);
    }
  });

  test('answers TRACE and OPTIONS *', async () => {
    await using server = await listen(toNodeHandler(grant));
    assert.equal((await rawRequest(server.port, { method: 'TRACE' })).status, 405);
    assert.equal((await rawRequest(server.port, { method: 'OPTIONS', path: '*' })).status, 204);
  });

  test('passes all headers on, and the whole response back', async () => {
    const { endpoint, requests } = recorder(() => {
      const headers = new Headers({ 'x-own': 'ü', vary: 'cookie' });
      headers.append('set-cookie', 'a=1');
      headers.append('set-cookie', 'b=2; Path=/');
      return new Response('grüße', { status: 418, statusText: 'Short', headers });
    });
    await using server = await listen((req, res) => {
      res.setHeader('set-cookie', 'session=s1');
      res.setHeader('vary', 'accept-encoding');
      toNodeHandler(endpoint)(req, res);
    });
    const response = await rawRequest(server.port, { headers: { 'x-a': '1', origin: 'http://o.example' } });
    assert.equal(requests[0]?.headers.get('x-a'), '1');
    assert.equal(requests[0]?.headers.get('origin'), 'http://o.example');
    assert.equal(response.status, 418);
    assert.equal(response.text, 'grüße');
    assert.deepEqual(response.headers['set-cookie'], ['session=s1', 'a=1', 'b=2; Path=/']);
    assert.equal(response.headers.vary, 'accept-encoding, cookie');
    assert.equal(response.headers['x-own'], 'ü');
  });

  for (const [name, body, status] of [
    ['of 4096 bytes', JSON.stringify(FIELDS).padEnd(4096), 200],
    ['of 4097 bytes', JSON.stringify(FIELDS).padEnd(4097), 413],
    ['of 8 MiB', ' '.repeat(2 ** 23), 413],
  ] as const) {
    for (const encoding of ['content-length', 'chunked']) {
      test(`answers ${status} for a body ${name} with ${encoding}`, async () => {
        await using server = await listen(toNodeHandler(grant));
        const headers = encoding === 'chunked' ? { 'transfer-encoding': 'chunked' } : {};
        assert.equal((await rawRequest(server.port, { body, headers })).status, status);
      });
    }
  }

  test('answers before the end of a body that is too large or not needed', async () => {
    await using server = await listen(toNodeHandler(grant));
    for (const [headers, expected] of [
      [{}, 413],
      [{ 'sec-fetch-site': 'cross-site' }, 403],
    ] as const) {
      const all = { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin', ...headers };
      const sent = httpRequest({
        host: '127.0.0.1',
        port: server.port,
        method: 'POST',
        headers: all,
        agent: false,
      });
      const response = await new Promise<IncomingMessage>((resolve, reject) => {
        sent.on('response', resolve).on('error', reject);
        sent.write('x'.repeat(10_000));
      });
      assert.equal(response.statusCode, expected);
      sent.destroy();
    }
  });

  test('leaves a kept-alive connection usable for the next request', async () => {
    await using server = await listen(toNodeHandler(grant));
    // Longer than this process may stand still between two requests.
    server.server.keepAliveTimeout = 60_000;
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const sockets = new Set<unknown>();
    server.server.on('connection', (socket) => sockets.add(socket));
    const send = (headers: Record<string, string>, body: string) =>
      new Promise<number>((resolve, reject) => {
        const all = { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin', ...headers };
        const options = { host: '127.0.0.1', port: server.port, method: 'POST', agent, headers: all };
        const sent = httpRequest(options, (response) => {
          response.resume().on('end', () => resolve(response.statusCode ?? 0));
        });
        sent.on('error', reject).end(body);
      });
    const large = 'x'.repeat(300_000);
    try {
      assert.equal(await send({ 'transfer-encoding': 'chunked' }, large), 413);
      assert.equal(await send({}, JSON.stringify(FIELDS)), 200);
      assert.equal(await send({ 'sec-fetch-site': 'none' }, large), 403);
      assert.equal(await send({}, JSON.stringify(FIELDS)), 200);
      assert.equal(sockets.size, 1);
    } finally {
      agent.destroy();
    }
  });

  test('cancels the request to the builder when the client disconnects', async () => {
    await using at = await startEndpoint({}, { path: '*', delay: 'hang' });
    await using server = await listen(toNodeHandler(at.endpoint));
    const sent = httpRequest({
      host: '127.0.0.1',
      port: server.port,
      method: 'POST',
      headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
      agent: false,
    });
    sent.on('error', () => undefined).end(JSON.stringify(FIELDS));
    await at.builder.requests(1);
    sent.destroy();
    assert.equal((await at.builder.aborted()).length, 1);
    assert.deepEqual(at.errors, []);
  });

  test('sets the content-length of the response itself', async () => {
    const { endpoint } = recorder(() => new Response('short', { headers: { 'content-length': '100' } }));
    await using server = await listen(toNodeHandler(endpoint));
    const response = await rawRequest(server.port);
    assert.deepEqual([response.text, response.headers['content-length']], ['short', '5']);
  });

  test('does not abort the signal of a request that was answered', async () => {
    const { endpoint, requests } = recorder();
    await using server = await listen(toNodeHandler(endpoint));
    const closed = new Promise((resolve) => {
      server.server.on('request', (_: IncomingMessage, res: ServerResponse) => res.once('close', resolve));
    });
    await rawRequest(server.port);
    await closed;
    assert.equal(requests[0]?.signal.aborted, false);
  });
});

describe('toNodeHandler with other connections', () => {
  test('answers over HTTP/2, where :authority stands for Host', async () => {
    const { endpoint, requests } = recorder((request) => grant(request));
    const server = createHttp2Server(toNodeHandler(endpoint) as never);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const client = connectHttp2(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    try {
      const stream = client.request({
        ':method': 'POST',
        ':path': '/token',
        ':authority': 'app.example',
        'content-type': 'application/json',
        origin: 'http://app.example',
      });
      stream.end(JSON.stringify(FIELDS));
      const [headers] = (await once(stream, 'response')) as [{ ':status': number }];
      assert.equal(headers[':status'], 200);
      assert.deepEqual(JSON.parse(await text(stream)), { token: 'editor-1' });
      assert.equal(requests[0]?.url, 'http://app.example/token');
    } finally {
      client.close();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    }
  });

  test('recognises an encrypted connection', () => {
    const req = new IncomingMessage(Object.assign(new Socket(), { encrypted: true }));
    Object.assign(req.headers, { host: 'app.example' });
    req.url = '/token';
    assert.equal(toWebRequest(req, new AbortController().signal).request.url, 'https://app.example/token');
  });
});

describe('toNodeHandler when something throws', () => {
  const broken: TokenEndpoint<NodeContext> = () => Promise.reject(new Error('secret detail'));

  test('answers 500 without details and logs the error when there is no next', async (t) => {
    const log = t.mock.method(console, 'error', () => undefined);
    await using server = await listen(toNodeHandler(broken));
    const response = await rawRequest(server.port);
    assert.equal(response.status, 500);
    assert.equal(response.json.error?.code, 'internal');
    assert.doesNotMatch(response.text, /secret detail/);
    assert.match(String(log.mock.calls[0]?.arguments[1]), /secret detail/);
  });

  test('calls next once, and neither answers nor logs', async (t) => {
    const log = t.mock.method(console, 'error', () => undefined);
    const errors: unknown[] = [];
    await using server = await listen((req, res) => {
      toNodeHandler(broken)(req, res, (error) => {
        errors.push(error);
        res.writeHead(503).end('by next');
      });
    });
    const response = await rawRequest(server.port);
    assert.deepEqual([response.status, response.text], [503, 'by next']);
    assert.deepEqual(errors.map(String), ['Error: secret detail']);
    assert.equal(log.mock.callCount(), 0);
  });

  test('calls next when the body of a response fails, or when there is no response', async (t) => {
    t.mock.method(console, 'error', () => undefined);
    const stream = new ReadableStream({ pull: (controller) => controller.error(new Error('cut')) });
    for (const response of [new Response(stream), undefined, Response.error()]) {
      await using server = await listen(toNodeHandler(() => Promise.resolve(response as Response)));
      assert.equal((await rawRequest(server.port)).status, 500);
    }
  });

  test('leaves a response alone that something else began', async (t) => {
    const log = t.mock.method(console, 'error', () => undefined);
    let finish = () => {};
    const late: TokenEndpoint<NodeContext> = () =>
      new Promise((resolve) => (finish = () => resolve(new Response('late'))));
    await using server = await listen((req, res) => {
      toNodeHandler(late)(req, res);
      res.writeHead(503).write('in time');
      finish();
      setImmediate(() => res.end());
    });
    const response = await rawRequest(server.port);
    assert.deepEqual([response.status, response.text], [503, 'in time']);
    assert.equal(log.mock.callCount(), 0);
  });

  test('throws at once when the endpoint is not a function', () => {
    assert.throws(() => toNodeHandler(undefined as never), { name: 'TypeError', message: /^endpoint must/ });
  });
});
