/** The plugin that a token was requested for. */
export interface TokenTarget {
  ident: string;
  namespace: string;
  fn: string;
}

/** A token endpoint that gives a new token for each request, until a test has it refuse them. */
export class StandInTokens {
  /** The plugins that tokens were requested for, oldest first. */
  readonly requests: TokenTarget[] = [];
  /** How long a token lives, in seconds. Default 900. */
  expiresIn = 900;
  #status = 200;

  /** Answers every request with this status from now on, such as 401 after the session has ended. */
  refuse(status = 403): void {
    this.#status = status;
  }

  /** Gives tokens again. */
  accept(): void {
    this.#status = 200;
  }

  /** Makes the response to a request, whose three names are in a JSON body or in the query. */
  answer(body: string | null, query: URLSearchParams): { status: number; body: string } {
    const target: Partial<TokenTarget> = body
      ? (JSON.parse(body) as Partial<TokenTarget>)
      : Object.fromEntries(query);
    const { ident = '', namespace = '', fn = '' } = target;
    this.requests.push({ ident, namespace, fn });
    if (this.#status !== 200) return { status: this.#status, body: '{}' };
    const token = `stand-in-token-${this.requests.length}`;
    return { status: 200, body: JSON.stringify({ token, expires_in: this.expiresIn }) };
  }
}
