import { serve } from '@hono/node-server';
import type { HttpBindings } from '@hono/node-server';
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { test } from 'node:test';
import { Hono } from 'hono';
import { eventStream, textStream } from '../../../service/src/http/event-stream.ts';
import type { RequestInfo } from '../../../service/src/http/request-info.ts';
import type { Held } from '../../../service/src/http/shares.ts';
import { BusyError } from '../../../service/src/processes/fair-queue.ts';
import { StorageUnavailableError } from '../../../service/src/storage/errors.ts';
import { StorageFullError } from '../../../service/src/storage/tables/tenant-storage.ts';
import { running, startPlugin } from '../plugin.ts';
import { openForInspection } from '../storage/databases.ts';
import { sharedToolProcesses } from '../tool-processes.ts';

const text = { 'content-type': 'text/plain' };

test('a streamed build sends its log while it runs, and one result', async (t) => {
  const { send, paths, editor } = await startPlugin(t);
  for (const [source, succeeded] of [
    [running('return "";'), true],
    ['let =\n;', false],
  ] as const) {
    const headers = { ...editor, ...text, accept: 'application/json;q=0.5, text/event-stream' };
    const {
      status,
      headers: answered,
      body,
    } = await send('POST', paths.build('javascript'), headers, source);
    assert.deepEqual([status, answered['content-type']], [200, 'text/event-stream; charset=utf-8']);
    assert.ok(body.endsWith('\n\n'));
    const events = body
      .trimEnd()
      .split('\n\n')
      .map((one) => /^event: (\w+)\ndata: (.*)$/.exec(one)?.slice(1) ?? []);
    assert.deepEqual(
      events.map(([type]) => type === 'log'),
      [...events.slice(1).map(() => true), false],
    );
    const result = JSON.parse(events.at(-1)?.[1] ?? '') as { succeeded: boolean; outputLog: string };
    assert.equal(events.at(-1)?.[0], 'result');
    assert.equal(result.succeeded, succeeded);
    assert.equal(
      result.outputLog,
      events
        .slice(0, -1)
        .map(([, line]) => line)
        .join('\n'),
    );
  }
  for (const accept of ['text/event-stream;q=0', 'application/json, text/event-stream;q=0.9']) {
    const plain = await send('POST', paths.build('javascript'), { ...editor, ...text, accept }, '');
    assert.match(plain.headers['content-type'] ?? '', /json/, accept);
  }
});

test('a stream forbids caches and proxies to keep or change it, and says when its connection ends with it', async (t) => {
  const { send, paths, editor } = await startPlugin(t);
  for (const [connection, after] of [
    ['close', 'close'],
    ['keep-alive', 'keep-alive'],
  ] as const) {
    const headers = { ...editor, ...text, accept: 'text/event-stream', connection };
    const response = await send('POST', paths.build('javascript'), headers, running('return "";'));
    assert.equal(response.headers['cache-control'], 'no-store, no-transform');
    assert.equal(response.headers['x-accel-buffering'], 'no');
    assert.equal(response.headers.connection, after);
  }
});

