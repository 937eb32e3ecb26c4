import { HttpError } from 'plugin-editor/client.js';
import { UnusableValueError } from '../plugin/target.ts';

/** Gets a token in place of one that has ended; rejects when it cannot. */
export type RenewToken = () => Promise<string>;

/** How long a request waits for another token, in ms: the launcher may never answer. */
const MAX_RENEWAL_WAIT = 30_000;

/**
 * The headers that carry a token.
 * @throws UnusableValueError when no header can hold the token. An engine's own error would quote it.
 */
export function bearer(token: string): { authorization: string } {
  if (!/^[!-~]+$/.test(token)) throw new UnusableValueError('token');
  return { authorization: `Bearer ${token}` };
}

/** Holds the token that the requests of one plugin are made with, and gets another one when it has ended. */
export class TokenHolder {
  /** It may be replaced at any time, so it is read anew for each request. */
  token: string;
  readonly #renewToken: RenewToken | undefined;
  #renewal: Promise<boolean> | undefined;

  constructor(token: string, renewToken?: RenewToken) {
    this.token = token;
    this.#renewToken = renewToken;
  }

  /** The headers that carry the present token. @throws UnusableValueError as `bearer` does. */
  get headers(): { authorization: string } {
    return bearer(this.token);
  }

  /** Runs a request. When the service says that the token has ended, runs it once more with another token. */
  async use<T>(request: () => Promise<T>): Promise<T> {
    const { token } = this;
    try {
      return await request();
    } catch (error) {
      if (!(error instanceof HttpError && error.status === 401)) throw error;
      // Another request may have renewed the token meanwhile.
      if (token === this.token && !(await this.#renew())) throw error;
      return request();
    }
  }

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
