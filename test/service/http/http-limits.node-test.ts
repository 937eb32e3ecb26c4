import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Server } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import type { TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { errorResponse } from '../../../service/src/http/errors.ts';
import { httpLimits } from '../../../service/src/http/admission.ts';
import type { HttpLimits } from '../../../service/src/http/admission.ts';
import { createHttpServer } from '../../../service/src/http/http-server.ts';
import type { ServiceBindings } from '../../../service/src/http/http-server.ts';
import { findFreePort, listen as listenOnLoopback } from '../../../service/src/http/listen.ts';
import type { Transfer } from '../../../service/src/http/pace.ts';
import type { ServiceResponse } from '../../../service/src/http/response.ts';
import type { Held } from '../../../service/src/http/shares.ts';
import { toBlockList } from '../../../service/src/settings/setting-kinds.ts';
import { until } from '../../support/until.ts';
import { bearer, draftPath, listen } from '../harness.ts';

const refuse = (error: unknown) => errorResponse(error, 'an-id');
const mebibyte = 1024 * 1024;

/** How often the server looks for connections past their limits, in ms: so often that a test can wait for it. */
const short = { connectionsCheckingInterval: 20 };

/** A limit, in ms, that a request and its response keep on a busy machine, too; and a time that is surely past it. */
const LIMIT = 1500;
const PAST_LIMIT = 2 * LIMIT;

async function begin(t: TestContext, server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** A server that answers everything with this. */
async function serve(
  t: TestContext,
  limits: Partial<HttpLimits>,
  respond: (request: Request) => Response | Promise<Response>,
) {
  const { server } = createHttpServer({ fetch: respond, refuse }, { limits });
  return { port: await begin(t, server), server };
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
  // The server resets it while a request is pending.
  client.on('error', () => {});
  const [served] = await accepted;
  return { client, served };
}

const get = 'GET / HTTP/1.1\r\nhost: localhost\r\n\r\n';
const last = 'GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n';
const half = 'POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\nhalf';

describe('the HTTP server', () => {
  test('closes a connection that sends nothing, or half of its headers', async (t) => {
    const { port } = await serve(t, { ...short, headersTimeout: 100 }, () => new Response('ok'));
    for (const sent of ['', 'GET / HTTP/1.1\r\nhost: loc']) {
      assert.match(await text(await open(t, port, sent)), /^HTTP\/1\.1 408 /);
    }
  });

  test('counts no time in which the process did not run as that of a client’s headers', async (t) => {
    const { port, server } = await serve(t, { ...short, headersTimeout: 100 }, () => new Response('ok'));
    server.on('connection', () => {
      // As on a machine that has much else to do: the request has arrived and is read when the limit has passed.
      const end = performance.now() + 300;
      while (performance.now() < end);
    });
    assert.match(await text(await open(t, port, last)), /^HTTP\/1\.1 200 OK/);
  });

  test('closes connections with half-sent bodies, at both addresses and however many there are', async (t) => {
    const handler = { fetch: async (request: Request) => new Response(await request.text()), refuse };
    const listening = await listenOnLoopback(handler, 0, 'PORT', {
      limits: { ...short, requestTimeout: 200 },
    });
    t.after(() => listening.close());
    const sockets = await Promise.all(Array.from({ length: 250 }, () => open(t, listening.port, half)));
    for (const received of await Promise.all(sockets.map((socket) => text(socket)))) {
      assert.match(received, /^HTTP\/1\.1 408 /);
    }
  });

  test('of several processes gives up as many connections as it is told, and counts those with requests', async (t) => {
    const port = await findFreePort(0, 'PORT');
    const handler = { fetch: () => new Response('ok'), refuse };
    const listening = await listenOnLoopback(handler, port, 'PORT', { isShared: true });
    t.after(() => listening.close());
    listening.balance?.giveUp(1);
    const answers: (number | undefined)[] = [];
    for (let i = 0; i < 2; i++) {
      const received = await text(await open(t, port, get + last));
      answers.push(received.match(/HTTP\/1\.1 200 /g)?.length);
    }
    assert.deepEqual(answers, [1, 2]);
    assert.deepEqual([listening.balance?.takeActive(), listening.balance?.takeActive()], [2, 0]);
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
      paceTime: LIMIT,
      keepAliveTimeout: LIMIT,
      idleTimeout: LIMIT,
    };
    const { port } = await serve(t, limits, async () => {
      await new Promise((resolve) => setTimeout(resolve, PAST_LIMIT));
      return new Response('late');
    });
    assert.match(await text(await open(t, port, get)), /^HTTP\/1\.1 200 OK[^]*late$/);
  });

  test('does not close a stream of events with long pauses', async (t) => {
    const { port } = await serve(t, { ...short, paceTime: 100 }, () => {
      const pieces = ['one', 'two'];
      const body = new ReadableStream<Uint8Array>({
        async pull(controller) {
          const piece = pieces.shift();
          if (piece === undefined) return controller.close();
          controller.enqueue(new TextEncoder().encode(piece));
          await new Promise((resolve) => setTimeout(resolve, 400));
        },
      });
      return new Response(body, { headers: { connection: 'close' } });
    });
    assert.match(await text(await open(t, port, get)), /one[^]*two/);
  });

  test('drops a response that is not read, together with its connection', async (t) => {
    const { server } = await serve(t, { paceTime: 200 }, () => new Response('x'.repeat(32 * mebibyte)));
    const { client, served } = await openBoth(t, server);
    client.pause().write(get);
    await once(served, 'close');
    assert.equal(served.bytesRead, get.length);
  });

  test('drops a response that is read too slowly, together with its connection', async (t) => {
    const limits = { paceTime: 200, paceBytes: 16 * mebibyte };
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

  test('sees how much of a response the system has taken while it waits for the client', async (t) => {
    const watched = Promise.withResolvers<Transfer>();
    const long = 32 * mebibyte;
    const fetch = async (_: Request, env: object) => {
      const { outgoing, pace } = env as ServiceBindings;
      t.mock.method(pace, 'watch', (transfer: Transfer) => {
        watched.resolve(transfer);
        return () => {};
      });
      outgoing.write('x'.repeat(long));
      return new Promise<never>(() => {});
    };
    const { server } = createHttpServer({ fetch, refuse });
    await begin(t, server);
    const { client } = await openBoth(t, server);
    client.pause().write(get);
    const transfer = await watched.promise;
    await until('it has taken some', () => transfer.moved > 0);
    assert.ok(transfer.moved < long, `${transfer.moved} bytes`);
    client.resume();
    await until('it has taken all', () => transfer.moved > long);
  });

  test('holds nothing for a client that leaves before its response is written', async (t) => {
    const held = new Set<object>();
    const hold = () => {
      const one = {};
      held.add(one);
      return () => void held.delete(one);
    };
    const written = Promise.withResolvers<void>();
    const fetch = async (_: Request, env: object) => {
      const { outgoing, pace } = env as ServiceBindings & { outgoing: ServiceResponse };
      t.mock.method(pace, 'watch', hold);
      outgoing.held = { holdUnsent: hold } as unknown as Held;
      const closed = once(outgoing, 'close');
      client.destroy();
      await closed;
      const long = 'x'.repeat(mebibyte);
      outgoing.write(long);
      outgoing.end(long);
      written.resolve();
      return new Promise<never>(() => {});
    };
    const { server } = createHttpServer({ fetch, refuse });
    await begin(t, server);
    const { client } = await openBoth(t, server);
    client.write(get);
    await written.promise;
    await nextTurn();
    assert.equal(held.size, 0);
  });

  test('sends a long response whole to a client that keeps the pace', async (t) => {
    const { port } = await serve(
      t,
      {},
      () => new Response('ä'.repeat(4 * mebibyte), { headers: { connection: 'close' } }),
    );
    const [, body = ''] = (await text(await open(t, port, get))).split('\r\n\r\n');
    assert.ok(body === 'ä'.repeat(4 * mebibyte));
  });

  test('refuses a body that comes too slowly with 408', async (t) => {
    const { port, editorToken } = await listen(t, {}, { paceTime: 200 });
    const { authorization } = bearer(await editorToken());
    const head = `POST ${draftPath} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nauthorization: ${authorization}\r\n`;
    const socket = await open(
      t,
      port,
      `${head}content-type: application/json\r\ncontent-length: 1000000\r\n\r\n{`,
    );
    assert.match(await text(socket), /^HTTP\/1\.1 408 [^]*"request-timeout"/);
  });

  test('handles requests that were sent at once one after the other, and none after a connection has to close', async (t) => {
    let [underWay, most, handled] = [0, 0, 0];
    const { port } = await serve(t, {}, async () => {
      most = Math.max(most, ++underWay);
      await new Promise((resolve) => setTimeout(resolve, 1));
      underWay -= 1;
      return new Response(`number ${++handled};`, handled === 40 ? { headers: { connection: 'close' } } : {});
    });
    const received = await text(await open(t, port, get.repeat(300)));
    const expected = Array.from({ length: 40 }, (_, i) => `number ${i + 1};`).join('');
    assert.equal(received.match(/number \d+;/g)?.join(''), expected);
    assert.deepEqual([most, handled], [1, 40]);
  });

  test('parses one request at a time where its headers come in parts', async (t) => {
    let [parsed, handled, most] = [0, 0, 0];
    const { server } = await serve(t, {}, async (request) => {
      await request.text();
      handled += 1;
      most = Math.max(most, parsed - handled);
      return new Response('ok');
    });
    server.on('request', () => (parsed += 1));
    const head = 'POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 8000\r\n\r\n';
    const rest = `${'x'.repeat(8000)}${get.repeat(100)}${last}`;
    for (const cut of [1, 2, 3]) {
      const { client, served } = await openBoth(t, server, head.slice(0, -cut));
      await until('the first part is read', () => served.bytesRead === head.length - cut);
      client.write(head.slice(-cut) + rest);
      await text(client);
    }
    assert.deepEqual([handled, most], [3 * 102, 0]);
  });

  test('lets the event loop go on between requests that were sent at once', async (t) => {
    let handled = 0;
    let hasGoneOn = true;
    const { port } = await serve(t, {}, () => {
      handled += 1;
      if (!hasGoneOn) return new Response('at once', { headers: { connection: 'close' } });
      hasGoneOn = false;
      setImmediate(() => (hasGoneOn = true));
      return new Response('in turn');
    });
    const received = await text(await open(t, port, get.repeat(20) + last));
    assert.doesNotMatch(received, /at once/);
    assert.equal(handled, 21);
  });

  test('starts no further request while a response is not taken', async (t) => {
    let handled = 0;
    const { port, server } = await serve(t, { paceTime: 500 }, () => {
      handled += 1;
      return new Response('x'.repeat(16 * mebibyte));
    });
    const accepted = once(server, 'connection') as Promise<[Socket]>;
    const client = await open(t, port, get.repeat(100));
    client.on('error', () => {}).pause();
    await once((await accepted)[0], 'close');
    assert.equal(handled, 1);
  });

  test('gets no more of a packet than it can parse in one go, and others have their turn', async (t) => {
    const { port } = await serve(t, {}, async (request) => new Response(`${(await request.text()).length}`));
    const head =
      'POST / HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n';
    const socket = await open(t, port, `${head}${'1\r\nx\r\n'.repeat(100_000)}0\r\n\r\n`);
    assert.match(await text(socket), /\r\n\r\n100000$/);
  });

  test('closes an idle connection', async (t) => {
    const { port } = await serve(t, { keepAliveTimeout: 50, idleTimeout: 100 }, () => new Response('ok'));
    assert.match(await text(await open(t, port, get)), /^HTTP\/1\.1 200 OK[^]*ok$/);
  });

  test('keeps an idle connection for longer than the minute that proxies do, and tells clients less', async (t) => {
    const { server } = await serve(t, {}, () => new Response('ok'));
    const { client, served } = await openBoth(t, server, get);
    let received = '';
    client.setEncoding('utf8').on('data', (part: string) => (received += part));
    await until('the connection is idle', () => received.endsWith('ok') && served.timeout !== 0);
    assert.match(received, /\r\nkeep-alive: timeout=5\r\n/i);
    assert.equal(served.timeout, 65_000);
  });

  test('closes the connection that has waited longest for its client, past the maximum', async (t) => {
    const { server, port } = await serve(t, { maxConnections: 2 }, () => new Response('ok'));
    const first = await openBoth(t, server, half);
    const second = await openBoth(t, server);
    const closed = once(first.served, 'close');
    assert.match(await text(await open(t, port, last)), /^HTTP\/1\.1 200 OK/);
    await closed;
    assert.equal(second.served.destroyed, false);
  });

  test('counts no connection that ended during its request', async (t) => {
    const { server } = await serve(t, { maxConnections: 2 }, () => new Promise(() => {}));
    const gone = await openBoth(t, server, get);
    await once(server, 'request');
    const closed = once(gone.served, 'close');
    gone.client.destroy();
    await closed;
    const first = await openBoth(t, server);
    await openBoth(t, server);
    await openBoth(t, server);
    assert.equal(first.served.destroyed, true);
  });

  test('closes no connection whose request is handled, and refuses a new one if there is no other', async (t) => {
    const released = Promise.withResolvers<void>();
    let handled = 0;
    const { server, port } = await serve(t, { maxConnections: 2 }, async () => {
      handled += 1;
      await released.promise;
      return new Response('ok');
    });
    const busy = [await openBoth(t, server, last), await openBoth(t, server, last)];
    await until('both are handled', () => handled === 2);
    assert.equal(await text(await open(t, port)), '');
    released.resolve();
    for (const { client } of busy) assert.match(await text(client), /^HTTP\/1\.1 200 OK/);
  });

  test('shares connections between the clients that a trusted proxy names', async (t) => {
    const handler = { fetch: () => new Response('ok'), refuse, trustedProxies: toBlockList(['127.0.0.1']) };
    const { server } = createHttpServer(handler, { limits: { maxConnections: 4 } });
    await begin(t, server);
    const from = (address: string) =>
      openBoth(t, server, half.replace('content', `x-forwarded-for: ${address}\r\ncontent`));
    const idle = await openBoth(t, server);
    const victim = await from('2001:db8:1:2::1');
    const attackers = [await from('2001:db8:1:3::1'), await from('2001:db8:1:3::2')];
    await until('their requests have begun', () =>
      [victim, ...attackers].every(({ served }) => served.bytesRead > 0),
    );
    const closed = once(attackers[0]?.served ?? assert.fail(), 'close');
    const next = await from('2001:db8:1:4::1');
    await closed;
    for (const { served } of [idle, victim, next]) assert.equal(served.destroyed, false);
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

  const endless = 'POST / HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n';
  const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`;

  /** Sends chunks of a body until the connection is closed. */
  const pumpInto = async (client: Socket, served: Socket) => {
    const pump = () => {
      while (!client.destroyed && client.write(chunk));
    };
    client.on('drain', pump);
    pump();
    // A reset connection is closed, too.
    await new Promise((resolve) => served.once('close', resolve));
  };

  test('receives no more of an endless body than the limit', async (t) => {
    const { server } = await serve(t, { unwantedBody: mebibyte }, () => new Response('no', { status: 401 }));
    const { client, served } = await openBoth(t, server, endless);
    await pumpInto(client, served);
    // What was in the buffers of the system comes on top.
    assert.ok(served.bytesRead >= mebibyte && served.bytesRead < 16 * mebibyte, `${served.bytesRead} bytes`);
  });

  test('receives little of an endless body while one of the same network is discarded', async (t) => {
    // The first one sends nothing for as long as the other one does.
    const limits = { paceTime: 60_000, requestTimeout: 120_000 };
    const { server } = await serve(t, limits, () => new Response('no', { status: 401 }));
    const first = await openBoth(t, server, endless);
    await once(first.client, 'data');
    const { client, served } = await openBoth(t, server, endless);
    await pumpInto(client, served);
    assert.ok(served.bytesRead < 16 * mebibyte, `${served.bytesRead} bytes`);
    assert.equal(first.served.destroyed, false);
    first.client.end('0\r\n\r\n');
    await once(first.served, 'close');
    const next = await openBoth(t, server, endless);
    await pumpInto(next.client, next.served);
    assert.ok(next.served.bytesRead >= httpLimits.unwantedBody, `${next.served.bytesRead} bytes`);
  });

  test('receives little of a body that comes past the rate of its address', async (t) => {
    const { port } = await listen(t, { rates: { addressRequests: 1 } });
    const head = endless.replace('localhost', `127.0.0.1:${port}`);
    assert.match(await text(await open(t, port, last.replace('localhost', `127.0.0.1:${port}`))), / 404 /);
    const client = await open(t, port, head);
    client.on('error', () => {});
    const [refusal] = (await once(client, 'data')) as [Buffer];
    assert.match(refusal.toString(), /^HTTP\/1\.1 429 /);
    await pumpInto(client, client);
    assert.ok(client.bytesWritten < 24 * mebibyte, `${client.bytesWritten} bytes`);
  });

  test(
    'accepts a crowd of connections in few turns of the event loop',
    { skip: process.platform !== 'linux' && 'ports are shared between sockets on Linux' },
    async (t) => {
      const handled: Request[] = [];
      const fetch = (request: Request) => {
        handled.push(request);
        return new Response('ok');
      };
      const server = await listenOnLoopback({ fetch, refuse }, 0, 'SERVICE_PORT');
      t.after(server.close);
      const clients = Array.from({ length: 320 }, () => connect(server.port, '127.0.0.1'));
      t.after(() => clients.forEach((one) => one.destroy()));
      // Connects are done once they are called, so that all of them wait to be accepted.
      for (const one of clients) one.on('error', () => {}).write(get);
      let turns = 0;
      while (handled.length < clients.length) {
        turns += 1;
        await nextTurn();
      }
      assert.ok(turns < clients.length / 2, `${turns} turns`);
    },
  );

  test('starts few requests of one network before that of another', async (t) => {
    const order: string[] = [];
    const fetch = (request: Request) => {
      order.push(request.headers.get('x-forwarded-for') ?? '');
      return new Response('ok');
    };
    const { server } = createHttpServer({ fetch, refuse, trustedProxies: toBlockList(['127.0.0.1']) });
    await begin(t, server);
    const clients: Socket[] = [];
    for (let i = 0; i < 40; i++) clients.push((await openBoth(t, server)).client);
    const from = (address: string) => last.replace('host:', `x-forwarded-for: ${address}\r\nhost:`);
    const [other, ...crowd] = clients;
    // All have arrived when the server looks.
    for (const one of crowd) one.write(from('203.0.113.5'));
    other?.write(from('198.51.100.7'));
    await until('all are handled', () => order.length === clients.length);
    assert.ok(order.indexOf('198.51.100.7') <= 8, order.join(' '));
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
