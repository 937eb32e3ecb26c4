import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { StartError } from 'plugin-editor-service';
import type { VendorApp } from './app.ts';

export interface Listening {
  port: number;
  /** Stops accepting requests, gives those in progress a moment to end, and then closes the port. */
  close: () => Promise<void>;
}

// Browsers resolve `localhost` to either address.
const LOOPBACK = ['127.0.0.1', '::1'] as const;

/** How long requests in progress may continue once the demo ends, in ms. */
const GRACE = 2000;

/** How long clients may take, in ms: for the headers, for a whole request, and while idle. */
const LIMITS = { headersTimeout: 10_000, requestTimeout: 30_000, connectionsCheckingInterval: 1000 };
const IDLE_TIMEOUT = 30_000;
const MAX_CONNECTIONS = 2000;

const HIGHEST_PORT = 65_535;

/**
 * Serves the vendor's app on this machine's loopback addresses alone.
 * @param port 0 for any that is free
 * @throws StartError when the port cannot be used
 */
export async function listen(app: VendorApp, port: number): Promise<Listening> {
  const servers: Server[] = [];
  let chosen = port;
  try {
    for (const host of LOOPBACK) {
      const server = createAppServer(app);
      if (!(await bind(server, chosen, host))) continue;
      servers.push(server);
      chosen = (server.address() as AddressInfo).port;
    }
  } catch (error) {
    await Promise.all(servers.map(stop));
    // The system chose a port that is free at one address and taken at the other: tries another one.
    if (port === 0 && codeOf(error) === 'EADDRINUSE') return listen(app, port);
    throw bindError(error, chosen);
  }
  if (servers.length === 0) throw new StartError('This machine has no loopback address to listen on.');
  return { port: chosen, close: async () => void (await Promise.all(servers.map(stop))) };
}

function createAppServer({ fetch, refuse }: VendorApp): Server {
  const listener = getRequestListener((request, env) => fetch(request, env), { errorHandler: refuse });
  const server = createServer(LIMITS, (incoming, outgoing) => void listener(incoming, outgoing));
  server.timeout = IDLE_TIMEOUT;
  server.maxConnections = MAX_CONNECTIONS;
  return server;
}

/** Starts to listen. Resolves with false when the machine has no such address, and rejects for any other problem. */
async function bind(server: Server, port: number, host: string): Promise<boolean> {
  server.listen({ port, host, ipv6Only: true });
  try {
    await once(server, 'listening');
  } catch (error) {
    if (['EADDRNOTAVAIL', 'EAFNOSUPPORT'].includes(codeOf(error))) return false;
    throw error;
  }
  // The system could not accept one connection, for instance for want of memory. It may accept the next one.
  server.on('error', () => {});
  return true;
}

function bindError(error: unknown, port: number): unknown {
  const example = port + 1000 <= HIGHEST_PORT ? port + 1000 : port - 1000;
  const hint = `Choose another with PORT, such as: PORT=${example} npm start`;
  switch (codeOf(error)) {
    case 'EADDRINUSE':
      return new StartError(`Port ${port} is in use, perhaps by another \`npm start\`. ${hint}`);
    case 'EACCES':
      return new StartError(`Port ${port} cannot be used without more privileges. ${hint}`);
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
