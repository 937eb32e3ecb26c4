/**
 * The database cannot be used as the settings ask for. The message is one line for the person who starts the service: it
 * names the database, never a password, and says what is wrong and what to do.
 */
export class StorageError extends Error {
  override readonly name = 'StorageError';
}

/** What went wrong, in one line. Some errors of sockets have an empty message and a code, or several causes. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length) return reasonOf(error.errors[0]);
  if (!(error instanceof Error)) return String(error);
  const { code } = error as NodeJS.ErrnoException;
  return (error.message || code || error.name).replace(/\s*\n\s*/g, ' ').replace(/\.$/, '');
}
