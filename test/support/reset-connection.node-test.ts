import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const script = `
  import { once } from 'node:events';
  import { connect, createServer } from 'node:net';
  import { resetConnection } from ${JSON.stringify(new URL('reset-connection.ts', import.meta.url).href)};

  const server = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect(server.address().port, '127.0.0.1').on('error', () => {});
  const [socket] = await once(server, 'connection');
  socket.resume();
  client.end();
  await once(socket, 'end');
  if (process.argv[1] === 'ended') {
    socket.end();
    // libuv shuts the socket down in the next turn of its loop.
    await Promise.resolve();
  }
  resetConnection(socket);
  await once(socket, 'close');
  server.close();
  console.log('closed');
`;

for (const [name, state] of [
  ['is open', 'open'],
  ['is being ended', 'ended'],
]) {
  test(`a process that resets a connection which ${name} can end`, async () => {
    // In a process of its own, because one that cannot end would be this one. It is stopped then.
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', script, String(state)],
      { cwd: fileURLToPath(new URL('.', import.meta.url)), timeout: 30_000 },
    );
    assert.equal(stdout, 'closed\n');
  });
}
