import { baseOf, httpUrl } from '../core/address.ts';
import { PluginEditorError } from '../core/errors.ts';
import type { Features } from '../core/records.ts';
import { DEFAULT_TIMEOUT, bearer, requestJson } from '../core/request.ts';
import { featuresShape } from '../core/shapes.ts';
import { type TokenRequest, type TokenSource, getToken } from '../core/token.ts';
import type { EditorToken } from '../core/token-life.ts';
import type { PluginEditorState } from './state.ts';

/** Gets a token for the features request, where a builder asks for one. */
export type FetchFeaturesToken = (request: { signal: AbortSignal }) => Promise<string | EditorToken>;

/** An element that shows a source; `requestUpdate('state')` tells it that the source has changed. @internal */
export interface FeaturesUser {
  fetchToken?: FetchFeaturesToken | undefined;
  requestUpdate(name: 'state'): void;
}

/** The sources without `fetchToken`, by the builder's base address. Each is in here as long as an element uses it. */
const shared = new Map<string, FeaturesSource>();

/**
 * Requests and holds the features record of one builder. Elements without `fetchToken` that name the same builder share one
 * source, and so one request and one record. The source is dropped when the last of them leaves.
 * @internal
 */
export class FeaturesSource {
  state: PluginEditorState = 'idle';
  /** The latest record. A refresh that fails keeps it. */
  declare record: Readonly<Features> | undefined;
  declare error: Error | undefined;

  #builder: string;
  #owner: FeaturesUser | undefined;
  #users = new Set<FeaturesUser>();
  #abort = new AbortController();
  #flight: Promise<void> | undefined;

  private constructor(builder: string, owner: FeaturesUser | undefined) {
    this.#builder = builder;
    this.#owner = owner;
  }

  /** Returns the source of a builder for one more user, and requests the record unless it is there or under way. */
  static join(address: string, user: FeaturesUser): FeaturesSource {
    const builder = address.replace(/\/$/, '');
    const known = user.fetchToken ? undefined : shared.get(builder);
    const source = known ?? new FeaturesSource(builder, user.fetchToken && user);
    if (!source.#owner) shared.set(builder, source);
    source.#users.add(user);
    // The outcome is in the source's state.
    if (source.state !== 'ready') source.load().catch(() => {});
    return source;
  }

  /** Removes a user, and aborts the request when it was the last one. */
  leave(user: FeaturesUser): void {
    this.#users.delete(user);
    if (this.#users.size) return;
    if (!this.#owner) shared.delete(this.#builder);
    this.#abort.abort();
  }

  /** Requests the record unless a request is under way. Rejects with what becomes `error`. */
  load(): Promise<void> {
    if (this.state !== 'loading') this.#flight = this.#load();
    return this.#flight as Promise<void>;
  }

  async #load(): Promise<void> {
    const { signal } = this.#abort;
    const fetchToken = this.#owner?.fetchToken;
    let token: string | undefined;
    this.#set('loading');
    try {
      // First, so that a wrong address is an error before a token is requested.
      const url = baseOf(httpUrl('builder', this.#builder)) + '/api/v1/features';
      if (fetchToken) {
        const source: Partial<TokenSource> = { fetchToken, timeout: DEFAULT_TIMEOUT };
        ({ token } = await getToken(source as TokenSource, { signal } as TokenRequest));
      }
      const init: RequestInit = { credentials: 'omit', headers: token ? bearer(token) : {} };
      const { data } = await requestJson(featuresShape, { url, init, signal });
      this.record = freeze(data);
      this.#set('ready');
    } catch (cause) {
      const { message } = cause as Error;
      const error =
        cause instanceof TypeError
          ? new PluginEditorError(token ? 'token-invalid' : 'config', message)
          : (cause as Error);
      // The error view speaks to the page's user, the console to its developer.
      if (!signal.aborted) console.error(`<plugin-features> ${message}`);
      this.#set('error', error);
      throw error;
    }
  }

  #set(state: typeof this.state, error?: Error): void {
    this.state = state;
    this.error = error;
    for (const user of this.#users) user.requestUpdate('state');
  }
}

/** Freezes a value and all that it holds, because all users of a source get the same object. */
function freeze<T>(value: T): T {
  if (value instanceof Object) Object.values(value).forEach(freeze);
  return Object.freeze(value);
}
