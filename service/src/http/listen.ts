import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect, createServer } from 'node:net';
import type { AddressInfo, ListenOptions, Server } from 'node:net';
import { ConnectionShares, discardShares, httpLimits } from './admission.ts';
import type { HttpLimits } from './admission.ts';
import { ConnectionBalance } from './connection-balance.ts';
import { drainServers } from './drain.ts';
import { createHttpServer } from './http-server.ts';
import type { HttpServer, RequestHandler } from './http-server.ts';
import { ShareBudget } from '../processes/share-budget.ts';
import { StartError } from '../start-error.ts';

export interface ListeningServer {
  port: number;
  /**
   * Closes the port without failing a request: for `seconds` more, requests are handled with `connection: close`; then no
   * connection is accepted any more, and unfinished requests have 30 s to end. Those that may wait for longer have `waitTime` ms;
   * then `cancelWaiting` is called, which ends them, and they have a second to be answered.
   */
  drain: (seconds: number, waitTime?: number, cancelWaiting?: () => void) => Promise<void>;
  /** Evens the connections out between the processes of a node; `undefined` where the port is not shared. */
  readonly balance: ConnectionBalance | undefined;
  /** Accepts no connection any more, and ends those whose request has not ended after 2 s. */
  close: () => Promise<void>;
}

// Browsers resolve `localhost` to either.
const loopback = ['127.0.0.1', '::1'] as const;

const highestPort = 65_535;

/** How long requests may go on when the server is closed, in ms. */
const closeGrace = 2000;

/** How long they may go on after draining, in ms. */
const drainGrace = 30_000;

/** How long a connection within this machine may take, in ms. */
const connectTime = 1000;

/** How long the responses to runs that were cancelled then may take, in ms. */
const answerTime = 1000;

export interface ServerOptions {
  /** Override those of `admission.ts`. */
  readonly limits?: Partial<HttpLimits>;
  /** An address or name to listen on (default: this machine's loopback addresses). */
  readonly host?: string | undefined;
  /** Whether other processes of the node listen at the same port, which `findFreePort` has found (default false). */
  readonly isShared?: boolean;
}

/**
 * Listens on one address, or by default on this machine's loopback addresses only.
 * @param variable the environment variable that sets the port, for messages
 * @throws StartError when the port or the address cannot be used.
 */
export async function listen(
  handler: RequestHandler,
  port: number,
  variable: string,
  options: ServerOptions = {},
): Promise<ListeningServer> {
  const { limits = {}, host, isShared = false } = options;
  let isDraining = false;
  const { keepAliveTimeout, maxConnections } = { ...httpLimits, ...limits };
  const shares = new ConnectionShares(maxConnections, handler.trustedProxies);
  const discarded = new ShareBudget(discardShares);
  const balance = isShared ? new ConnectionBalance() : undefined;
  const closesNext = () => isDraining || (balance?.takeSurplus() ?? false);
  const servers: HttpServer[] = [];
  const chosen = isShared ? port : await findFreePort(port, variable, host);
  try {
    for (const address of addressesOf(host, chosen)) {
      for (let i = 0; i < listeners; i++) {
        const server = createHttpServer(handler, {
          limits,
          shares,
          discarded,
          balance,
          isDraining: closesNext,
        });
        if (!(await bind(server.server, { ...address, reusePort: listeners > 1 }))) break;
        servers.push(server);
      }
    }
  } catch (error) {
    await Promise.all(servers.map(stop));
    // Another program has taken the port that was free. With 0 any port will do, so another one is tried.
    if (port === 0 && codeOf(error) === 'EADDRINUSE') return listen(handler, port, variable, options);
    throw bindError(error, chosen, variable, host);
  }
  return {
    port: chosen,
    balance,
    drain: async (seconds, waitTime = 0, cancelWaiting = () => {}) => {
      isDraining = true;
      await sleep(seconds * 1000);
      const timer = waitTime ? setTimeout(cancelWaiting, waitTime) : undefined;
      const grace = Math.max(drainGrace, waitTime && waitTime + answerTime);
      await drainServers(servers, keepAliveTimeout, grace);
      clearTimeout(timer);
    },
    close: async () => void (await Promise.all(servers.map(stop))),
  };
}

/**
 * Finds a port that is free at all addresses: the given one, or with 0 any. Sockets that share a port do not notice that another
 * program has it, so it is bound without sharing first.
 * @throws StartError when the port or the address cannot be used.
 */
