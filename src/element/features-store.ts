import { baseOf, httpUrl } from '../core/url.ts';
import { PluginEditorError, SchemaError } from '../core/errors.ts';
import type { Features } from '../core/records.ts';
import { DEFAULT_TIMEOUT, bearer, readJson, request } from '../core/request.ts';
import { type EditorToken, getTokenFrom } from '../core/token.ts';
import { isRecord, isText } from '../core/untrusted.ts';
import type { PluginEditorState } from './element-state.ts';

/** Gets a token for the features request, where a builder asks for one. */
export type FetchFeaturesToken = (request: { signal: AbortSignal }) => Promise<string | EditorToken>;

/** An element that shows a record; `requestUpdate('state')` notifies it that something in the store has changed. @internal */
export interface FeaturesSubscriber {
  fetchToken?: FetchFeaturesToken | undefined;
  requestUpdate(name: 'state'): void;
}

/** The stores without `fetchToken`, by the builder's base address. Each is in here as long as it has a subscriber. */
const shared = new Map<string, FeaturesStore>();

/**
 * Requests and holds the features record of one builder. Elements without `fetchToken` that name the same builder share one
 * store, and so one request and one record. It is dropped when the last of them unsubscribes.
 * @internal
 */
export class FeaturesStore {
  state: PluginEditorState = 'idle';
  /** The latest record. A refresh that fails keeps it. */
  declare record: Readonly<Features> | undefined;
  declare error: Error | undefined;

  #builder: string;
  /** The only subscriber of a store that is not shared. Its `fetchToken` is read for each request. */
  #owner: FeaturesSubscriber | undefined;
  #subscribers = new Set<FeaturesSubscriber>();
  #abort = new AbortController();
  #request: Promise<void> | undefined;

  private constructor(builder: string, owner: FeaturesSubscriber | undefined) {
    this.#builder = builder;
    this.#owner = owner;
  }

  /** Returns the store of a builder to one more subscriber, and requests the record unless it is there or requested. */
  static subscribe(address: string, subscriber: FeaturesSubscriber): FeaturesStore {
    const builder = address.replace(/\/$/, '');
    const known = subscriber.fetchToken ? undefined : shared.get(builder);
    const store = known ?? new FeaturesStore(builder, subscriber.fetchToken && subscriber);
    if (!store.#owner) shared.set(builder, store);
    store.#subscribers.add(subscriber);
    // A failure is in the store's state.
    if (store.state !== 'ready') store.load().catch(() => {});
    return store;
  }

  /** Removes a subscriber, and aborts the request when it was the last one. */
  unsubscribe(subscriber: FeaturesSubscriber): void {
    this.#subscribers.delete(subscriber);
    if (this.#subscribers.size) return;
    if (!this.#owner) shared.delete(this.#builder);
    this.#abort.abort();
  }

  /** Requests the record unless a request is pending. Rejects with what becomes `error`. */
  load(): Promise<void> {
    if (this.state !== 'loading') this.#request = this.#load();
    return this.#request as Promise<void>;
  }

  async #load(): Promise<void> {
    const { signal } = this.#abort;
    const fetchToken = this.#owner?.fetchToken;
    let token: string | undefined;
    this.#set('loading');
    try {
      // The address is checked first, so that a wrong one is reported before a token is requested.
      const url = baseOf(httpUrl('builder', this.#builder)) + '/api/v1/features';
      if (fetchToken) ({ token } = await getTokenFrom(fetchToken, { signal }, DEFAULT_TIMEOUT));
      const init: RequestInit = { credentials: 'omit', headers: token ? bearer(token) : {} };
      const { data } = await request({ url, init, signal }, readJson(parseFeatures));
      this.record = freeze(data);
      this.#set('ready');
    } catch (cause) {
      const { message } = cause as Error;
      const error =
        cause instanceof TypeError
          ? new PluginEditorError(token ? 'token-invalid' : 'config', message)
          : (cause as Error);
      // The error view is for the page's user, the console for its developer.
      if (!signal.aborted) console.error(`<plugin-features> ${message}`);
      this.#set('error', error);
      throw error;
    }
  }

  #set(state: typeof this.state, error?: Error): void {
    this.state = state;
    this.error = error;
    for (const subscriber of this.#subscribers) subscriber.requestUpdate('state');
  }
}

/** Freezes a value and all that it holds, because all subscribers of a store get the same object. */
function freeze<T>(value: T): T {
  if (value instanceof Object) Object.values(value).forEach(freeze);
  return Object.freeze(value);
}

/**
 * Checks a features record as `featuresSchema` does, for the script tag, which has no zod (untrusted.ts). A test compares both.
 * @param label names the request in the error
 * @throws SchemaError
 * @internal
 */
export function parseFeatures(value: unknown, label: string): Features {
  const check = (isRight: boolean, expected: string, ...path: (string | number)[]) => {
    if (!isRight) throw new SchemaError(label, `expected ${expected}`, path.join('.'));
  };
  check(isRecord(value), 'object');
  const record = value as Features;
  check(Array.isArray(record.features), 'array', 'features');
  record.features.forEach((feature, i) => check(isText(feature), 'string', 'features', i));
  check(Array.isArray(record.languages), 'array', 'languages');
  record.languages.forEach((language, i) => {
    check(isRecord(language), 'object', 'languages', i);
    for (const name of ['identifier', 'pretty', 'short'] as const)
      check(isText(language[name]), 'string', 'languages', i, name);
  });
  return record;
}
