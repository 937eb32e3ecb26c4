import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Below the ports that Linux, macOS and Windows give to whoever asks for any: one of those could be gone by the time that it is used,
 * because the tests start hundreds of servers.
 */
const [FIRST, LAST] = [20_000, 32_000];

/** A port of this machine that nothing listens on, for a program that cannot choose one itself, or that comes back to it. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST, LAST);
    if (await isFree(port)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  // On all interfaces, because programs that are given the port may listen on them.
  const server = createServer().listen(port);
  try {
    await once(server, 'listening');
  } catch (error) {
    if (/EADDRINUSE|EACCES/.test((error as NodeJS.ErrnoException).code ?? '')) return false;
    throw error;
  }
  server.close();
  await once(server, 'close');
  return true;
}
