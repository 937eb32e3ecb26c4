import { setTimeout as sleep } from 'node:timers/promises';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ConnectionTracker } from './connection-tracker.ts';
import { httpLimits } from './http-limits.ts';
import type { HttpLimits } from './http-limits.ts';
import { createHttpServer } from './http-server.ts';
import type { Handler } from './http-server.ts';
import { StartError } from '../start-error.ts';

export interface Listening {
  port: number;
  /**
   * Lets go of the port without failing a request: for `seconds` more everything is answered, with `connection: close`; then
   * nobody can connect any more, and requests under way have 30 s to end.
   */
  drain: (seconds: number) => Promise<void>;
  /** Takes no new request, lets those under way end for a moment, and then lets go of the port. */
  close: () => Promise<void>;
}

// Browsers resolve `localhost` to either.
const LOOPBACK = ['127.0.0.1', '::1'] as const;

const highestPort = 65_535;

/** How long requests under way may go on when the server closes, in ms. */
const GRACE = 2000;

/** The same after draining. */
const DRAIN_GRACE = 30_000;

/**
 * Serves on one address, or by default on this machine's loopback addresses alone.
 * @param variable the environment variable that chooses the port, for messages
 * @param limits in place of those of `http-limits.ts`
 * @param host an address or name to listen on
 * @throws StartError when the port cannot be had.
 */
export async function listen(
  handler: Handler,
  port: number,
  variable: string,
  limits: Partial<HttpLimits> = {},
  host?: string,
): Promise<Listening> {
  let isDraining = false;
  const servers: Server[] = [];
  const trackers: ConnectionTracker[] = [];
  let chosen = port;
  try {
    const addresses = host === undefined || host === 'localhost' ? LOOPBACK : [host];
    for (const address of addresses) {
      const server = createHttpServer(handler, limits, () => isDraining);
      const tracker = new ConnectionTracker(server);
      if (!(await bind(server, chosen, address, addresses.length > 1))) continue;
      servers.push(server);
      trackers.push(tracker);
      chosen = (server.address() as AddressInfo).port;
    }
  } catch (error) {
    await Promise.all(servers.map(stop));
    // A free port was asked for, and the one found is taken at the other address: try the next.
    if (port === 0 && codeOf(error) === 'EADDRINUSE') return listen(handler, port, variable, limits, host);
    throw bindError(error, chosen, variable, host);
  }
  if (servers.length === 0) {
    throw new StartError(
      host === undefined
        ? 'This machine has no loopback address to listen on.'
        : `${hostVariable(variable)} is ${host}, which is no address of this machine; it must be one of its own, or 0.0.0.0 or :: for all.`,
    );
  }
  const { keepAliveTimeout } = { ...httpLimits, ...limits };
  return {
    port: chosen,
    drain: async (seconds) => {
      isDraining = true;
      await sleep(seconds * 1000);
      await Promise.all(trackers.map((tracker) => tracker.end(keepAliveTimeout, DRAIN_GRACE)));
    },
    close: async () => void (await Promise.all(servers.map(stop))),
  };
}

/** False when the machine has no such address. */
function bind(server: Server, port: number, host: string, ipv6Only: boolean): Promise<boolean> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => {
      if (['EADDRNOTAVAIL', 'EAFNOSUPPORT'].includes(codeOf(error))) resolve(false);
      else reject(error);
    });
    server.listen({ port, host, ipv6Only }, () => resolve(true));
  });
}

function bindError(error: unknown, port: number, variable: string, host: string | undefined): unknown {
  const example = port + 1000 <= highestPort ? port + 1000 : port - 1000;
  const hint = `Choose another with ${variable}, such as: ${variable}=${example} npm start`;
  switch (codeOf(error)) {
    case 'EADDRINUSE':
      return new StartError(`Port ${port} is taken, perhaps by another \`npm start\`. ${hint}`);
    case 'EACCES':
      return new StartError(`Port ${port} may not be used without more rights. ${hint}`);
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new StartError(
        `${hostVariable(variable)} is ${host}, a name that leads to no address; it must be one of this machine.`,
      );
    default:
      return error;
  }
}

/** The variable that chooses the address, beside the one that chooses the port. */
const hostVariable = (variable: string) => variable.replace(/PORT$/, 'HOST');

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
