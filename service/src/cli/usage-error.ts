/** A command was called with arguments that it does not accept. The message ends with its usage. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
