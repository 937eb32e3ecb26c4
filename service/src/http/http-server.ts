import { createServer } from 'node:http';
import type { IncomingMessage, Server } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import type { HttpBindings } from '@hono/node-server';
import { httpLimits } from './http-limits.ts';
import type { HttpLimits } from './http-limits.ts';
import { dropBody, patientResponse } from './patient-response.ts';

export interface Handler {
  fetch: (request: Request, env: object) => Response | Promise<Response>;
  /** The answer to what never became a request, such as a malformed `Host`. */
  refuse: (error: unknown) => Response;
}

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
  const listener = getRequestListener((request, env) => answer(request, env as HttpBindings), {
    errorHandler: refuse,
  });
  const server = createServer(
    {
      // Node takes no more than the time for the whole request.
      headersTimeout: Math.min(all.headersTimeout, requestTimeout),
      requestTimeout,
      connectionsCheckingInterval,
      keepAliveTimeout,
      ServerResponse: patientResponse(all, isDraining),
    },
    (incoming, outgoing) => void listener(incoming, outgoing),
  );
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
