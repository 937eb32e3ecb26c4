/**
 * Thrown for a request that gets no token: a status, a code for programs, and a message for people that says what would be
 * right.
 */
export class Refusal extends Error {
  override readonly name = 'Refusal';
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

/** All that a response says about a failure of the endpoint itself. */
export const INTERNAL_MESSAGE = 'The token endpoint failed; its log should say why';

/** Makes a response of JSON that no cache keeps, because it holds a token or is only for one caller. */
export const jsonResponse = (status: number, body: object, headers: Readonly<Record<string, string>> = {}) =>
  Response.json(body, {
    status,
    headers: { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff', ...headers },
  });

export const refusalResponse = ({ status, code, message, headers }: Refusal): Response =>
  jsonResponse(status, { error: { code, message } }, headers);
