import type { Context } from 'hono';
import { ServiceError } from './errors.ts';

const tags = (header: string): string[] => header.match(/(?:W\/)?"[^"]*"/g) ?? [];

/**
 * Throws 412 when a write that says what it means to replace (`If-Match`), or that nothing is to be replaced
 * (`If-None-Match`), would do otherwise. `current` is the entity tag of what is there, if anything is.
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
      current === undefined ? 'There is no draft yet.' : 'The draft has changed since it was read.',
      current === undefined ? {} : { headers: { etag: current } },
    );
  }
  const ifNoneMatch = c.req.header('if-none-match');
  if (ifNoneMatch !== undefined && current !== undefined && matchesWeakly(ifNoneMatch, current)) {
    throw new ServiceError(412, 'precondition-failed', 'There is a draft already.', {
      headers: { etag: current },
    });
  }
}

/** Whether a write depends on what is there. Without it, {@link checkPreconditions} lets anything pass. */
export const hasPreconditions = (c: Context): boolean =>
  c.req.header('if-match') !== undefined || c.req.header('if-none-match') !== undefined;

/** Whether a read can be answered by 304: the reader has what is there. */
export const isNotModified = (c: Context, current: string): boolean =>
  matchesWeakly(c.req.header('if-none-match') ?? '', current);

const matchesWeakly = (header: string, current: string) =>
  header.trim() === '*' || tags(header).some((tag) => tag.replace(/^W\//, '') === current);
