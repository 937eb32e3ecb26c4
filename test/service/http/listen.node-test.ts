import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { findFreePort } from '../../../service/src/http/listen.ts';

const connectingClients = fileURLToPath(new URL('connecting-clients.fixture.ts', import.meta.url));

async function firstFree(port: number): Promise<number> {
  return findFreePort(port, 'SERVICE_PORT').catch(() => firstFree(port + 1));
}

test('whoever looks for a free port accepts no connection that it would break', async () => {
  // Below those that the system gives to clients, of which one would connect to itself by chance.
  const port = await firstFree(20_000);
  const clients = fork(connectingClients, [`${port}`]);
  await once(clients, 'message');
  for (let look = 0; look < 300; look++) assert.equal(await findFreePort(port, 'SERVICE_PORT'), port);
  const ended = once(clients, 'message');
  clients.send('end');
  assert.deepEqual((await ended)[0], ['ECONNREFUSED']);
});
