import { StorageUnavailableError } from './unavailable.ts';

/** Describes an error of a database in one line. Some errors of sockets have a code and no message, or several causes. */
export function describeDatabaseError(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length) return describeDatabaseError(error.errors[0]);
  if (error instanceof StorageUnavailableError) return describeDatabaseError(error.cause);
  if (!(error instanceof Error)) return String(error);
  const { code } = error as NodeJS.ErrnoException;
  return (error.message || code || error.name).replaceAll(/[\r\n]+/g, ' ').replace(/\.$/, '');
}
