import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { findFreePort, listen } from '../../../service/src/http/listen.ts';

const handler = { fetch: () => new Response(), refuse: () => new Response() };
const connectingClients = fileURLToPath(new URL('connecting-clients.fixture.ts', import.meta.url));

/** A free port below those that the system gives to clients and to servers that take any, of which one would take it by chance. */
async function firstFree(port = 20_000): Promise<number> {
  return findFreePort(port, 'SERVICE_PORT').catch(() => firstFree(port + 1));
}

test('whoever looks for a free port accepts no connection that it would break', async () => {
  // Of the others, a client would connect to itself by chance.
  const port = await firstFree();
  const clients = fork(connectingClients, [`${port}`]);
  const ended = new AbortController();
  const endings = once(clients, 'message').finally(() => ended.abort());
  while (!ended.signal.aborted) assert.equal(await findFreePort(port, 'SERVICE_PORT'), port);
  assert.deepEqual((await endings)[0], ['ECONNREFUSED']);
});

for (const [first, second] of [
  ['127.0.0.1', '127.0.0.1'],
  ['127.0.0.1', undefined],
  [undefined, 'localhost'],
  ['0.0.0.0', '127.0.0.1'],
  ['127.0.0.1', '0.0.0.0'],
  ['0.0.0.0', '::'],
  ['127.0.0.1', '::'],
] as const) {
  test(`a port of ${first ?? 'loopback'} is in use for ${second ?? 'loopback'}`, async () => {
    const port = await firstFree();
    const server = await listen(handler, port, 'SERVICE_PORT', { ...(first && { host: first }) });
    try {
      await assert.rejects(
        listen(handler, port, 'SERVICE_PORT', { ...(second && { host: second }) }),
        /^StartError: Port \d+ is in use/,
      );
    } finally {
      await server.close();
    }
    const again = await listen(handler, port, 'SERVICE_PORT', { ...(second && { host: second }) });
    await again.close();
  });
}
