import { UnusableValueError } from '../plugin/target.ts';

/** Gets a token to replace one that has ended; rejects when it cannot. */
export type RenewToken = () => Promise<string>;

/**
 * How long a request waits for another token, in ms: the launcher may never answer. It is shorter than the client's time-outs, so
 * that the user hears that the session ended, and not that the service cannot be reached.
 */
const MAX_RENEWAL_WAIT = 10_000;

/** @throws UnusableValueError when no header can hold the token. An engine's own error would quote it. */
export function checkToken(token: string): void {
  if (!/^[!-~]+$/.test(token)) throw new UnusableValueError('token');
}

/** Sends the requests of one plugin with its token, and renews the token when the service says that it has ended. */
export class BearerAuth {
  /** It may be replaced at any time, so it is read anew for each request. */
  token: string;
  readonly #renewToken: RenewToken | undefined;
  #renewal: Promise<boolean> | undefined;

  constructor(token: string, renewToken?: RenewToken) {
    this.token = token;
    this.#renewToken = renewToken;
  }

  /**
   * Sends a request with the present token: a client that waited to send it once more has an older one. When the service says that
   * the token has ended, sends it again with another.
   */
  readonly fetch = async (input: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    const send = () => {
      const headers = new Headers(init.headers);
      headers.set('authorization', `Bearer ${this.token}`);
      return fetch(input, { ...init, headers });
    };
    const { token } = this;
    const response = await send();
    if (response.status !== 401) return response;
    // Another request may have renewed the token meanwhile.
    if (token === this.token && !(await this.#renew())) return response;
    response.body?.cancel().catch(() => {});
    return send();
  };

  /** Resolves with whether there is a new token. Requests that fail together share one renewal. */
  #renew(): Promise<boolean> {
    return (this.#renewal ??= this.#requestToken().finally(() => (this.#renewal = undefined)));
  }

  async #requestToken(): Promise<boolean> {
    if (!this.#renewToken) return false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const timeUp = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), MAX_RENEWAL_WAIT);
    });
    try {
      const token = await Promise.race([this.#renewToken(), timeUp]);
      if (token === undefined) return false;
      checkToken(token);
      this.token = token;
      return true;
    } catch {
      // Without another token the service's refusal stands: the session has ended.
      return false;
    } finally {
      clearTimeout(timer);
    }
  }
}
