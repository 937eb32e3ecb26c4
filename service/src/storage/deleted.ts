/** A row could not be written, because its tenant was deleted since it was looked up. */
export class DeletedError extends Error {
  override readonly name = 'DeletedError';

  constructor() {
    super('The tenant was deleted meanwhile.');
  }
}
