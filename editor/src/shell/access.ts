import { HttpError } from '../../../src/core/errors.ts';

/** Gets a token in place of one that has ended; rejects when there is none to be had. */
export type RenewToken = () => Promise<string>;

/** How long a request waits for another token, in ms: whoever was asked may never answer. */
const LONGEST_WAIT = 30_000;

/** What the requests of one plugin are made with. */
export class Access {
  /** It may be replaced at any time: to be read anew for each request. */
  token: string;
  readonly #renew: RenewToken | undefined;
  #renewing: Promise<boolean> | undefined;

  constructor(token: string, renew?: RenewToken) {
    this.token = token;
    this.#renew = renew;
  }

  /** Runs a request; where the builder says that the token has ended, once more with another one. */
  async use<T>(request: () => Promise<T>): Promise<T> {
    const { token } = this;
    try {
      return await request();
    } catch (error) {
      if (!(error instanceof HttpError && error.status === 401)) throw error;
      // Meanwhile another request may have seen to it.
      if (token === this.token && !(await this.#replace())) throw error;
      return request();
    }
  }

  /** Requests that fail together ask once. */
  #replace(): Promise<boolean> {
    return (this.#renewing ??= this.#ask().finally(() => (this.#renewing = undefined)));
  }

  async #ask(): Promise<boolean> {
    if (!this.#renew) return false;
    let limit: ReturnType<typeof setTimeout> | undefined;
    const noAnswer = new Promise<never>((_, reject) => {
      limit = setTimeout(() => reject(new Error('No answer')), LONGEST_WAIT);
    });
    try {
      this.token = await Promise.race([this.#renew(), noAnswer]);
      return true;
    } catch {
      // That there is no other token leaves the answer as it was: the session ended.
      return false;
    } finally {
      clearTimeout(limit);
    }
  }
}
