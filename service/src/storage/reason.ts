/** What went wrong, in one line. Some errors of sockets have an empty message and a code, or several causes. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length) return reasonOf(error.errors[0]);
  if (!(error instanceof Error)) return String(error);
  const { code } = error as NodeJS.ErrnoException;
  return (error.message || code || error.name).replaceAll(/[\r\n]+/g, ' ').replace(/\.$/, '');
}
