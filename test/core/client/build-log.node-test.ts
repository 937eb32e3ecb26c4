import assert from 'node:assert/strict';
import { type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { BuilderClient, type BuilderClientOptions } from '../../../src/client.ts';
import { readEvents } from '../../../src/core/client/event-stream.ts';

const LOCATION = { environment: 'com.acme', userID: 'c', pluginName: 'p', language: 'javascript' };
const RESULT = { succeeded: true, outputLog: 'one\ntwo', more: 1 };

/** A builder whose only response the test writes piece by piece. */
async function startBuilder(
  options: Partial<BuilderClientOptions> = {},
  type = 'text/event-stream; charset=utf-8',
) {
  const responded = Promise.withResolvers<ServerResponse>();
  const accepted: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    accepted.push(request.headers.accept);
    request.resume();
    response.writeHead(200, { 'content-type': type });
    response.flushHeaders();
    responded.resolve(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    client: new BuilderClient({ baseUrl: `http://127.0.0.1:${port}`, token: 't', ...options }),
    response: responded.promise,
    accepted,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

describe('build with onLog', () => {
  test('passes each line on as it comes, and resolves with the result', async () => {
    await using at = await startBuilder();
    const lines: string[] = [];
    let logged = Promise.withResolvers<void>();
    const built = at.client.build(LOCATION, 'x', {
      onLog: (line) => {
        lines.push(line);
        logged.resolve();
      },
    });
    const response = await at.response;
    response.write('event: log\ndata: one\n\n');
    await logged.promise;
    assert.deepEqual(lines, ['one']);
    logged = Promise.withResolvers();
    response.write('event: log\ndata: two\n\n');
    await logged.promise;
    response.end(`event: result\ndata: ${JSON.stringify(RESULT)}\n\n`);
    assert.deepEqual(await built, RESULT);
    assert.deepEqual(lines, ['one', 'two']);
    assert.deepEqual(at.accepted, ['text/event-stream']);
  });

  test('resolves with the result while the connection stays open, and then closes it', async () => {
    await using at = await startBuilder();
    const built = at.client.build(LOCATION, 'x', { onLog: () => undefined });
    const response = await at.response;
    const closed = new Promise((resolve) => response.once('close', resolve));
    response.write(`event: result\ndata: ${JSON.stringify(RESULT)}\n\n`);
    assert.deepEqual(await built, RESULT);
    await closed;
  });

  test('reads a stream whose content type is in another case', async () => {
    await using at = await startBuilder({}, 'Text/Event-Stream');
    const built = at.client.build(LOCATION, 'x', { onLog: () => undefined });
    (await at.response).end(`event: result\ndata: ${JSON.stringify(RESULT)}\n\n`);
    assert.deepEqual(await built, RESULT);
  });

  test('accepts a JSON response from a builder that does not stream', async () => {
    await using at = await startBuilder({}, 'application/json');
    const built = at.client.build(LOCATION, 'x', { onLog: () => assert.fail('there is nothing to tell') });
    (await at.response).end(JSON.stringify(RESULT));
    assert.deepEqual(await built, RESULT);
  });

  for (const [name, text, expected] of [
    [
      'ends without a result',
      'event: log\ndata: a\n\n',
      { name: 'SchemaError', message: /without a result$/ },
    ],
    [
      'breaks off within the result',
      'event: result\ndata: {"succ',
      { name: 'SchemaError', message: /without a result$/ },
    ],
    [
      'has a result that is not JSON',
      'event: result\ndata: {"secret\n\n',
      { name: 'SchemaError', message: /not JSON$/ },
    ],
    [
      'has a result of another shape',
      'event: result\ndata: {"succeeded":1}\n\n',
      { name: 'SchemaError', path: 'succeeded' },
    ],
    [
      'ends with an error',
      'event: log\ndata: a\n\nevent: error\ndata: {"status":403,"error":{"code":"storage-full","message":"It is full.","requestId":"id-1"}}\n\n',
      { name: 'HttpError', status: 403, code: 'storage-full', detail: 'It is full.', requestId: 'id-1' },
    ],
    [
      'ends with an error without a status',
      'event: error\ndata: {"error":{"code":"storage-full"}}\n\n',
      { name: 'SchemaError', path: 'status' },
    ],
    [
      'ends with an error that repeats the token',
      'event: error\ndata: {"status":503,"error":{"code":"busy","message":"pe_edit_secret is wrong"}}\n\n',
      { name: 'HttpError', status: 503, detail: /^(?!.*pe_edit_secret).* is wrong$/ },
    ],
  ] as const) {
    test(`rejects a stream that ${name}`, async () => {
      await using at = await startBuilder({ token: 'pe_edit_secret' });
      const built = at.client.build(LOCATION, 'x', { onLog: () => undefined });
      (await at.response).end(text);
      await assert.rejects(built, expected);
    });
  }

  test('rejects with a NetworkError when the connection is lost', async () => {
    await using at = await startBuilder();
    const logged = Promise.withResolvers<void>();
    const built = at.client.build(LOCATION, 'x', { onLog: () => logged.resolve() });
    const response = await at.response;
    response.write('event: log\ndata: a\n\n');
    await logged.promise;
    response.destroy();
    await assert.rejects(built, { name: 'NetworkError', attempts: 1 });
  });

  test('rejects with what onLog throws, and sends the build once, whatever retry says', async (t) => {
    let requests = 0;
    await using at = await startBuilder({
      retry: 2,
      fetch: (...args) => {
        requests++;
        return fetch(...args);
      },
    });
    // Before the request sets its time limit: a timer of the system would not be cleared, and keep the process for a minute.
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const mine = new Error('the console is full');
    const built = at.client.build(LOCATION, 'x', {
      onLog: () => {
        throw mine;
      },
    });
    const response = await at.response;
    response.end(`event: log\ndata: a\n\nevent: result\ndata: ${JSON.stringify(RESULT)}\n\n`);
    await assert.rejects(built, mine);
    for (let i = 0; i < 20; i++) {
      await new Promise((resolve) => setImmediate(resolve));
      t.mock.timers.tick(60_000);
    }
    assert.equal(requests, 1);
  });

  test('stops in the middle of the stream when the signal aborts', async () => {
    await using at = await startBuilder();
    const controller = new AbortController();
    const built = at.client.build(LOCATION, 'x', {
      signal: controller.signal,
      onLog: () => controller.abort(new Error('enough')),
    });
    const response = await at.response;
    const closed = new Promise((resolve) => response.once('close', resolve));
    response.write('event: log\ndata: a\n\n');
    await assert.rejects(built, { message: 'enough' });
    await closed;
  });

  test('times out after a minute by default, or after `timeout`', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const build = (options: Partial<BuilderClientOptions>, ms: number) =>
      new BuilderClient({
        baseUrl: 'http://127.0.0.1',
        token: 't',
        fetch: () => {
          queueMicrotask(() => t.mock.timers.tick(ms));
          return new Promise(() => undefined);
        },
        ...options,
      }).build(LOCATION, 'x');
    await assert.rejects(build({}, 60_000), { name: 'TimeoutError', message: / 60000 ms$/ });
    await assert.rejects(build({ timeout: 70 }, 70), { name: 'TimeoutError', message: / 70 ms$/ });
  });
});

/** The events of a stream whose bytes arrive in chunks of these lengths, repeatedly. */
async function eventsOf(text: string, lengths: readonly number[]): Promise<[string, string][]> {
  const bytes = new TextEncoder().encode(text);
  let at = 0;
  let turn = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (at >= bytes.length) return controller.close();
      const length = lengths[turn++ % lengths.length] as number;
      controller.enqueue(bytes.slice(at, (at += length)));
    },
  });
  const events: [string, string][] = [];
  for await (const { type, data } of readEvents(body, 'GET here')) events.push([type, data]);
  return events;
}

