import { createServer } from 'node:http';
import type { IncomingMessage, Server } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import type { HttpBindings } from '@hono/node-server';
import { respondToClientErrors } from './client-errors.ts';
import type { Refuse } from './client-errors.ts';
import { httpLimits } from './http-limits.ts';
import type { HttpLimits } from './http-limits.ts';
import { discardBody, lingeringResponse } from './lingering-response.ts';

/** Responds to the requests of an HTTP server, well-formed or not. */
export interface RequestHandler {
  fetch: (request: Request, env: object) => Response | Promise<Response>;
  /** Makes the response to what could not be parsed as a request, such as one with a malformed `Host`. */
  refuse: Refuse;
}

/** Stands in for the `Host` header, which HTTP/1.0 may leave out. The name is reserved, so that no service has it. */
const absentHost = 'host.invalid';

/**
 * An HTTP server for a handler of web-standard requests, within limits. It does not listen yet.
 * @param isDraining whether each connection is to be closed after its present request
 */
export function createHttpServer(
  { fetch, refuse }: RequestHandler,
  limits: Partial<HttpLimits> = {},
  isDraining?: () => boolean,
): Server {
  const all = { ...httpLimits, ...limits };
  const { requestTimeout, connectionsCheckingInterval, keepAliveTimeout } = all;
  const handle = async (request: Request, env: HttpBindings) => {
    const response = await fetch(request, env);
    await discardSmallBody(env.incoming, all.smallBody);
    return response;
  };
  // The listener does not pass the request to its error handler, but calls that before it returns, so the request is kept here.
  let incomingNow: IncomingMessage | undefined;
  const createListener = (options: { hostname?: string } = {}) =>
    getRequestListener((request, env) => handle(request, env as HttpBindings), {
      errorHandler: (error) => refuse(error, incomingNow?.socket.remoteAddress),
      ...options,
    });
  const listener = createListener();
  const listenerWithoutHost = createListener({ hostname: absentHost });
  const server = createServer(
    {
      // Node requires that this is no longer than the time for the whole request.
      headersTimeout: Math.min(all.headersTimeout, requestTimeout),
      requestTimeout,
      connectionsCheckingInterval,
      keepAliveTimeout,
      // Node's own refusal of a request without the header has no body. The service refuses such a request itself, in JSON.
      requireHostHeader: false,
      ServerResponse: lingeringResponse(all, isDraining),
    },
    (incoming, outgoing) => {
      const mayLackHost = incoming.httpVersionMajor === 1 && incoming.httpVersionMinor === 0;
      incomingNow = incoming;
      void (mayLackHost ? listenerWithoutHost : listener)(incoming, outgoing);
      incomingNow = undefined;
    },
  );
  // An unknown `Expect` header is ignored. Without this listener, Node would respond 417 with no body.
  server.on('checkExpectation', (incoming, outgoing) => server.emit('request', incoming, outgoing));
  respondToClientErrors(server, refuse);
  server.timeout = all.writeTimeout;
  server.maxConnections = all.maxConnections;
  return server;
}

/**
 * Receives the rest of a body that the handler did not read, if it is small, so that the connection can be kept. A client
 * that does not send it is ended by `requestTimeout`.
 */
function discardSmallBody(incoming: IncomingMessage, max: number): Promise<void> | undefined {
  const declared = Number(incoming.headers['content-length'] ?? NaN);
  if (incoming.complete || incoming.destroyed || !(declared <= max)) return undefined;
  return new Promise((resolve) => discardBody(incoming, max, resolve));
}
