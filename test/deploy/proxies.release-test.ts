import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, RequestListener } from 'node:http';
import { connect } from 'node:http2';
import { request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { after, afterEach, before, describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { createDatabase } from '../postgres/databases.ts';
import type { TestDatabase } from '../postgres/databases.ts';
import { Connection } from '../support/connection.ts';
import { program } from '../soak/programs.ts';
import { Tally } from '../soak/tally.ts';
import { User } from '../soak/user.ts';
import { createEnvironmentToken, NodeProcess } from '../support/node-process.ts';
import { freePort } from '../support/free-port.ts';
import { startProxy } from './proxies.ts';
import type { Proxy, ProxyName } from './proxies.ts';
import { until } from '../support/until.ts';

/*
 * The published configurations of proxies, run by the proxies themselves with TLS: in front of two nodes on one PostgreSQL, and
 * in front of two servers that a test scripts.
 */

// Their tests wait more than they work.
describe('the published configuration of', { concurrency: 4 }, () => {
  for (const name of ['nginx', 'caddy'] as const satisfies ProxyName[]) {
    describe(`${name}, in front of two nodes`, { concurrency: 1 }, () => {
      let database: TestDatabase;
      let environmentToken: string;
      let nodes: [NodeProcess, NodeProcess];
      let proxy: Proxy;
      const open: Connection[] = [];

      before(async () => {
        const port = await freePort();
        database = await createDatabase(process.env['TEST_DATABASE_TEMPLATE']);
        environmentToken = await createEnvironmentToken(database.url);
        const node = () =>
          new NodeProcess(database.url, {
            // The least that docs/service/deploy/caddy.md asks for.
            DRAIN_SECONDS: '3',
            PUBLIC_URL: `https://localhost:${port}`,
            TRUSTED_PROXIES: '127.0.0.1',
          });
        nodes = [node(), node()];
        await Promise.all(nodes.map((one) => one.start()));
        proxy = await startProxy(name, port, [nodes[0].address, nodes[1].address]);
      });
      afterEach((t) => {
        // Only the proxy says why it failed a request.
        if ('passed' in t && !t.passed && 'diagnostic' in t)
          t.diagnostic(`${name} has printed:\n${proxy?.output()}`);
      });
      after(async () => {
        for (const connection of open) connection.close();
        await proxy?.[Symbol.asyncDispose]();
        for (const node of nodes ?? []) await node[Symbol.asyncDispose]();
        await database?.drop();
      });

      const connected = () => {
        const connection = new Connection(proxy.origin, { ca: proxy.ca });
        open.push(connection);
        return connection;
      };
      /** A user with a separate plugin and an editor token for it. */
      const signIn = async (plugin: string) => {
        const tally = new Tally();
        const user = new User(`com.acme.t1/default/${plugin}`, tally);
        const connection = connected();
        const token = await user.signIn(connection, environmentToken);
        return { user, token, connection, tally };
      };

      test('lets users edit, build with a streamed log, test, deploy and run', async () => {
        const { user, tally } = await signIn('whole');
        const written = program('typescript', 'whole', 2000);
        await user.save(written);
        await user.build(written, true);
        await user.test('a');
        await user.deploy();
        await user.run('c', 0);
        assert.deepEqual(tally.faults, []);
      });

      test('speaks HTTP/2 with browsers', async () => {
        const session = connect(proxy.origin, { ca: proxy.ca });
        try {
          const stream = session.request({ ':path': '/api/v1/features' });
          const [headers] = (await once(stream, 'response')) as [{ ':status': number }];
          stream.resume();
          await once(stream, 'end');
          assert.equal(headers[':status'], 200);
          assert.equal(session.alpnProtocol, 'h2');
        } finally {
          session.destroy();
        }
      });

      test('passes the largest payload on, and answers a larger one as the service does', async () => {
        const { user, token, connection } = await signIn('large');
        const written = program('javascript', 'large', 100);
        await user.build(written, false);
        const send = (body: string) => connection.send('POST', `/api/v1/test/${user.path}`, { token, body });
        // The response has a mark in front of the payload, and neither may be more than 1 MiB.
        const payload = 'x'.repeat(2 ** 20 - 100);
        const { status, body } = await send(payload);
        assert.equal(status, 200);
        const { result, ...rest } = JSON.parse(body) as { result?: string };
        // Not `equal`, which would print both payloads.
        assert.ok(result === written.expectedOutput(payload), `without its result: ${JSON.stringify(rest)}`);

        const refused = await send('x'.repeat(4 * 2 ** 20));
        assert.equal(refused.status, 413);
        assert.equal(typeof (JSON.parse(refused.body) as { error: { code: string } }).error.code, 'string');
      });

      test('fails no request when a node is told to end', async (t) => {
        const users = await Promise.all(Array.from({ length: 2 }, (_, i) => signIn(`drained-${i}`)));
        const ending = new AbortController();
        t.after(() => ending.abort());
        const working = users.map(async ({ user }) => {
          for (let turn = 0; !ending.signal.aborted; turn++) {
            const written = program('javascript', `${user.path}-${turn}`, 100);
            await user.save(written);
            await user.build(written, turn % 2 === 0);
            await user.deploy();
            // What is live may be known to the other node a second later; a version is known at once.
            await user.run('x', user.versions.length - 1);
            // Otherwise the load takes all of the processor for all of the drain time.
            await setTimeout(200);
          }
        });
        for (const node of nodes) {
          const code = await node.end('SIGTERM');
          try {
            const versions = users.map(({ user }) => user.versions.length);
            await Promise.race([
              Promise.all(working),
              until('another version of each user', () =>
                users.every(({ user }, i) => user.versions.length > (versions[i] ?? 0)),
              ),
            ]);
          } finally {
            // The next test needs both.
            await node.start();
          }
          assert.equal(code, 0);
          // The proxy has found it again; the other one is to end next.
          const { answered } = node;
          await until('a request at the node that is back', () => node.answered > answered);
        }
        ending.abort();
        await Promise.all(working);
        assert.deepEqual(
          users.flatMap(({ tally }) => tally.faults),
          [],
        );
      });

      test('fails only the requests of a node that is killed', async () => {
        const users = await Promise.all(Array.from({ length: 3 }, (_, i) => signIn(`killed-${i}`)));
        for (const { user } of users) {
          const written = program('javascript', user.path, 100);
          await user.build(written, false);
          await user.deploy();
        }
        const { user: probe, token } = await signIn('probe');
        await probe.build(program('javascript', 'probe', 100), false);
        await probe.deploy();
        /**
         * A proxy may still send on a connection that it kept open to a node that is gone, or take a node that is back for gone;
         * each such request is answered with 502. This is over once many writes and runs in a row were answered.
         */
        const settled = async () => {
          const connection = connected();
          const body = JSON.stringify({ lang: 'javascript', contents: 'export const run = 1' });
          const asJson = { token, type: 'application/json', body };
          let inARow = 0;
          await until('a save and a run that succeed', async () => {
            const saved = await connection.send('POST', `/api/v1/draft/${probe.path}`, asJson);
            const run = await connection.send('POST', `/exec/${probe.path}/v1.0.0`, {
              token: environmentToken,
            });
            for (const { status } of [saved, run]) assert.ok([200, 502, 503].includes(status), `${status}`);
            inARow = saved.status === 200 && run.status === 200 ? inARow + 1 : 0;
            return inARow === 50;
          });
        };
        await nodes[0].end('SIGKILL');
        await settled();
        await Promise.all(
          users.map(async ({ user }, i) => {
            for (let turn = 0; turn < 5; turn++) {
              await user.save(program('javascript', `again-${i}-${turn}`, 100));
              await user.run(`${turn}`, 0);
            }
          }),
        );
        // The first one is used again once it is back, as there is no other any more.
        await nodes[0].start();
        await nodes[1].end('SIGKILL');
        await settled();
        const { user, tally } = await signIn('later');
        const written = program('javascript', 'later', 100);
        await user.build(written, true);
        await user.deploy();
        await user.run('x', 0);
        assert.deepEqual([...tally.faults, ...users.flatMap((one) => one.tally.faults)], []);
      });
    });

    describe(`${name}, in front of scripted servers`, { concurrency: 1 }, () => {
      /** A proxy whose two nodes are healthy, and do the same. */
      async function inFrontOf(handle: RequestListener) {
        const listener: RequestListener = (message, response) => {
          if (message.url === '/healthz' || message.url === '/readyz') response.end();
          else handle(message, response);
        };
        const servers = [createServer(listener), createServer(listener)];
        const addresses: string[] = [];
        for (const server of servers) {
          server.listen(0, '127.0.0.1');
          await once(server, 'listening');
          addresses.push(`127.0.0.1:${(server.address() as AddressInfo).port}`);
        }
        const proxy = await startProxy(name, await freePort(), addresses as [string, string]);
        return {
          proxy,
          async [Symbol.asyncDispose]() {
            await proxy[Symbol.asyncDispose]();
            for (const server of servers) {
              server.closeAllConnections();
              server.close();
            }
          },
        };
      }

      test('replaces what a request claims about its client by what is true, and logs no token', async () => {
        let seen: IncomingMessage | undefined;
        await using world = await inFrontOf((message, response) => {
          seen = message;
          response.end();
        });
        const { proxy } = world;
        const headers = { 'x-forwarded-for': '203.0.113.9', 'x-forwarded-proto': 'http' };
        const sent = request(`${proxy.origin}/editor/?token=secret`, { ca: proxy.ca, headers }).end();
        const [response] = (await once(sent, 'response')) as [IncomingMessage];
        response.resume();
        assert.equal(response.statusCode, 200);
        // Caddy writes no access log.
        if (name === 'nginx') await until('the access log', () => proxy.output().includes('/editor/'));
        assert.doesNotMatch(proxy.output(), /secret/);
        assert.equal(seen?.headers['host'], new URL(proxy.origin).host);
        assert.equal(seen?.headers['x-forwarded-for'], '127.0.0.1');
        assert.equal(seen?.headers['x-forwarded-proto'], 'https');
      });

      test('passes an event on before the next one comes', async () => {
        const received = Promise.withResolvers<void>();
        await using world = await inFrontOf((message, response) => {
          message.resume();
          // As the service responds with the events of builds and replays.
          response.writeHead(200, { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' });
          response.write('event: log\ndata: first\n\n');
          // Without the proxy's passing it on, this would wait for ever.
          void received.promise.then(() => response.end('event: result\ndata: {}\n\n'));
        });
        const { proxy } = world;
        const sent = request(`${proxy.origin}/api/v1/build/javascript/com.acme.t1/default/a`, {
          ca: proxy.ca,
          method: 'POST',
        }).end('source');
        const [response] = (await once(sent, 'response')) as [IncomingMessage];
        let text = '';
        response.setEncoding('utf8').on('data', (part: string) => {
          text += part;
          received.resolve();
        });
        await once(response, 'end');
        assert.match(text, /first[^]*result/);
      });

      test('sends a write once, even if its connection breaks or it is refused with 503', async () => {
        const seen: string[] = [];
        await using world = await inFrontOf((message, response) => {
          const { url = '' } = message;
          seen.push(url);
          message.resume();
          if (url.endsWith('broken')) message.socket.destroy();
          else response.writeHead(503, { 'retry-after': '7' }).end('no');
        });
        const { proxy } = world;
        const post = async (plugin: string) => {
          const sent = request(`${proxy.origin}/api/v1/draft/com.acme.t1/default/${plugin}`, {
            ca: proxy.ca,
            method: 'POST',
          }).end('{}');
          const [response] = (await once(sent, 'response')) as [IncomingMessage];
          response.resume();
          return response;
        };
        const refused = await post('refused');
        assert.deepEqual([refused.statusCode, refused.headers['retry-after']], [503, '7']);
        assert.equal((await post('broken')).statusCode, 502);
        assert.equal(seen.length, 2);
      });
    });
  }
});

test('caddy asks clients to come back when no node is ready', async () => {
  const gone = [await freePort(), await freePort()].map((port) => `127.0.0.1:${port}`);
  await using proxy = await startProxy('caddy', await freePort(), gone as [string, string]);
  const sent = request(`${proxy.origin}/api/v1/features`, { ca: proxy.ca }).end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  let text = '';
  for await (const part of response.setEncoding('utf8')) text += String(part);
  assert.equal(response.statusCode, 503);
  assert.equal(response.headers['retry-after'], '1');
  assert.equal((JSON.parse(text) as { error: { code: string } }).error.code, 'unavailable');
});
