/**
 * The database cannot be had at this moment: it is away, takes too long, or has no room. Whether a write was done is then
 * unknown to whoever asked for it, and it can be asked for again. The cause says what happened, for the operator.
 */
export class StorageUnavailableError extends Error {
  override readonly name = 'StorageUnavailableError';

  constructor(cause: unknown) {
    super('The database cannot be used at the moment.', { cause });
  }
}