describe('an event stream', () => {
  for (const [name, text, expected] of [
    ['an event with its type', 'event: log\ndata: a\n\n', [['log', 'a']]],
    ['one without a type', 'data: a\n\n', [['', 'a']]],
    ['several lines of data', 'data: a\ndata:b\ndata:  c\ndata\n\n', [['', 'a\nb\n c\n']]],
    ['comments and other fields', ': hi\nid: 7\nretry: 1\nnonsense\ndata: a\n\n', [['', 'a']]],
    ['an event without data, whose type is forgotten', 'event: log\n\ndata: a\n\n', [['', 'a']]],
    ['colons in data', 'data: a: b:c\n\n', [['', 'a: b:c']]],
    ['an event that has not ended', 'data: a\n\ndata: b\n', [['', 'a']]],
    ['a byte order mark', '\ufeffdata: a\n\n', [['', 'a']]],
    ['nothing', '', []],
  ] as [string, string, [string, string][]][]) {
    test(`parses ${name} with every kind of line ending`, async () => {
      for (const end of ['\n', '\r\n', '\r']) {
        for (const length of [1, 2, 1000]) {
          assert.deepEqual(
            await eventsOf(text.replaceAll('\n', end), [length]),
            expected,
            JSON.stringify([end, length]),
          );
        }
      }
    });
  }

  test('parses to the same events however its bytes are split into chunks', async () => {
    const line = fc.string({ unit: 'binary', maxLength: 12 }).map((text) => text.replaceAll(/[\r\n\0]/g, ''));
    const event = fc.record({
      type: fc.constantFrom('log', 'result', 'other'),
      data: fc.array(line, { minLength: 1, maxLength: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(event, { maxLength: 5 }),
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 }),
        fc.constantFrom('\n', '\r\n', '\r'),
        async (events, lengths, end) => {
          const written = events.map(({ type, data }) =>
            [`event: ${type}`, ...data.map((one) => `data: ${one}`), '', ''].join(end),
          );
          // The decoder drops a byte order mark at the beginning, where these streams always have a type.
          const read = await eventsOf(written.join(''), lengths);
          assert.deepEqual(
            read,
            events.map(({ type, data }) => [type, data.join('\n')]),
          );
        },
      ),
    );
  });

  test('keeps the empty line after a line end that is divided between two parts', async () => {
    const text = 'data: a\r\n\ndata: b\n\n';
    assert.deepEqual(await eventsOf(text, [8, 1, 100]), [
      ['', 'a'],
      ['', 'b'],
    ]);
  });

  /** The same part again and again. */
  const endless = (part: string) => {
    const bytes = new TextEncoder().encode(part);
    return new ReadableStream<Uint8Array>({ pull: (controller) => controller.enqueue(bytes) });
  };

  test('may be longer than 8 MiB', async () => {
    let length = 0;
    for await (const { data } of readEvents(endless(`data: ${'x'.repeat(65_536)}\n\n`), '')) {
      if ((length += data.length) > 10 * 2 ** 20) break;
    }
  });

  for (const [name, part] of [
    ['one line', 'data: x'.repeat(8192)],
    ['many lines', `data: ${'x'.repeat(65_536)}\n`],
  ] as const) {
    test(`is rejected for an event of more than 8 MiB in ${name}`, async () => {
      await assert.rejects(readEvents(endless(part), 'GET here').next(), {
        name: 'SchemaError',
        message: /an event larger than 8388608 bytes$/,
      });
    });
  }
});
