import { HttpError, RequestError } from 'plugin-editor/server.js';

/** A refusal by the vendor's back end: a status, a code for programs and a message for people, as JSON. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** The response for anything thrown. Of an error that is not a {@link Refusal} the client learns nothing. */
export function refusalResponse(error: unknown): Response {
  const { status, code, message } =
    error instanceof Refusal
      ? error
      : new Refusal(500, 'internal', 'The app failed to answer this request; its log says more.');
  return Response.json({ error: { code, message } }, { status });
}

export const signedOut = () => new Refusal(401, 'signed-out', 'Sign in first.');

export const customerDeleted = () =>
  new Refusal(
    403,
    'customer-deleted',
    'This customer was deleted: its plugins, their versions and records of runs are gone.',
  );

/** Calls the plugin service. Its refusals become refusals of this back end, and other errors are logged. */
export async function callService<T>(what: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw toRefusal(what, error);
  }
}

/** Resolves with `undefined` where the plugin service responds 404, because nothing was saved or run yet. */
export async function undefinedIfNotFound<T>(response: Promise<T>): Promise<T | undefined> {
  try {
    return await response;
  } catch (error) {
    if (error instanceof HttpError && error.status === 404) return undefined;
    throw error;
  }
}

function toRefusal(what: string, error: unknown): unknown {
  // The client refuses a name that no path can have, or an input that is not well-formed text, before any request. The error is
  // logged, because a mistake in this program can be a TypeError, too.
  if (error instanceof TypeError) {
    console.error(`${what} failed:`, error);
    return new Refusal(400, 'invalid-request', `${error.message}.`);
  }
  if (error instanceof HttpError) {
    if (error.code === 'tenant-suspended') return suspended();
    if (error.code === 'version-not-found' || error.code === 'plugin-not-found')
      return new Refusal(404, error.code, 'There is no such version; it may have been deleted meanwhile.');
    if (error.code === 'invalid-text') return new Refusal(400, error.code, 'A name or an input is no text.');
  }
  if (!(error instanceof RequestError)) return error;
  // The error has the URL, in which the name is encoded: a raw name could forge a line of this log.
  console.error(`${what} failed:`, error);
  return new Refusal(502, 'service-failed', 'The plugin service gave no usable answer.');
}

export const suspended = () =>
  new Refusal(
    403,
    'customer-suspended',
    'This customer is suspended: its plugins are kept, and neither opened nor run until Larder resumes it.',
  );
