import type { Context } from 'hono';
import { ServiceError } from './errors.ts';

const tags = (header: string): string[] => header.match(/(?:W\/)?"[^"]*"/g) ?? [];

/**
 * Throws 412 when the current draft is not the one that a write means to replace (`If-Match`), or when there is one and the
 * write means to replace none (`If-None-Match`).
 * @param current the entity tag of the current draft; `undefined` when there is none
 */
export function checkPreconditions(c: Context, current: string | undefined): void {
  const ifMatch = c.req.header('if-match');
  if (
    ifMatch !== undefined &&
    !(current !== undefined && (ifMatch.trim() === '*' || tags(ifMatch).includes(current)))
  ) {
    throw new ServiceError(
      412,
      'precondition-failed',
      current === undefined
        ? 'There is no draft yet, so If-Match can match none.'
        : 'The draft has changed since it was read; read it again for its new ETag.',
      current === undefined ? {} : { headers: { etag: current } },
    );
  }
  const ifNoneMatch = c.req.header('if-none-match');
  if (ifNoneMatch !== undefined && current !== undefined && matchesWeakly(ifNoneMatch, current)) {
    throw new ServiceError(412, 'precondition-failed', 'There is a draft already; read it for its ETag.', {
      headers: { etag: current },
    });
  }
}

/** Whether a write depends on the current draft. Otherwise {@link checkPreconditions} never throws. */
export const hasPreconditions = (c: Context): boolean =>
  c.req.header('if-match') !== undefined || c.req.header('if-none-match') !== undefined;

/** Whether the response to a read is 304, because the client has the current draft. */
export const isNotModified = (c: Context, current: string): boolean =>
  matchesWeakly(c.req.header('if-none-match') ?? '', current);

const matchesWeakly = (header: string, current: string) =>
  header.trim() === '*' || tags(header).some((tag) => tag.replace(/^W\//, '') === current);
