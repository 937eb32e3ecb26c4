import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { provisionEnvironmentToken } from '../../../service/src/accounts/environment-token.ts';
import { runCommand } from '../cli/service-command.ts';
import { temporaryDirectory } from '../harness.ts';
import { engines, databaseWithSchema, openDuring } from '../storage/databases.ts';
import type { EngineName } from '../storage/databases.ts';
import { Connection, deploy, signIn } from '../../support/connection.ts';
import { until } from '../../support/until.ts';

/** Whether there was no connection on which a request could have been sent. */
const isRefused = (error: unknown) => (error as NodeJS.ErrnoException).syscall === 'connect';

/**
 * Whether a connection was taken back by the other side's system before anything came from it. Whoever still writes to it
 * hears of a broken pipe.
 */
const isReset = (error: unknown) =>
  ['ECONNRESET', 'EPIPE'].includes((error as NodeJS.ErrnoException).code ?? '');

const plugin = 'com.acme.t1/default/add-record';
const code = 'export const run = (input) => input;';

/** A service in a separate process, with a plugin that is deployed. */
async function start(t: TestContext, engine: EngineName, env: Record<string, string>) {
  const address = await databaseWithSchema(t, engine);
  const place = { DATA_DIR: temporaryDirectory(t), ...env };
  const environmentToken = await provisionEnvironmentToken(await openDuring(t, address), 'com.acme');
  const command = runCommand(t, address, ['serve'], place);
  const { base } = await command.serving();
  const send = async (path: string) => {
    using single = new Connection(base);
    return await single.send('GET', path);
  };
  await until('it is ready', async () => (await send('/readyz')).status === 200);
  using connection = new Connection(base);
  const token = await signIn(connection, plugin, environmentToken);
  await deploy(connection, plugin, token, code);
  return { command, base, send, environmentToken, token };
}

for (const engine of engines) {
  test(`${engine}: SIGTERM under load fails no request; then connections are refused, and the exit code is 0`, async (t) => {
    // A quick machine makes more requests than a token may, and on a busy one a run may take long, and so may the requests by
    // which this test sees that the service drains.
    const env = { DRAIN_SECONDS: '5', RUN_TIMEOUT_MS: '10000', TOKEN_REQUESTS_PER_MINUTE: '0' };
    const { command, base, send, environmentToken, token } = await start(t, engine, env);
    let isTermSent = false;
    const failures: unknown[] = [];
    let [answered, closing] = [0, 0];
    const clients = Array.from({ length: 4 }, async (_, i) => {
      using connection = new Connection(base);
      // The system makes connections before the service hears of them, and takes them back when the port is closed. Such a
      // reset counts as a refusal where the very next attempt is refused; a second one in a row does not.
      let reset: unknown;
      for (let n = 0; ; n++) {
        // Otherwise the load takes all of the processor for all of the drain time.
        await setTimeout(10);
        try {
          const response =
            (n + i) % 4 === 0
              ? await connection.send('GET', `/api/v1/draft/${plugin}`, { token })
              : await connection.send('POST', `/exec/name/${plugin}`, {
                  token: environmentToken,
                  body: `${n}`,
                });
          answered += 1;
          if (reset !== undefined) failures.push(reset);
          reset = undefined;
          if (response.status !== 200) failures.push(response);
          if (isTermSent && response.headers.connection === 'close') closing += 1;
        } catch (error) {
          if (isTermSent && isRefused(error)) break;
          if (reset !== undefined || !isTermSent || !isReset(error)) failures.push(error);
          else reset = error;
        }
      }
    });
    await until('there is load', () => answered > 100);
    isTermSent = true;
    command.kill('SIGTERM');
    await until('it is not ready any more', async () => (await send('/readyz')).status === 503);
    assert.equal((await send('/healthz')).status, 200);
    await Promise.all(clients);
    assert.deepEqual(failures, []);
    assert.ok(closing > 0, 'Answers say that the connection will be closed.');
    const { status, err } = await command.done();
    assert.deepEqual([status, err], [0, '']);
  });
}

test('a request that outlasts the drain time is still answered', async (t) => {
  const { command, base, send, token } = await start(t, 'sqlite', { DRAIN_SECONDS: '0' });
  // The request has begun, and its body comes after the port is closed.
  const { hostname, port } = new URL(base);
  const socket = connect(Number(port), hostname).setEncoding('utf8');
  let text = '';
  socket.on('data', (part: string) => (text += part));
  const ended = new Promise((resolve) => socket.on('close', resolve));
  socket.write(
    `POST /api/v1/build/javascript/${plugin} HTTP/1.1\r\nhost: ${hostname}:${port}\r\n` +
      `authorization: Bearer ${token}\r\ncontent-length: ${code.length}\r\nexpect: 100-continue\r\n\r\n`,
  );
  // It says so once it reads the request.
  await until('the request is under way', () => text.includes('100 Continue'));
  command.kill('SIGTERM');
  await until('connections are refused', () => send('/healthz').then(() => false, isRefused));
  socket.write(code);
  await ended;
  assert.match(text, /HTTP\/1\.1 200 OK\r\n/);
  assert.match(text, /connection: close\r\n/i);
  assert.match(text, /"succeeded":true/);
  assert.equal((await command.done()).status, 0);
});

test('a second signal ends the service at once', async (t) => {
  const address = await databaseWithSchema(t, 'sqlite');
  const command = runCommand(t, address, ['serve'], { DRAIN_SECONDS: '600' });
  await command.serving();
  command.kill('SIGTERM');
  await command.line(({ msg }) => msg.startsWith('The service ends'));
  command.kill('SIGTERM');
  assert.equal((await command.done()).status, 128 + 15);
});
