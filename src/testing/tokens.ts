/** The plugin that a token was asked for. */
export interface TokenTarget {
  ident: string;
  namespace: string;
  fn: string;
}

/** A token endpoint that gives a new token each time, or refuses at a test's word. */
export class StandInTokens {
  /** What was asked for, oldest first. */
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

  /** Answers one request: the three names of its JSON body or of its query. */
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
