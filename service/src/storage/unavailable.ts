/**
 * The database cannot be used at the moment: it cannot be reached, takes too long, or has no space left. It is unknown whether a
 * write was committed; the request can be repeated. The cause says what happened, for the operator.
 */
export class StorageUnavailableError extends Error {
  override readonly name = 'StorageUnavailableError';

  constructor(cause: unknown) {
    super('The database cannot be used at the moment.', { cause });
  }
}
