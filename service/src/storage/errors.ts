/**
 * The database cannot be used at the moment: it cannot be reached, takes too long, or has no space left. It is unknown whether a
 * write was committed; the request can be repeated. The cause says what happened, for the operator.
 */
export class StorageUnavailableError extends Error {
  override readonly name = 'StorageUnavailableError';

  /** Whether there is no room on the disk, so that only what adds to the database fails. */
  readonly isDiskFull: boolean;
  /** Whether the transaction was rolled back because of another one, so that it can be done again at once. */
  readonly isConflict: boolean;

  constructor(cause: unknown, { isDiskFull = false, isConflict = false } = {}) {
    super('The database cannot be used at the moment.', { cause });
    this.isDiskFull = isDiskFull;
    this.isConflict = isConflict;
  }
}

/** The database was migrated so far that this release must not use it. */
export class NewerDatabaseError extends Error {
  override readonly name = 'NewerDatabaseError';
}

/** A row could not be written, because its tenant was deleted since it was looked up. */
export class DeletedError extends Error {
  override readonly name = 'DeletedError';

  constructor() {
    super('The tenant was deleted meanwhile.');
  }
}

/** Describes an error of a database in one line. Some errors of sockets have a code and no message, or several causes. */
export function describeDatabaseError(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length) return describeDatabaseError(error.errors[0]);
  if (error instanceof StorageUnavailableError) return describeDatabaseError(error.cause);
  if (!(error instanceof Error)) return String(error);
  const { code } = error as NodeJS.ErrnoException;
  return (error.message || code || error.name).replaceAll(/[\r\n]+/g, ' ').replace(/\.$/, '');
}
