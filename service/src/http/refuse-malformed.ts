import { RequestError } from '@hono/node-server';
import { v7 as createUuid } from 'uuid';
import type { Log } from '../operations/log.ts';
import type { Metrics } from '../operations/metrics.ts';
import type { Refuse } from './client-errors.ts';
import { normalizedAddress } from './client-address.ts';
import { badRequest, errorCodeOf, errorResponse, isUnexpectedError } from './errors.ts';
import { requestIdHeader } from './observe-requests.ts';

const malformedRequest = badRequest('invalid-request', 'The request line or the Host header is malformed.');

/**
 * Responds to what could not be parsed as a request, logs it and counts it: the middleware that does this for requests never
 * sees it.
 */
export function refuseMalformed({
  log,
  metrics,
}: {
  readonly log: Log | undefined;
  readonly metrics: Metrics | undefined;
}): Refuse {
  return (error, peer) => {
    const requestId = createUuid();
    const problem = error instanceof RequestError ? malformedRequest : error;
    const response = errorResponse(problem, requestId);
    response.headers.set(requestIdHeader, requestId);
    if (isUnexpectedError(problem)) log?.error({ requestId, err: error }, 'a request failed');
    // Neither the method nor the path of such a request can be relied on.
    metrics?.observeRequest('none', undefined, response.status, 0);
    log?.info(
      {
        requestId,
        status: response.status,
        address: normalizedAddress(peer),
        errorCode: errorCodeOf(problem),
      },
      'request',
    );
    return response;
  };
}
