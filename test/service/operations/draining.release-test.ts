import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { provisionEnvironmentToken } from '../../../service/src/accounts/environment-token.ts';
import { runCommand } from '../cli/service-command.ts';
import { temporaryDirectory } from '../harness.ts';
import { databaseWithSchema, engines, openDuring, sqliteTest } from '../storage/databases.ts';
import { measureDraining } from '../../soak/draining.ts';
import { Connection, signIn } from '../../support/connection.ts';
import { until } from '../../support/until.ts';

/** Whether there was no connection on which a request could have been sent. */
const isRefused = (error: unknown) => (error as NodeJS.ErrnoException).syscall === 'connect';

const plugin = 'com.acme.t1/default/add-record';
const code = 'export const run = (input) => input;';

// `npm run soak draining` has 50 rounds.
for (const engine of engines) {
  test(`${engine}: SIGTERM under load fails no request; then connections are refused, and the exit code is 0`, async () => {
    const figures = await measureDraining({ rounds: 1, databases: [engine] });
    assert.equal(figures.length, 3);
    for (const { name, value, limit, note } of figures)
      assert.ok(value <= limit, `${name}: ${value} (${note})`);
  });
}

sqliteTest('a request that outlasts the drain time is still answered', async (t) => {
  const address = await databaseWithSchema(t, 'sqlite');
  const place = { DATA_DIR: temporaryDirectory(t), DRAIN_SECONDS: '0' };
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
