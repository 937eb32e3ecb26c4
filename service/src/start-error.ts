/** A problem that the person who starts the service can fix. Its message says how. */
export class StartError extends Error {
  override readonly name = 'StartError';
}