test('a log event arrives before the build has ended', async (t) => {
  const release = Promise.withResolvers<void>();
  const { builds } = sharedToolProcesses();
  const build = builds.build.bind(builds);
  t.mock.method(builds, 'build', (...args: Parameters<typeof build>) =>
    release.promise.then(() => build(...args)),
  );
  const { port, paths, editor } = await startPlugin(t);
  const response = await fetch(`http://127.0.0.1:${port}${paths.build('javascript')}`, {
    method: 'POST',
    headers: { ...editor, ...text, accept: 'text/event-stream' },
    body: running('return input;'),
  });
  const parts: string[] = [];
  for await (const part of (response.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
    parts.push(part);
    release.resolve();
  }
  assert.match(parts[0] ?? '', /^event: log\n/);
  assert.doesNotMatch(parts[0] ?? '', /event: result/);
  assert.match(parts.join(''), /event: result\ndata: \{"succeeded":true/);
});

test('an unread stream takes little memory, and loses its connection after a while', async (t) => {
  const event = 'x'.repeat(2 ** 20);
  let taken = 0;
  const done = Promise.withResolvers<void>();
  const app = new Hono().get('/', (c) =>
    eventStream(
      c,
      async (send) => {
        const { socket } = (c.env as HttpBindings).incoming;
        for (let i = 0; i < 200; i++) {
          await send('log', event);
          if (!socket.destroyed) taken += 1;
        }
        done.resolve();
      },
      500,
    ),
  );
  const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' });
  t.after(() => server.close());
  await once(server, 'listening');
  const connections = once(server, 'connection') as Promise<[Socket]>;
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  t.after(() => client.destroy());
  client.on('error', () => {});
  client.pause();
  client.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n');
  const [connection] = await connections;
  await once(connection, 'close');
  assert.ok(taken < 100, `${taken} MiB were taken from the work`);
  // The work is not kept waiting for a client that is gone.
  await done.promise;
});

test('a long event is sent in pieces, and counts as unsent until its client has taken them', async () => {
  const event = 'ä'.repeat(2 ** 20);
  let unsent = 0;
  const holdUnsent = (bytes: number) => {
    unsent += bytes;
    return () => (unsent -= bytes);
  };
  const app = new Hono().get('/', (c) => eventStream(c, (send) => send('result', event)));
  const { body } = await app.request('/', {}, { outgoing: { held: { holdUnsent } } });
  const pieces: Uint8Array[] = [];
  const held: number[] = [];
  for await (const piece of body ?? []) {
    pieces.push(piece);
    held.push(unsent);
  }
  assert.equal(Buffer.concat(pieces).toString(), `event: result\ndata: ${event}\n\n`);
  assert.ok(Math.max(...pieces.map(({ byteLength }) => byteLength)) <= 16 * 1024);
  assert.ok(held[0] !== undefined && held[0] > 2 ** 21);
  assert.equal(unsent, 0);
});

test('a stream of rows takes a turn for each part, and leaves the event loop to others between them', async () => {
  let turns = 0;
  let loops = 0;
  const takeTurn = async () => {
    turns += 1;
    return () => void (turns -= 1);
  };
  const parts = 10;
  const app = new Hono().get('/', (c) => {
    c.set('request', { id: 'an-id', responseHeaders: {}, held: { takeTurn } as unknown as Held });
    return textStream(c, 'text/csv', async (write) => {
      for (let i = 0; i < parts; i++) if (turns !== 1 || !(await write(`${i}\n`))) return;
    });
  });
  const count = () => {
    loops += 1;
    next = setImmediate(count);
  };
  let next = setImmediate(count);
  const rows = await (await app.request('/')).text();
  clearImmediate(next);
  assert.equal(rows, '0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n');
  assert.ok(loops >= parts, `${loops} turns of the event loop`);
  assert.equal(turns, 0);
});

for (const [thrown, status, code] of [
  [new StorageFullError(0.2, 0.1), 403, 'storage-full'],
  [new StorageUnavailableError(new Error('full'), { isDiskFull: true }), 503, 'storage-unavailable'],
  [new BusyError('service'), 503, 'busy'],
] as const) {
  test(`a stream whose build ends with ${code} says so in its last event`, async () => {
    const app = new Hono().get('/', (c) => {
      c.set('request', { id: 'an-id', responseHeaders: {} });
      return eventStream(c, async (send) => {
        await send('log', 'begun');
        throw thrown;
      });
    });
    const streamed = await (await app.request('/')).text();
    const [, , type, data = ''] =
      /^event: (log)\ndata: (begun)\n\nevent: (\w+)\ndata: (.+)\n\n$/.exec(streamed)?.slice(1) ??
      assert.fail(streamed);
    const { error, ...rest } = JSON.parse(data) as { error: { code: string; requestId: string } };
    assert.deepEqual([type, rest, error.code, error.requestId], ['error', { status }, code, 'an-id']);
  });
}

test('a list that is broken off has the code of the error in the information on its request', async () => {
  const request: RequestInfo = { id: 'an-id', responseHeaders: {} };
  const app = new Hono().get('/', (c) => {
    c.set('request', request);
    return textStream(c, 'text/csv', () => Promise.reject(new StorageUnavailableError(new Error('lost'))));
  });
  await (await app.request('/')).text();
  assert.equal(request.errorCode, 'storage-unavailable');
});

test('a stream whose build fails unexpectedly is cut off, so that nobody takes it for complete', async (t) => {
  const app = new Hono().get('/', (c) => {
    c.set('request', { id: 'an-id', responseHeaders: {} });
    return eventStream(c, async (send) => {
      await send('log', 'begun');
      throw new Error('It failed.');
    });
  });
  const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' });
  t.after(() => server.close());
  await once(server, 'listening');
  const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  await assert.rejects(response.text());
});

test('a fault that cuts off a streamed build is logged', async (t) => {
  const { port, paths, editor, address, errors } = await startPlugin(t);
  const build = () =>
    fetch(`http://127.0.0.1:${port}${paths.build('javascript')}`, {
      method: 'POST',
      headers: { ...editor, ...text, accept: 'text/event-stream' },
      body: running('return "";'),
    });
  assert.match(await (await build()).text(), /event: result/);
  await (await openForInspection(t, address)).schema.dropTable('builds').execute();
  // Whether or not the beginning of the response has been sent by then.
  await assert.rejects(build().then((response) => response.text()));
  const [fault, ...others] = errors;
  assert.match(String(fault), /builds/);
  assert.deepEqual(others, []);
});
