import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { HttpLimits } from './http-limits.ts';
import { createHttpServer } from './http-server.ts';
import type { Handler } from './http-server.ts';
import { StartError } from '../start-error.ts';

export interface Listening {
  port: number;
  /** Takes no new request, lets those under way end for a moment, and then lets go of the port. */
  close: () => Promise<void>;
}

// Browsers resolve `localhost` to either.
const LOOPBACK = ['127.0.0.1', '::1'] as const;

/** How long requests under way may go on once the demo ends, in ms. */
const GRACE = 2000;

/**
 * Serves on this machine's loopback addresses alone.
 * @param variable the environment variable that chooses the port, for messages
 * @param limits in place of those of `http-limits.ts`
 * @throws StartError when the port cannot be had.
 */
export async function listen(
  handler: Handler,
  port: number,
  variable: string,
  limits: Partial<HttpLimits> = {},
): Promise<Listening> {
  const servers: Server[] = [];
  let chosen = port;
  try {
    for (const host of LOOPBACK) {
      const server = createHttpServer(handler, limits);
      if (!(await bind(server, chosen, host))) continue;
      servers.push(server);
      chosen = (server.address() as AddressInfo).port;
    }
  } catch (error) {
    await Promise.all(servers.map(stop));
    // A free port was asked for, and the one found is taken at the other address: try the next.
    if (port === 0 && codeOf(error) === 'EADDRINUSE') return listen(handler, port, variable, limits);
    throw bindError(error, chosen, variable);
  }
  if (servers.length === 0) throw new StartError('This machine has no loopback address to listen on.');
  return { port: chosen, close: async () => void (await Promise.all(servers.map(stop))) };
}

/** False when the machine has no such address. */
function bind(server: Server, port: number, host: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => {
      if (['EADDRNOTAVAIL', 'EAFNOSUPPORT'].includes(codeOf(error))) resolve(false);
      else reject(error);
    });
    server.listen({ port, host, ipv6Only: true }, () => resolve(true));
  });
}

function bindError(error: unknown, port: number, variable: string): unknown {
  const hint = `Choose another with ${variable}, such as: ${variable}=${port + 1000} npm start`;
  switch (codeOf(error)) {
    case 'EADDRINUSE':
      return new StartError(`Port ${port} is taken, perhaps by another \`npm start\`. ${hint}`);
    case 'EACCES':
      return new StartError(`Port ${port} may not be used without more rights. ${hint}`);
    default:
      return error;
  }
}

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? '';

function stop(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => server.closeAllConnections(), GRACE);
    server.close(() => {
      clearTimeout(timer);
      resolve();
    });
    server.closeIdleConnections();
  });
}
