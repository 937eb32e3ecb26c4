import { createServer } from 'node:http';
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import type { HttpBindings } from '@hono/node-server';
import { ConnectionShares, discardShares, httpLimits } from './admission.ts';
import type { HttpLimits } from './admission.ts';
import { respondToClientErrors } from './client-errors.ts';
import type { Refuse } from './client-errors.ts';
import type { TrustedProxies } from './client-address.ts';
import { Connection } from './connection.ts';
import type { ConnectionBalance } from './connection-balance.ts';
import type { Exchange } from './connection.ts';
import { Pace } from './pace.ts';
import { discardBody, responseClass } from './response.ts';
import { ShareBudget } from '../processes/share-budget.ts';

/** Responds to the requests of an HTTP server, well-formed or not. */
export interface RequestHandler {
  fetch: (request: Request, env: object) => Response | Promise<Response>;
  /** Makes the response to what could not be parsed as a request, such as one with a malformed `Host`. */
  refuse: Refuse;
  /** The proxies whose `X-Forwarded-For` is believed (default: none). */
  trustedProxies?: TrustedProxies | undefined;
}

/** Node's objects of a request, and the pace that its body has to keep. */
export type ServiceBindings = HttpBindings & { readonly pace: Pace };

/** An HTTP server, with what it knows of its connections. */
export interface HttpServer {
  readonly server: Server;
  readonly connections: ReadonlyMap<Socket, Connection>;
}

interface HttpServerOptions {
  readonly limits?: Partial<HttpLimits>;
  /** Shares connections between networks, also with other servers (default: only those of this server). */
  readonly shares?: ConnectionShares;
  /** Shares what is discarded of unread bodies, in the same way. */
  readonly discarded?: ShareBudget;
  /** Whether the connection is to be closed after a response; asked once for each. */
  readonly isDraining?: () => boolean;
  /** Counts the connections that have requests. */
  readonly balance?: ConnectionBalance | undefined;
}

/** Stands in for the `Host` header, which HTTP/1.0 may leave out. The name is reserved, so that no service has it. */
const absentHost = 'host.invalid';

/** What Node's own check of headers reports. */
class LateHeadersError extends Error {
  readonly code = 'ERR_HTTP_REQUEST_TIMEOUT';
}

/** An HTTP server for a handler of web-standard requests, within limits. It does not listen yet. */
export function createHttpServer(handler: RequestHandler, options: HttpServerOptions = {}): HttpServer {
  const { fetch, refuse, trustedProxies } = handler;
  const { isDraining = () => false, balance } = options;
  const limits = { ...httpLimits, ...options.limits };
  const { shares = new ConnectionShares(limits.maxConnections, trustedProxies) } = options;
  const { discarded = new ShareBudget(discardShares) } = options;
  const pace = new Pace(limits);
  const { requestTimeout, connectionsCheckingInterval, keepAliveTimeout, idleTimeout } = limits;
  const respond = async (request: Request, { incoming, outgoing }: HttpBindings) => {
    const response = await fetch(request, { incoming, outgoing, pace });
    await discardSmallBody(incoming, limits.smallBody, pace);
    return response;
  };
  // The listener does not pass the request to its error handler, but calls that before it returns, so the request is kept here.
  let incomingNow: IncomingMessage | undefined;
  const createListener = (hostname?: string) =>
    getRequestListener((request, env) => respond(request, env as HttpBindings), {
      errorHandler: (error) => refuse(error, incomingNow?.socket.remoteAddress),
      // The responses discard what was not read.
      autoCleanupIncoming: false,
      ...(hostname !== undefined && { hostname }),
    });
  const listener = createListener();
  const listenerWithoutHost = createListener(absentHost);
  const handle = ({ incoming, outgoing }: Exchange) => {
    const mayLackHost = incoming.httpVersionMajor === 1 && incoming.httpVersionMinor === 0;
    incomingNow = incoming;
    void (mayLackHost ? listenerWithoutHost : listener)(incoming, outgoing);
    incomingNow = undefined;
  };
  const connections = new Map<Socket, Connection>();
  const holdDiscarded = ({ socket }: IncomingMessage, bytes: number) => {
    const network = connections.get(socket)?.network ?? '';
    return discarded.take({ environment: '', tenant: network, token: '' }, bytes);
  };
  // Node's own limit for headers begins with the connection, and also counts time in which this process did not run to read them.
  const heads = new Pace({ paceTime: limits.headersTimeout, paceBytes: Infinity });
  /** Ends the watch over a connection that has had no request yet. */
  const stopsOfHeads = new Map<Socket, () => void>();
  const server = createServer({
    headersTimeout: requestTimeout,
    requestTimeout,
    connectionsCheckingInterval,
    keepAliveTimeout,
    // Node's own refusal of a request without the header has no body. The service refuses such a request itself, in JSON.
    requireHostHeader: false,
    ServerResponse: responseClass({ limits, pace, holdDiscarded, isDraining }),
  });
  // The types of Node 22.19 lack the property.
  Object.assign(server, { keepAliveTimeoutBuffer: idleTimeout - keepAliveTimeout });
  server.on('connection', (socket: Socket) => {
    const connection: Connection = new Connection(socket, handle, () => {
      // Of a connection that ends during its request, the response ends after the connection was deleted.
      if (connections.has(socket)) shares.end(connection);
    });
    connections.set(socket, connection);
    shares.add(connection);
    const end = () => {
      stopsOfHeads.get(socket)?.();
      server.emit('clientError', new LateHeadersError(), socket);
    };
    stopsOfHeads.set(socket, heads.watch({ moved: 0, end }));
    socket.once('close', () => {
      stopsOfHeads.get(socket)?.();
      stopsOfHeads.delete(socket);
      connections.delete(socket);
      shares.delete(connection);
    });
  });
  server.on('request', (incoming, outgoing) => {
    const connection = connections.get(incoming.socket);
    if (!connection) return;
    stopsOfHeads.get(incoming.socket)?.();
    shares.begin(connection, incoming);
    balance?.add(incoming.socket);
    connection.add({ incoming, outgoing });
  });
  // An unknown `Expect` header is ignored. Without this listener, Node would respond 417 with no body.
  server.on('checkExpectation', (incoming, outgoing) => server.emit('request', incoming, outgoing));
  respondToClientErrors(server, connections, refuse);
  return { server, connections };
}

/**
 * Receives the rest of a body that the handler did not read, if it is small, so that the connection can be kept. A client
 * that does not send it is ended by `requestTimeout`.
 */
function discardSmallBody(incoming: IncomingMessage, max: number, pace: Pace): Promise<void> | undefined {
  if (incoming.complete || incoming.destroyed) return undefined;
  const declared = Number(incoming.headers['content-length'] ?? NaN);
  if (!(declared <= max)) return undefined;
  return new Promise((resolve) => discardBody(incoming, max, pace, resolve));
}
