/** A fault that the person who starts the service can mend; its message says how. */
export class StartError extends Error {
  override readonly name = 'StartError';
}
