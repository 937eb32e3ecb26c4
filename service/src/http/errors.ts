import { StorageUnavailableError } from '../storage/unavailable.ts';

/** Every refusal of the service: a status, a code for programs and a message for people, as JSON. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly status: number;
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;
  /** What the answer holds beside `error`. */
  readonly beside: Readonly<Record<string, unknown>> = {};

  constructor(status: number, code: string, message: string, headers: Record<string, string> = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.headers = headers;
  }
}

export const badRequest = (code: string, message: string) => new ServiceError(400, code, message);

// The challenge is the bare scheme: what is wrong with a token is said in the body, for people.
export const unauthorized = (code: 'token-missing' | 'token-invalid', message: string) =>
  new ServiceError(401, code, message, { 'www-authenticate': 'Bearer' });

export const forbidden = (message: string) => new ServiceError(403, 'forbidden', message);

export const notFound = (code: string, message: string) => new ServiceError(404, code, message);

export const methodNotAllowed = (method: string, allow: string) =>
  new ServiceError(405, 'method-not-allowed', `${method} is not possible here; possible are: ${allow}.`, {
    allow,
  });

/**
 * The answer for anything thrown. What {@link isFault} says so of tells nothing but the id of the request, by which the log
 * can be asked.
 */
export function errorResponse(error: unknown, requestId: string): Response {
  const { status, code, message, headers, beside } = refusalOf(error) ?? fault;
  return Response.json({ error: { code, message, requestId }, ...beside }, { status, headers });
}

/** Whether an error is a fault of ours, to be looked into, rather than a refusal. */
export const isFault = (error: unknown): boolean => refusalOf(error) === undefined;

function refusalOf(error: unknown): ServiceError | undefined {
  if (error instanceof ServiceError) return error;
  if (error instanceof StorageUnavailableError) return storageUnavailable;
  return undefined;
}

const fault = new ServiceError(
  500,
  'internal',
  'The service failed to answer this request; its log says more.',
);

// Within five seconds of the database's return all is well again.
const storageUnavailable = new ServiceError(
  503,
  'storage-unavailable',
  'The service cannot use its database at the moment; try again. A change that was asked for may have been made or not.',
  { 'retry-after': '2' },
);
