import { RequestError } from '@hono/node-server';
import { v7 as createUuid } from 'uuid';
import type { Log } from '../operations/log.ts';
import type { Metrics } from '../operations/metrics.ts';
import type { Refuse } from './client-errors.ts';
import { peerAddress } from './client-address.ts';
import { badRequest, errorResponse, isFault } from './errors.ts';
import { requestIdHeader } from './observe-requests.ts';

const malformedRequest = badRequest('invalid-request', 'The request line or the Host header is malformed.');

/** Answers, logs and counts what never became a request, and so passed by all that does this for requests. */
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
    const answer = errorResponse(problem, requestId);
    answer.headers.set(requestIdHeader, requestId);
    if (isFault(problem)) log?.error({ requestId, err: error }, 'a request failed');
    // Neither the method nor the path of such a request is to be relied on.
    metrics?.observeRequest('none', undefined, answer.status, 0);
    log?.info({ requestId, status: answer.status, address: peerAddress(peer) }, 'request');
    return answer;
  };
}
