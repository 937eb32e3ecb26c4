import { DeletedError } from '../storage/deleted.ts';
import { StorageUnavailableError } from '../storage/unavailable.ts';
import type { CodeOf, ErrorCode, StatusOf } from './error-codes.ts';

export interface ErrorDetails {
  readonly headers?: Readonly<Record<string, string>>;
  /** A JSON Pointer to the part of the body, or a parameter's name after a slash, that the error is about. */
  readonly path?: string | undefined;
  /** What a run logged before it failed. */
  readonly logs?: readonly string[] | undefined;
}

/** Every refusal of the service: a status, a code for programs and a message for people, as JSON. */
export class ServiceError<C extends ErrorCode = ErrorCode> extends Error {
  override readonly name = 'ServiceError';
  readonly status: number;
  readonly code: ErrorCode;
  readonly headers: Readonly<Record<string, string>>;
  readonly path: string | undefined;
  readonly logs: readonly string[] | undefined;

  constructor(
    status: StatusOf<C>,
    code: C,
    message: string,
    { headers = {}, path, logs }: ErrorDetails = {},
  ) {
    super(message);
    this.status = status;
    this.code = code;
    this.headers = headers;
    this.path = path;
    this.logs = logs;
  }
}

export const badRequest = (code: CodeOf<400>, message: string, path?: string) =>
  new ServiceError(400, code, message, { path });

// The challenge is the bare scheme: what is wrong with a token is said in the body, for people.
export const unauthorized = (code: CodeOf<401>, message: string) =>
  new ServiceError(401, code, message, { headers: { 'www-authenticate': 'Bearer' } });

/** Also where the token was good a moment ago, and its tenant was deleted since. */
export const endedEditorToken = () =>
  unauthorized('token-invalid', 'The editor token is unknown or has ended; get a new one.');

export const forbidden = (message: string) => new ServiceError(403, 'forbidden', message);

export const notPermitted = (permission: string) =>
  new ServiceError(403, 'not-permitted', `The editor token does not have the permission "${permission}".`);

export const tenantSuspended = () =>
  new ServiceError(
    403,
    'tenant-suspended',
    'This tenant is suspended: its plugins are neither edited nor run until it is not any more.',
  );

export const tenantDeleted = () =>
  new ServiceError(
    403,
    'tenant-deleted',
    'This tenant was deleted; it gets no tokens unless it is created anew.',
  );

export const notFound = (code: CodeOf<404>, message: string) => new ServiceError(404, code, message);

export const methodNotAllowed = (method: string, allow: string) =>
  new ServiceError(405, 'method-not-allowed', `${method} is not possible here; possible are: ${allow}.`, {
    headers: { allow },
  });

/**
 * The answer for anything thrown: `{ error: { code, message, path?, requestId }, logs? }`. What {@link isFault} says so of tells
 * nothing but the id of the request, by which the log can be asked.
 */
export function errorResponse(error: unknown, requestId: string): Response {
  const { status, code, message, path, logs, headers } = refusalOf(error) ?? fault;
  const body = { code, message, ...(path !== undefined && { path }), requestId };
  return Response.json({ error: body, logs }, { status, headers });
}

/** Whether an error is a fault of ours, to be looked into, rather than a refusal. */
export const isFault = (error: unknown): boolean => refusalOf(error) === undefined;

function refusalOf(error: unknown): ServiceError | undefined {
  if (error instanceof ServiceError) return error;
  if (error instanceof StorageUnavailableError) return storageUnavailable;
  if (error instanceof DeletedError) return endedEditorToken();
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
  { headers: { 'retry-after': '2' } },
);
