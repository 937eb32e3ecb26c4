import type { ServerResponse } from 'node:http';
import type { MiddlewareHandler } from 'hono';
import { bindingsOf } from './bindings.ts';
import type { Log } from '../operations/log.ts';
import type { Metrics } from '../operations/metrics.ts';
import { clientAddress } from './client-address.ts';
import type { TrustedProxies } from './client-address.ts';
import { createRequestIds } from './request-ids.ts';
import { defaultHeaders } from './request-info.ts';
import type { RequestInfo } from './request-info.ts';
import type { ServiceResponse } from './response.ts';

export interface RequestObservers {
  readonly log?: Log | undefined;
  readonly metrics?: Metrics | undefined;
  /** The proxies whose `X-Forwarded-For` is believed (default: none). */
  readonly trustedProxies?: TrustedProxies | undefined;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

/** The header of every response with the request's id. */
export const requestIdHeader = 'x-request-id';

/** How many characters are logged of the id that a client sends with a request. */
const longestClientId = 200;

/**
 * Gives every request an id, which is a header of its response, and logs one line for each once the response was sent. The line
 * names the caller, but holds nothing that is secret or that users wrote: no query, token, source, input or output.
 */
export function observeRequests({
  log,
  metrics,
  trustedProxies,
  now = Date.now,
}: RequestObservers): MiddlewareHandler {
  const createId = createRequestIds(now);
  return async (c, next) => {
    const began = performance.now();
    const id = createId();
    const info: RequestInfo = {
      id,
      responseHeaders: { [requestIdHeader]: id },
      traceparent: readTraceparent(c.req.header('traceparent')),
    };
    c.set('request', info);
    const outgoing = bindingsOf(c).outgoing;
    if (outgoing) (outgoing as ServiceResponse).requestId = id;
    await next();
    if (!info.hasHeaders) addHeaders(c.res.headers, info);
    if (!log && !metrics) return;
    const { method } = c.req;
    const { status } = c.res;
    const clientId = c.req.header(requestIdHeader)?.slice(0, longestClientId);
    const address = clientAddress(c, trustedProxies);
    onceSent(outgoing, (isComplete) => {
      const { route, environment, tenant, holder, actor, errorCode, runError, traceparent } = info;
      const ms = Math.round((performance.now() - began) * 10) / 10;
      // As nginx says it, so that clients that leave are no failures of the service in metrics.
      const hasLeft = !isComplete && errorCode === 'cancelled';
      metrics?.observeRequest(method, route, hasLeft ? 499 : status, ms);
      log?.info(
        {
          requestId: id,
          method,
          route,
          status,
          ms,
          address,
          environment,
          tenant,
          holder,
          actor,
          errorCode,
          runError,
          traceparent,
          ...(clientId !== undefined && { clientRequestId: clientId }),
          // The client went away before it had the whole response.
          ...(!isComplete && { aborted: true }),
        },
        'request',
      );
    });
  };
}

function addHeaders(headers: Headers, { responseHeaders }: RequestInfo): void {
  for (const [name, value] of Object.entries(defaultHeaders))
    if (!headers.has(name)) headers.set(name, value);
  for (const [name, value] of Object.entries(responseHeaders)) headers.set(name, value);
}

/**
 * Calls back once the whole response was handed to the system, or the connection has ended; at once where there is no
 * connection.
 */
function onceSent(outgoing: ServerResponse | undefined, callback: (isComplete: boolean) => void): void {
  if (!outgoing) callback(true);
  else if (outgoing.closed || outgoing.destroyed) callback(outgoing.writableFinished);
  else outgoing.once('close', () => callback(outgoing.writableFinished));
}

/**
 * The trace context of a request, as W3C Trace Context says, if its header can be used. It is logged, recorded and passed on as it is,
 * because the service has no spans; another value starts no trace.
 */
const readTraceparent = (header: string | undefined): string | undefined =>
  header !== undefined && traceparentPattern.test(header) ? header : undefined;

/** Version, trace, parent and flags. The version `ff` and ids of nothing but zeros are invalid. */
const traceparentPattern = /^(?!ff)[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}$/;
