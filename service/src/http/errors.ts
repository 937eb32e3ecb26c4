/** Every refusal of the service: a status, a code for programs and a message for people, as JSON. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly status: number;
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;

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
 * The answer for anything thrown. What is not a {@link ServiceError} is a fault of ours and tells nothing but the id of the
 * request, by which the log can be asked.
 */
export function errorResponse(error: unknown, requestId: string): Response {
  const { status, code, message, headers } =
    error instanceof ServiceError
      ? error
      : new ServiceError(500, 'internal', 'The service failed to answer this request; its log says more.');
  return Response.json({ error: { code, message, requestId } }, { status, headers });
}
