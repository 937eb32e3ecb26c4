/** What was to be written is of a tenant that was deleted since it was found. */
export class DeletedError extends Error {
  override readonly name = 'DeletedError';

  constructor() {
    super('The tenant was deleted meanwhile.');
  }
}
