import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import type { HttpLimits } from '../../../service/src/http/admission.ts';
import { createLog } from '../../../service/src/operations/log.ts';
import { Metrics } from '../../../service/src/operations/metrics.ts';
import { bearer, draftPath, listen } from '../harness.ts';
import { until } from '../../support/until.ts';

/** A service on a real socket, with what it logs and counts. */
async function start(t: TestContext, limits: Partial<HttpLimits> = {}) {
  const lines: string[] = [];
  const log = createLog('info', (line) => lines.push(line));
  const metrics = new Metrics();
  const running = await listen(t, { log, metrics }, { connectionsCheckingInterval: 20, ...limits });
  const { port } = running;
  /** Sends bytes as they are, and returns all that is answered until the connection ends. */
  const exchange = async (sent: string) => {
    const socket = connect(port, '127.0.0.1');
    t.after(() => socket.destroy());
    socket.write(sent);
    return textOf(socket);
  };
  const logged = () => lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  return { ...running, host: `127.0.0.1:${port}`, exchange, logged, metrics };
}

/** Takes a response apart, having checked that it is one as all errors of the service are. */
function parse(text: string) {
  const [head = '', body = ''] = text.split('\r\n\r\n');
  const id = /^x-request-id: ([\da-f-]{36})\r?$/im.exec(head)?.[1];
  assert.ok(id, text);
  assert.match(head, /^content-type: application\/json/im);
  assert.match(head, /^connection: close\r?$/im);
  const { error } = JSON.parse(body) as { error: { code: string; message: string; requestId: string } };
  assert.equal(error.requestId, id);
  return { status: Number(/^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1]), code: error.code, id };
}

/** The statuses of all responses in a text. */
const statuses = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, one]) => Number(one));

const tooLong = (host: string) =>
  `GET /healthz HTTP/1.1\r\nhost: ${host}\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`;

for (const [what, status, code, limits, sent] of [
  ['a request line that is none', 400, 'invalid-request', {}, () => 'what is this?\r\n\r\n'],
  ['headers above 16 KB', 431, 'headers-too-large', {}, tooLong],
  ['headers that do not come', 408, 'request-timeout', { headersTimeout: 100 }, () => 'GET / HTTP/1.1\r\nho'],
  [
    'HTTP/1.1 without a Host',
    400,
    'invalid-request',
    {},
    () => 'GET /healthz HTTP/1.1\r\nconnection: close\r\n\r\n',
  ],
] as const) {
  test(`${what}: ${status} as JSON with an id, and with a line in the log and a count`, async (t) => {
    const { exchange, host, logged, metrics } = await start(t, limits);
    const response = parse(await exchange(sent(host)));
    assert.deepEqual([response.status, response.code], [status, code]);
    const [line, ...others] = logged().filter(({ requestId }) => requestId === response.id);
    assert.deepEqual([line?.['status'], line?.['address'], others.length], [status, '127.0.0.1', 0]);
    assert.match(
      await (await metrics.toResponse()).text(),
      new RegExp(`_count\\{method="other",route="none",status="${status}"\\} 1`),
    );
  });
}

test('a client that sends all of its headers before it reads still receives its 431', async (t) => {
  const { exchange, host } = await start(t);
  const sent = `GET /healthz HTTP/1.1\r\nhost: ${host}\r\nx: ${'x'.repeat(1_000_000)}\r\n\r\n`;
  assert.equal(parse(await exchange(sent)).status, 431);
});

test('half a body is answered with 408 under the id of its request, which has one line in the log', async (t) => {
  const { exchange, host, logged, editorToken } = await start(t, { requestTimeout: 2000 });
  const { authorization } = bearer(await editorToken());
  const head = `POST ${draftPath} HTTP/1.1\r\nhost: ${host}\r\nauthorization: ${authorization}\r\n`;
  const response = parse(
    await exchange(`${head}content-type: application/json\r\ncontent-length: 1000000\r\n\r\nhalf`),
  );
  assert.deepEqual([response.status, response.code], [408, 'request-timeout']);
  const own = () => logged().filter(({ requestId }) => requestId === response.id);
  await until('it is logged', () => own().length > 0);
  assert.deepEqual([own().length, own()[0]?.['aborted']], [1, true]);
});

test('malformed bytes after a request do not replace its response', async (t) => {
  const { exchange, host } = await start(t);
  const received = await exchange(`GET /healthz HTTP/1.1\r\nhost: ${host}\r\n\r\nwhat is this?\r\n\r\n`);
  const [first = '', second = ''] = received.split(/(?=HTTP\/1\.1 400)/);
  assert.match(first, /^HTTP\/1\.1 200 [^]*"alive":true/);
  assert.equal(parse(second).code, 'invalid-request');
});

// A connection is parsed in slices of 4096 bytes, which count what is left of a body.
test('long headers behind a body are those of a request', async (t) => {
  const { exchange, host } = await start(t);
  const post = `POST /api/v1/features HTTP/1.1\r\nhost: ${host}\r\ncontent-length: 2\r\n\r\n{}`;
  const get = `GET /healthz HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\nx: ${'x'.repeat(5000)}\r\n\r\n`;
  assert.deepEqual(statuses(await exchange(post + get)), [405, 200]);
});

test('headers behind a body may arrive in parts of any length', async (t) => {
  const { host, port } = await start(t);
  const socket = connect(port, '127.0.0.1');
  t.after(() => socket.destroy());
  const received = textOf(socket);
  const parts = [
    `POST /api/v1/features HTTP/1.1\r\nhost: ${host}\r\ncontent-length: 2\r\n\r\n{}`,
    `GET /healthz HTTP/1.1\r\nhost: ${host}\r\n`,
    `connection: close\r\nx: ${'x'.repeat(9000)}\r\n\r\n`,
  ];
  for (const part of parts) {
    socket.write(part);
    // Once the service has answered another connection, it has read what was sent before on this one.
    assert.equal((await fetch(`http://${host}/healthz`)).status, 200);
  }
  assert.deepEqual(statuses(await received), [405, 200]);
});

test('a client of HTTP/1.0 without a Host reaches the health checks, and nothing else', async (t) => {
  const { exchange } = await start(t);
  assert.match(await exchange('GET /healthz HTTP/1.0\r\n\r\n'), /^HTTP\/1\.1 200 /);
  assert.match(await exchange('GET /api/v1/features HTTP/1.0\r\n\r\n'), /^HTTP\/1\.1 421 [^]*"misdirected"/);
});

test('an unknown expectation is ignored', async (t) => {
  const { exchange, host } = await start(t);
  const head = `GET /healthz HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\nexpect: the unexpected\r\n\r\n`;
  assert.match(await exchange(head), /^HTTP\/1\.1 200 /);
});
