import type { Context, MiddlewareHandler } from 'hono';
import { ServiceError } from './errors.ts';
import { requestInfo } from './request-info.ts';
import { mebibyte } from '../units.ts';

/** How many bytes of request bodies may be in memory at once. */
export interface BodyLimits {
  readonly total: number;
  /** Of all tenants of one environment: less than the total, so that there is room for other environments. */
  readonly perEnvironment: number;
  /** Of one tenant, however many tokens it has. */
  readonly perTenant: number;
}

/** Each byte takes up to three in memory: as received, as text, and on its way to a runner or compiler. */
const bodyLimits: BodyLimits = {
  total: 128 * mebibyte,
  perEnvironment: 96 * mebibyte,
  perTenant: 32 * mebibyte,
};

declare module 'hono' {
  interface ContextVariableMap {
    /** Reserves so many bytes for the body of the request; see {@link limitBodies}. */
    reserveBody?: (size: number) => void;
  }
}

/**
 * Limits the memory that the bodies of all requests take together, from when they begin to be read until the response is made:
 * clients may be slow to send them, and jobs may wait for their turn. The caller is known when bytes are reserved, so that
 * nobody can use up the budget of others without a valid token.
 */
export function limitBodies(limits: BodyLimits = bodyLimits): MiddlewareHandler {
  /** How many bytes are reserved, by budget. */
  const reserved = new Map<string, number>();
  return async (c, next) => {
    const reservations: { key: string; size: number }[] = [];
    c.set('reserveBody', (size) => {
      if (!size) return;
      const budgets = budgetsOf(c, limits);
      if (budgets.some(({ key, max }) => (reserved.get(key) ?? 0) + size > max)) throw busy();
      for (const { key } of budgets) {
        reserved.set(key, (reserved.get(key) ?? 0) + size);
        reservations.push({ key, size });
      }
    });
    try {
      await next();
    } finally {
      for (const { key, size } of reservations) {
        const left = (reserved.get(key) ?? 0) - size;
        if (left > 0) reserved.set(key, left);
        else reserved.delete(key);
      }
    }
  };
}

/** Reserves at most so many bytes for a body that is about to be read. Throws 503 when a budget is used up. */
export const reserveBody = (c: Context, size: number): void => c.get('reserveBody')?.(size);

/** The budgets that the body of a request counts for. */
function budgetsOf(c: Context, { total, perEnvironment, perTenant }: BodyLimits) {
  const { environment = '', tenant = '' } = requestInfo(c);
  return [
    { key: '', max: total },
    { key: JSON.stringify([environment]), max: perEnvironment },
    { key: JSON.stringify([environment, tenant]), max: perTenant },
  ];
}

const busy = () =>
  new ServiceError(503, 'busy', 'Too much is being sent to the service at once; try again in a moment.', {
    headers: { 'retry-after': '1' },
  });
