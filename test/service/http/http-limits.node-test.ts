import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Server } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import type { TestContext } from 'node:test';
import { errorResponse } from '../../../service/src/http/errors.ts';
import { httpLimits } from '../../../service/src/http/http-limits.ts';
import type { HttpLimits } from '../../../service/src/http/http-limits.ts';
import { createHttpServer } from '../../../service/src/http/http-server.ts';
import { listen as listenOnLoopback } from '../../../service/src/http/listen.ts';
import { bearer, draftPath, listen } from '../harness.ts';

const refuse = (error: unknown) => errorResponse(error, 'an-id');
const mebibyte = 1024 * 1024;

/** How often the server looks for connections past their limits, in ms: so often that a test can wait for it. */
const short = { connectionsCheckingInterval: 20 };

/** A limit, in ms, that a request and its response keep on a busy machine, too; and a time that is surely past it. */
const LIMIT = 1500;
const PAST_LIMIT = 2 * LIMIT;

/** A server that answers everything with this. */
async function serve(
  t: TestContext,
  limits: Partial<HttpLimits>,
  respond: () => Response | Promise<Response>,
) {
  const server = createHttpServer({ fetch: respond, refuse }, limits);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, server };
}

/** Opens a connection and sends this. */
async function open(t: TestContext, port: number, sent = ''): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  t.after(() => socket.destroy());
  await once(socket, 'connect');
  if (sent) socket.write(sent);
  return socket;
}

/** Opens a connection, and returns both ends of it. */
async function openBoth(
  t: TestContext,
  server: Server,
  sent = '',
): Promise<{ client: Socket; served: Socket }> {
  const { port } = server.address() as AddressInfo;
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  const client = await open(t, port, sent);
  // The server resets it while something is under way.
  client.on('error', () => {});
  const [served] = await accepted;
  return { client, served };
}

const get = 'GET / HTTP/1.1\r\nhost: localhost\r\n\r\n';
const half = 'POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\nhalf';

