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

/** By base address, for as long as an element uses it. */
const shared = new Map<string, FeaturesSource>();

/**
 * The features record of one builder, and how it is got. All users without `fetchToken` that name the same builder have
 * one source together, so one request and one record; it is forgotten when the last of them leaves.
 * @internal
 */
export class FeaturesSource {
  state: PluginEditorState = 'idle';
  /** The last record that came; a refresh that fails does not take it away. */
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

  /** The source of a builder for one more user; asks for the record unless it is there or under way. */
  static join(address: string, user: FeaturesUser): FeaturesSource {
    const builder = address.replace(/\/$/, '');
    const known = user.fetchToken ? undefined : shared.get(builder);
    const source = known ?? new FeaturesSource(builder, user.fetchToken && user);
    if (!source.#owner) shared.set(builder, source);
    source.#users.add(user);
    // What comes of it is the source's state.
    if (source.state !== 'ready') source.load().catch(() => {});
    return source;
  }

  /** Aborts the request when nobody is left to want it. */
  leave(user: FeaturesUser): void {
    this.#users.delete(user);
    if (this.#users.size) return;
    if (!this.#owner) shared.delete(this.#builder);
    this.#abort.abort();
  }

  /** Asks for the record, unless that is under way; rejects with what becomes `error`. */
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
      // Before anything is asked for, so that a bad address is an error at once.
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
      // Views of it speak to the user of the page; this is for its developer.
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

/** Makes a value read-only to its depth: all users of a source are handed the same one. */
function freeze<T>(value: T): T {
  if (value instanceof Object) Object.values(value).forEach(freeze);
  return Object.freeze(value);
}
