import type { Context, MiddlewareHandler } from 'hono';
import { ServiceError } from './errors.ts';
import { requestInfo } from './request-info.ts';

/** Bytes of bodies that may be held at once. */
export interface BodyLimits {
  readonly total: number;
  /** Of all tenants of one environment. It leaves room for other environments. */
  readonly perEnvironment: number;
  /** Of one tenant, however many tokens it has. */
  readonly perTenant: number;
}

const mebibyte = 2 ** 20;

/** Each byte takes up to three in memory: as it came, as text, and on its way to a runner or compiler. */
const bodyLimits: BodyLimits = {
  total: 128 * mebibyte,
  perEnvironment: 96 * mebibyte,
  perTenant: 32 * mebibyte,
};

declare module 'hono' {
  interface ContextVariableMap {
    /** Counts the body of the request, of so many bytes; see {@link boundBodies}. */
    holdBody?: (size: number) => void;
  }
}

/**
 * Bounds what the bodies of all requests take of the memory together, from when they begin to be read until they are answered:
 * they wait for what is slow to send, and for their turn to run. Whose they are is known by then, so that nobody takes the room
 * of others by tokens that are none.
 */
export function boundBodies(limits: BodyLimits = bodyLimits): MiddlewareHandler {
  const held = new Map<string, number>();
  return async (c, next) => {
    const holds: { key: string; size: number }[] = [];
    c.set('holdBody', (size) => {
      if (!size) return;
      const wanted = holdersOf(c, limits);
      if (wanted.some(({ key, most }) => (held.get(key) ?? 0) + size > most)) throw busy();
      for (const { key } of wanted) {
        held.set(key, (held.get(key) ?? 0) + size);
        holds.push({ key, size });
      }
    });
    try {
      await next();
    } finally {
      for (const { key, size } of holds) {
        const left = (held.get(key) ?? 0) - size;
        if (left > 0) held.set(key, left);
        else held.delete(key);
      }
    }
  };
}

/** Has a body counted, of at most so many bytes, that is about to be read. Throws 503 where there is no room for it. */
export const holdBody = (c: Context, size: number): void => c.get('holdBody')?.(size);

function holdersOf(c: Context, { total, perEnvironment, perTenant }: BodyLimits) {
  const { environment = '', tenant = '' } = requestInfo(c);
  return [
    { key: '', most: total },
    { key: JSON.stringify([environment]), most: perEnvironment },
    { key: JSON.stringify([environment, tenant]), most: perTenant },
  ];
}

const busy = () =>
  new ServiceError(503, 'busy', 'Too much is being sent to the service at once; try again in a moment.', {
    headers: { 'retry-after': '1' },
  });
