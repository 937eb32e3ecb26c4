import type { MiddlewareHandler } from 'hono';
import { requestInfo } from './request-info.ts';
import type { RequestLimits } from './request-limits.ts';

/** No such path, no such method at the path, and no such `Host`. */
const unmatchedStatuses: ReadonlySet<number> = new Set([404, 405, 421]);

/**
 * Counts requests without a valid token that match no host, path or method for the rate of the client's address: scanners send
 * many of them. Past the rate they are 429.
 */
export const limitUnmatchedRequests =
  (limits: Pick<RequestLimits, 'takeAddress'>): MiddlewareHandler =>
  async (c, next) => {
    await next();
    if (unmatchedStatuses.has(c.res.status) && !requestInfo(c).isAuthenticated) await limits.takeAddress(c);
  };
