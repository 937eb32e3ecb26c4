import { SecretsUnavailableError } from '../outbound/secrets.ts';
import { DeletedError, StorageUnavailableError } from '../storage/errors.ts';
import { StorageFullError } from '../storage/tables/tenant-storage.ts';
import type { CodeOf, ErrorCode, StatusOf } from './error-codes.ts';

export interface ErrorDetails {
  readonly headers?: Readonly<Record<string, string>>;
  /** What the error is about: a JSON Pointer to a part of the body, or a slash and the name of a query parameter. */
  readonly path?: string | undefined;
  /** Values that belong to the error, for programs. */
  readonly details?: Readonly<Record<string, number>> | undefined;
  /** What a run logged before it failed. */
  readonly logs?: readonly string[] | undefined;
}

/** An error that the service responds with, as JSON: a status code, an error code for programs and a message for people. */
export class ServiceError<C extends ErrorCode = ErrorCode> extends Error {
  override readonly name = 'ServiceError';
  readonly status: number;
  readonly code: ErrorCode;
  readonly headers: Readonly<Record<string, string>>;
  readonly path: string | undefined;
  readonly details: ErrorDetails['details'];
  readonly logs: readonly string[] | undefined;

  constructor(
    status: StatusOf<C>,
    code: C,
    message: string,
    { headers = {}, path, details, logs }: ErrorDetails = {},
  ) {
    super(message);
    this.status = status;
    this.code = code;
    this.headers = headers;
    this.path = path;
    this.details = details;
    this.logs = logs;
  }
}

export const badRequest = (code: CodeOf<400>, message: string, path?: string) =>
  new ServiceError(400, code, message, { path });

// The challenge is the bare scheme; the body says what is wrong with the token.
export const unauthorized = (code: CodeOf<401>, message: string) =>
  new ServiceError(401, code, message, { headers: { 'www-authenticate': 'Bearer' } });

/** The error for an unknown or ended editor token, and for one whose tenant was deleted since the request was authorized. */
export const endedEditorToken = () =>
  unauthorized('token-invalid', 'The editor token is unknown or has ended; get a new one.');

export const forbidden = (message: string) => new ServiceError(403, 'forbidden', message);

export const notPermitted = (permission: string) =>
  new ServiceError(403, 'not-permitted', `The editor token does not have the permission "${permission}".`);

export const outOfScope = (scope: string) =>
  new ServiceError(403, 'not-permitted', `The environment token does not have the scope "${scope}".`);

export const tenantSuspended = () =>
  new ServiceError(
    403,
    'tenant-suspended',
    'This tenant is suspended: its plugins can be neither edited nor run until the suspension ends.',
  );

export const tenantDeleted = () =>
  new ServiceError(
    403,
    'tenant-deleted',
    'This tenant was deleted: its plugins do not run, and it gets no tokens, unless it is created again.',
  );

export const notFound = (code: CodeOf<404>, message: string) => new ServiceError(404, code, message);

export const methodNotAllowed = (method: string, allow: string) =>
  new ServiceError(
    405,
    'method-not-allowed',
    `${method} is not allowed at this path; allowed are: ${allow}.`,
    {
      headers: { allow },
    },
  );

/**
 * Makes the response for anything that was thrown: `{ error: { code, message, path?, details?, requestId }, logs? }`. An unexpected error
 * (see {@link isUnexpectedError}) becomes a 500 that reveals nothing but the id of the request, by which it can be found in the
 * log.
 */
export function errorResponse(error: unknown, requestId: string): Response {
  const { status, logs, headers } = toServiceError(error) ?? internalError;
  return Response.json({ error: errorBody(error, requestId), logs }, { status, headers });
}

/** What the last event of a stream says of an error after which there is no result: the status and body that a response would have. */
export function errorEvent(error: unknown, requestId: string): string {
  const { status } = toServiceError(error) ?? internalError;
  return JSON.stringify({ status, error: errorBody(error, requestId) });
}

function errorBody(error: unknown, requestId: string): object {
  const { code, message, path, details } = toServiceError(error) ?? internalError;
  return { code, message, ...(path !== undefined && { path }), ...(details && { details }), requestId };
}

/** The code that a request is answered with after an error. */
export const errorCodeOf = (error: unknown): string => (toServiceError(error) ?? internalError).code;

/** Whether an error is one that the service does not respond with on purpose, so that somebody has to look into it. */
export const isUnexpectedError = (error: unknown): boolean => toServiceError(error) === undefined;

function toServiceError(error: unknown): ServiceError | undefined {
  if (error instanceof ServiceError) return error;
  if (error instanceof StorageUnavailableError) return error.isDiskFull ? diskFull : storageUnavailable;
  if (error instanceof StorageFullError) return storageFull(error);
  if (error instanceof SecretsUnavailableError) return secretsUnavailable;
  if (error instanceof DeletedError) return endedEditorToken();
  return undefined;
}

const storageFull = ({ usedMb, allowedMb }: StorageFullError) =>
  new ServiceError(
    403,
    'storage-full',
    `The drafts, versions and programs of this tenant take ${usedMb} MB of the ${allowedMb} MB that they may take. Delete versions or plugins, or shorten drafts, to make room.`,
    { details: { usedMb, allowedMb } },
  );

const secretsUnavailable = new ServiceError(
  503,
  'secrets-unavailable',
  'The service can store and read no secrets: its operator has to set SECRETS_KEY to keys of 32 bytes in base64.',
  { headers: { 'retry-after': '600' } },
);

const internalError = new ServiceError(
  500,
  'internal',
  'The service failed to answer this request; its log says more.',
);

// A node that has lost its database tries every second to connect again, so a client need not wait longer than two.
const storageUnavailable = new ServiceError(
  503,
  'storage-unavailable',
  'The service cannot use its database at the moment; try again. A change that was asked for may have been made or not.',
  { headers: { 'retry-after': '2' } },
);

const diskFull = new ServiceError(
  503,
  'storage-unavailable',
  "The disk of the service's database is full, so that nothing can be saved until its operator makes room. What is there can be read, and plugins run.",
  { headers: { 'retry-after': '60' } },
);
