import { HttpError, RequestError } from 'plugin-editor/server.js';
import { Refusal } from './refusals.ts';

/** Asks the plugin service; what it refuses becomes a refusal of ours, and what goes wrong a line in the log. */
export async function askService<T>(what: string, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    throw toRefusal(what, error);
  }
}

/** `undefined` where the plugin service has no such thing: nothing was saved or run yet. */
export async function whereFound<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof HttpError && error.status === 404) return undefined;
    throw error;
  }
}

function toRefusal(what: string, error: unknown): unknown {
  // A name that no path can hold, or an input that is no text: the client refuses it before any request.
  if (error instanceof TypeError) return new Refusal(400, 'invalid-request', `${error.message}.`);
  if (error instanceof HttpError) {
    if (error.code === 'tenant-suspended') return suspended();
    if (error.code === 'version-not-found' || error.code === 'plugin-not-found')
      return new Refusal(404, error.code, 'There is no such version; it may have been deleted meanwhile.');
    if (error.code === 'invalid-text') return new Refusal(400, error.code, 'A name or an input is no text.');
  }
  if (!(error instanceof RequestError)) return error;
  // The error has the address, and so the name as a path holds it: as it is, it could forge a line of this log.
  console.error(`${what} failed:`, error);
  return new Refusal(502, 'service-failed', 'The plugin service gave no usable answer.');
}

export const suspended = () =>
  new Refusal(
    403,
    'customer-suspended',
    'This customer is suspended: its plugins are kept, and neither opened nor run until Larder resumes it.',
  );
