/** A command was called with arguments that it does not take; its usage follows the message. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
