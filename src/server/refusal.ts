/** An answer other than a token: a status, a code for programs and a message for people that says what would be right. */
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

/** All that an answer says of a failure on this side. */
export const INTERNAL = 'The token endpoint failed; its log should say why';

/** JSON that no cache keeps: it holds a token, or is about one. */
export const jsonAnswer = (status: number, body: object, headers: Readonly<Record<string, string>> = {}) =>
  Response.json(body, {
    status,
    headers: { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff', ...headers },
  });

export const refusalAnswer = ({ status, code, message, headers }: Refusal): Response =>
  jsonAnswer(status, { error: { code, message } }, headers);
