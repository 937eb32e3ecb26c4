import { createServer } from 'node:http';
import type { IncomingMessage, Server } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import type { HttpBindings } from '@hono/node-server';
import { answerClientErrors } from './client-errors.ts';
import type { Refuse } from './client-errors.ts';
import { httpLimits } from './http-limits.ts';
import type { HttpLimits } from './http-limits.ts';
import { dropBody, patientResponse } from './patient-response.ts';

export interface Handler {
  fetch: (request: Request, env: object) => Response | Promise<Response>;
  /** The answer to what never became a request, such as a malformed `Host`. */
  refuse: Refuse;
}

/** In place of the `Host` that HTTP/1.0 can do without. No service is known by it. */
const absentHost = 'host.invalid';

/**
 * An HTTP server for a handler of web-standard requests, within limits. It does not listen yet.
 * @param isDraining whether connections are to end with the request that they have
 */
export function createHttpServer(
  { fetch, refuse }: Handler,
  limits: Partial<HttpLimits> = {},
  isDraining?: () => boolean,
): Server {
  const all = { ...httpLimits, ...limits };
  const { requestTimeout, connectionsCheckingInterval, keepAliveTimeout } = all;
  const answer = async (request: Request, env: HttpBindings) => {
    const response = await fetch(request, env);
    await dropSmallBody(env.incoming, all.smallBody);
    return response;
  };
  // What the listener refuses before it is a request is refused at once, so that it is known whose it was.
  let incomingNow: IncomingMessage | undefined;
  const createListener = (options: { hostname?: string } = {}) =>
    getRequestListener((request, env) => answer(request, env as HttpBindings), {
      errorHandler: (error) => refuse(error, incomingNow?.socket.remoteAddress),
      ...options,
    });
  const listener = createListener();
  const listenerWithoutHost = createListener({ hostname: absentHost });
  const server = createServer(
    {
      // Node takes no more than the time for the whole request.
      headersTimeout: Math.min(all.headersTimeout, requestTimeout),
      requestTimeout,
      connectionsCheckingInterval,
      keepAliveTimeout,
      // Node would refuse it without a body; here it is refused as all else is.
      requireHostHeader: false,
      ServerResponse: patientResponse(all, isDraining),
    },
    (incoming, outgoing) => {
      const mayLackHost = incoming.httpVersionMajor === 1 && incoming.httpVersionMinor === 0;
      incomingNow = incoming;
      void (mayLackHost ? listenerWithoutHost : listener)(incoming, outgoing);
      incomingNow = undefined;
    },
  );
  // An expectation that nobody here knows is ignored, where Node would refuse it without a body.
  server.on('checkExpectation', (incoming, outgoing) => server.emit('request', incoming, outgoing));
  answerClientErrors(server, refuse);
  server.timeout = all.writeTimeout;
  server.maxConnections = all.maxConnections;
  return server;
}

/**
 * Receives what is left of a body that nobody wanted, where that is little: then the connection can be kept. A client that
 * does not send it meets `requestTimeout`.
 */
function dropSmallBody(incoming: IncomingMessage, most: number): Promise<void> | undefined {
  const declared = Number(incoming.headers['content-length'] ?? NaN);
  if (incoming.complete || incoming.destroyed || !(declared <= most)) return undefined;
  return new Promise((resolve) => dropBody(incoming, most, resolve));
}