describe('the HTTP server', () => {
  test('has each limit below the one that encloses it', () => {
    const { headersTimeout, requestTimeout, writeTimeout, responseTimeout, smallBody, unwantedBody } =
      httpLimits;
    assert.ok(headersTimeout <= requestTimeout && writeTimeout < responseTimeout && smallBody < unwantedBody);
  });

  test('closes a connection that sends nothing, or half of its headers', async (t) => {
    const { port } = await serve(t, { ...short, headersTimeout: 100 }, () => new Response('ok'));
    for (const sent of ['', 'GET / HTTP/1.1\r\nhost: loc']) {
      assert.match(await text(await open(t, port, sent)), /^HTTP\/1\.1 408 /);
    }
  });

  test('closes connections with half-sent bodies, at both addresses and however many there are', async (t) => {
    const handler = { fetch: async (request: Request) => new Response(await request.text()), refuse };
    const listening = await listenOnLoopback(handler, 0, 'PORT', { ...short, requestTimeout: 200 });
    t.after(() => listening.close());
    const sockets = await Promise.all(Array.from({ length: 250 }, () => open(t, listening.port, half)));
    for (const received of await Promise.all(sockets.map((socket) => text(socket)))) {
      assert.match(received, /^HTTP\/1\.1 408 /);
    }
  });

  test('closes a connection with a half-sent body after the request was refused and answered', async (t) => {
    const { port } = await listen(t, {}, { ...short, requestTimeout: LIMIT });
    const head = `POST ${draftPath} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncontent-length: 1000000\r\n\r\n`;
    const socket = await open(t, port, `${head}half`);
    const received = await text(socket);
    assert.match(received, /^HTTP\/1\.1 401 [^]*connection: close\r\n[^]*"token-missing"/i);
  });

  test('does not close a connection whose request takes the service long', async (t) => {
    const limits = {
      ...short,
      headersTimeout: LIMIT,
      requestTimeout: LIMIT,
      writeTimeout: LIMIT,
      keepAliveTimeout: LIMIT,
    };
    const { port } = await serve(t, limits, async () => {
      await new Promise((resolve) => setTimeout(resolve, PAST_LIMIT));
      return new Response('late');
    });
    assert.match(await text(await open(t, port, get)), /^HTTP\/1\.1 200 OK[^]*late$/);
  });

  test('does not close a stream of events with long pauses', async (t) => {
    const { port } = await serve(t, { ...short, writeTimeout: LIMIT }, () => {
      const pieces = ['one', 'two'];
      const body = new ReadableStream<Uint8Array>({
        async pull(controller) {
          const piece = pieces.shift();
          if (piece === undefined) return controller.close();
          controller.enqueue(new TextEncoder().encode(piece));
          await new Promise((resolve) => setTimeout(resolve, PAST_LIMIT));
        },
      });
      return new Response(body, { headers: { connection: 'close' } });
    });
    assert.match(await text(await open(t, port, get)), /one[^]*two/);
  });

  test('drops a response that nobody reads, together with its connection', async (t) => {
    // Long enough for the request to come in first.
    const { server } = await serve(t, { writeTimeout: 1000 }, () => new Response('x'.repeat(32 * mebibyte)));
    const { client, served } = await openBoth(t, server);
    client.pause().write(get);
    await once(served, 'close');
    assert.equal(served.bytesRead, get.length);
  });

  test('drops a response that is read too slowly, together with its connection', async (t) => {
    const limits = { writeTimeout: 60_000, responseTimeout: LIMIT };
    const { server } = await serve(t, limits, () => new Response('x'.repeat(64 * mebibyte)));
    const { client, served } = await openBoth(t, server, get);
    let received = 0;
    client.on('data', (part: Buffer) => {
      received += part.length;
      client.pause();
    });
    const reading = setInterval(() => client.resume(), 10);
    t.after(() => clearInterval(reading));
    await once(served, 'close');
    assert.ok(received > 0 && received < 64 * mebibyte);
  });

  test('closes an idle connection', async (t) => {
    const { port } = await serve(t, { keepAliveTimeout: 50 }, () => new Response('ok'));
    assert.match(await text(await open(t, port, get)), /^HTTP\/1\.1 200 OK[^]*ok$/);
  });

  test('closes connections beyond the maximum at once, and accepts new ones when others end', async (t) => {
    const { port, server } = await serve(t, { maxConnections: 2 }, () => new Response('ok'));
    const first = await openBoth(t, server);
    await openBoth(t, server);
    assert.equal(await text(await open(t, port)), '');
    first.client.destroy();
    await once(first.served, 'close');
    const next = await open(t, port, 'GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n');
    assert.match(await text(next), /^HTTP\/1\.1 200 OK/);
  });

  test('reads a small unneeded body to its end, and keeps the connection', async (t) => {
    const answered = Promise.withResolvers<void>();
    const { port } = await serve(t, {}, () => {
      answered.resolve();
      return new Response('no', { status: 401 });
    });
    const socket = await open(t, port, half);
    await answered.promise;
    socket.write(`${'x'.repeat(96)}${get.replace('\r\n\r\n', '\r\nconnection: close\r\n\r\n')}`);
    assert.match(await text(socket), /^HTTP\/1\.1 401 [^]*connection: keep-alive[^]*no[^]*HTTP\/1\.1 401 /i);
  });

  test('receives no more of an endless body than the limit', async (t) => {
    const { server } = await serve(t, { unwantedBody: mebibyte }, () => new Response('no', { status: 401 }));
    const head = 'POST / HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n';
    const { client, served } = await openBoth(t, server, head);
    const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`;
    const pump = () => {
      while (!client.destroyed && client.write(chunk));
    };
    client.on('drain', pump);
    pump();
    await once(served, 'close');
    // What was under way in the system's buffers comes on top.
    assert.ok(served.bytesRead >= mebibyte && served.bytesRead < 16 * mebibyte, `${served.bytesRead} bytes`);
  });

  test('answers a HEAD request with an unneeded body by headers alone', async (t) => {
    const { port, environmentToken } = await listen(t);
    const { authorization } = bearer(await environmentToken());
    const head = `HEAD ${draftPath} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nauthorization: ${authorization}\r\n`;
    const socket = await open(t, port, `${head}content-length: 3000000\r\n\r\n`);
    socket.write(Buffer.alloc(3_000_000));
    assert.match(await text(socket), /^HTTP\/1\.1 401 [^\n]*\r\n(?:[\w-]+: .*\r\n)+\r\n$/);
  });
});
