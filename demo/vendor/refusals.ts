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