export async function findFreePort(port: number, variable: string, host?: string): Promise<number> {
  let chosen = port;
  let isFound = false;
  try {
    for (const { host: address, ipv6Only } of addressesOf(host, port)) {
      const bound =
        port === 0
          ? await bindServer({ host: address, port: chosen, ipv6Only })
          : await bindClient(address, port);
      if (bound === undefined) continue;
      chosen = bound;
      isFound = true;
    }
  } catch (error) {
    // The port that was free at the first address is in use at the second.
    if (port === 0 && codeOf(error) === 'EADDRINUSE') return findFreePort(port, variable, host);
    throw bindError(error, chosen, variable, host);
  }
  if (isFound) return chosen;
  throw new StartError(
    host === undefined
      ? 'This machine has no loopback address to listen on.'
      : `${hostVariable(variable)} is ${host}, which is not an address of this machine; it must be one, or 0.0.0.0 or :: for all.`,
  );
}

/** Listens for a moment, and resolves with the port; with `undefined` when the machine has no such address. */
async function bindServer(options: ListenOptions): Promise<number | undefined> {
  const server = createServer();
  if (!(await bind(server, options))) return undefined;
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/**
 * The same for a port that clients may try already: a server would accept their connections, and reset them when it closes. A client
 * accepts none. It connects to itself, since to connect is the only way to bind one.
 */
async function bindClient(host: string, port: number): Promise<number | undefined> {
  const addresses = await lookup(host, { all: true });
  // A server, too, listens at the first address of a name that needs no zone.
  const address = (addresses.find((one) => !isLinkLocal(one.address)) ?? addresses[0])?.address;
  const socket = connect({ host: address, port, localAddress: address, localPort: port });
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(connectTime) });
    // An orderly end would leave the port in TIME_WAIT.
    socket.resetAndDestroy();
  } catch (error) {
    socket.destroy();
    // Whether it then connects does not matter.
    const isBound = (error as NodeJS.ErrnoException).syscall !== 'bind' && codeOf(error) !== 'EADDRINUSE';
    if (isBound) return port;
    if (isAbsentAddress(error)) return undefined;
    throw error;
  }
  return port;
}

const isLinkLocal = (address: string) => /^fe[89ab]/i.test(address);

function addressesOf(host: string | undefined, port: number) {
  const hosts = host === undefined || host === 'localhost' ? loopback : [host];
  return hosts.map((address) => ({ host: address, port, ipv6Only: hosts.length > 1 }));
}

/**
 * How many connections the system accepts before the service does; it may accept fewer. A client whose connection it refuses tries
 * again after 1 s, then 2 s, and so on.
 */
const backlog = 4096;

/**
 * How many sockets listen on an address. In a turn of its loop, Node accepts one connection of each, so with a single socket a client
 * would wait for as many turns as others connected before it. Other systems do not share a port between sockets.
 */
const listeners = process.platform === 'linux' ? 32 : 1;

/** Starts to listen. Resolves with false when the machine has no such address, and rejects for any other problem. */
async function bind(server: Server, options: ListenOptions): Promise<boolean> {
  server.listen({ ...options, backlog });
  try {
    await once(server, 'listening');
  } catch (error) {
    if (isAbsentAddress(error)) return false;
    throw error;
  }
  // The system could not accept one connection, for instance for want of memory. It may accept the next one.
  server.on('error', () => {});
  return true;
}

function bindError(error: unknown, port: number, variable: string, host: string | undefined): unknown {
  const example = port + 1000 <= highestPort ? port + 1000 : port - 1000;
  const hint = `Choose another with ${variable}, such as ${variable}=${example}.`;
  switch (codeOf(error)) {
    case 'EADDRINUSE':
      return new StartError(`Port ${port} is in use, perhaps by another process of this service. ${hint}`);
    case 'EACCES':
      return new StartError(`Port ${port} cannot be used without more privileges. ${hint}`);
    case 'EINVAL':
      return new StartError(
        `${hostVariable(variable)} is ${host}, which cannot be listened on; it must be an address of this machine, with its zone where it is link-local, such as fe80::1%eth0.`,
      );
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new StartError(
        `${hostVariable(variable)} is ${host}, a name that has no address; it must be a name or address of this machine.`,
      );
    default:
      return error;
  }
}

const isAbsentAddress = (error: unknown) => ['EADDRNOTAVAIL', 'EAFNOSUPPORT'].includes(codeOf(error));

/** The variable that sets the address, by the name of the one that sets the port. */
const hostVariable = (variable: string) => variable.replace(/PORT$/, 'HOST');

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? '';

function stop({ server }: HttpServer): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => server.closeAllConnections(), closeGrace);
    server.close(() => {
      clearTimeout(timer);
      resolve();
    });
    server.closeIdleConnections();
  });
}
