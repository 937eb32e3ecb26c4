import type { MiddlewareHandler } from 'hono';
import { sourceLimit } from './source-limit.ts';
import { ServiceError } from './errors.ts';
import { runLimits } from '../sandbox/outcome.ts';

export interface BodyLimits {
  /** Bytes of all bodies together. */
  readonly total: number;
  /** Bytes of the bodies that come with one token, so that nobody fills all of it alone. */
  readonly perToken: number;
}

/** Each byte takes up to three in memory: as it came, as text, and on its way to a runner or compiler. */
const bodyLimits: BodyLimits = { total: 128 * 2 ** 20, perToken: 32 * 2 ** 20 };

/** What no body is larger than; one that does not say how large it is counts as much. */
const largestBody = Math.max(sourceLimit, runLimits.input);

/**
 * Bounds what the bodies of all requests take of the memory together, from their headers until they are answered: they wait
 * for what is slow to send, and for their turn to run. Past it a request is answered with 503 before its body is read.
 */
export function boundBodies({ total, perToken }: BodyLimits = bodyLimits): MiddlewareHandler {
  const perHolder = new Map<string, number>();
  let held = 0;
  return async (c, next) => {
    const size = bodySize(c.req.header('content-length'), c.req.header('transfer-encoding'));
    if (!size) return next();
    const holder = c.req.header('authorization') ?? '';
    const own = perHolder.get(holder) ?? 0;
    if (held + size > total || own + size > perToken) throw busy();
    held += size;
    perHolder.set(holder, own + size);
    try {
      await next();
    } finally {
      held -= size;
      const left = (perHolder.get(holder) ?? 0) - size;
      if (left > 0) perHolder.set(holder, left);
      else perHolder.delete(holder);
    }
  };
}

function bodySize(contentLength: string | undefined, transferEncoding: string | undefined): number {
  if (transferEncoding !== undefined) return largestBody;
  // One that is larger is refused unread.
  return Math.min(Number(contentLength ?? 0) || 0, largestBody);
}

const busy = () =>
  new ServiceError(503, 'busy', 'Too much is being sent to the service at once; try again in a moment.', {
    headers: { 'retry-after': '1' },
  });
