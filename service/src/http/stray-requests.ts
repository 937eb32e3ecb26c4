import type { MiddlewareHandler } from 'hono';
import { requestInfo } from './request-info.ts';
import type { RequestLimits } from './request-limits.ts';

/** Nothing there, not by this method, and not by this `Host`. */
const strayStatuses: ReadonlySet<number> = new Set([404, 405, 421]);

/**
 * Counts requests that lead nowhere and come without a good token for the address of their client, as who looks for holes
 * makes them. Past the rate of the address they are 429.
 */
export const limitStrays =
  (limits: Pick<RequestLimits, 'takeAddress'>): MiddlewareHandler =>
  async (c, next) => {
    await next();
    if (strayStatuses.has(c.res.status) && !requestInfo(c).isAuthenticated) await limits.takeAddress(c);
  };
