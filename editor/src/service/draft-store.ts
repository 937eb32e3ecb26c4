import {
  BuilderClient,
  HttpError,
  type PluginSource,
  RequestError,
  parseIdent,
  pluginSourceSchema,
} from 'plugin-editor/client.js';
import { sameWork } from '../plugin/source.ts';
import type { PluginTarget } from '../plugin/target.ts';
import { operationUrl, requestJson } from './request.ts';
import type { TokenHolder } from './token-holder.ts';

/** A draft as the service has it. */
export interface Draft {
  source: PluginSource;
  /** The ETag of this state of the draft; `undefined` where the service gives none. */
  etag: string | undefined;
}

/** The draft changed elsewhere since it was read; nothing was saved. */
export class DraftConflict extends Error {
  override readonly name = 'DraftConflict';
  readonly theirs: Draft;

  constructor(theirs: Draft) {
    super('The draft was changed elsewhere');
    this.theirs = theirs;
  }
}

/** The largest body of a request that outlives its page, in bytes: browsers allow 64 KiB for all such requests together. */
const KEEPALIVE_LIMIT = 60_000;

/** One plugin's draft in the service: read, and saved so that it never overwrites what another page saved meanwhile. */
export class DraftStore {
  readonly #builder: string;
  readonly #target: PluginTarget;
  readonly #tokenHolder: TokenHolder;
  /** The ETag of what the next save may replace; `null`: there must be no draft; `undefined`: it replaces any. */
  #replaces: string | null | undefined;
  /** Sources that were sent and whose requests were not answered: any of them may be the draft now. */
  #unconfirmed: PluginSource[] = [];

  /** `builder` is a base address as `findBuilder` returns it. */
  constructor(builder: string, target: PluginTarget, tokenHolder: TokenHolder) {
    this.#builder = builder;
    this.#target = target;
    this.#tokenHolder = tokenHolder;
  }

  /** The draft, or `undefined` when there is none yet. */
  async load(signal?: AbortSignal): Promise<Draft | undefined> {
    const draft = await this.#read(signal);
    this.#replaces = draft ? draft.etag : null;
    return draft;
  }

  /**
   * Saves once; the caller decides when to try again.
   * @throws DraftConflict when the draft changed elsewhere; or what `requestJson` throws.
   */
  async save(source: PluginSource): Promise<void> {
    try {
      await this.#write(source);
    } catch (error) {
      if (!(error instanceof HttpError) || error.status !== 412) throw error;
      const current = await this.#read();
      const own = !current || [...this.#unconfirmed, source].some((sent) => sameWork(sent, current.source));
      if (!own) throw new DraftConflict(current);
      // The draft is one of this page's own, of a save whose response was lost; or it was deleted.
      this.#replaces = current ? current.etag : null;
      if (!current || !sameWork(source, current.source)) await this.#write(source);
    }
    this.#unconfirmed = [];
  }

  /** The ETag of the draft as this page knows it; `undefined` where there is no draft, or the service gives none. */
  get etag(): string | undefined {
    return this.#replaces ?? undefined;
  }

  /** Another request than a save is about to replace the draft by this source. */
  addUnconfirmed(source: PluginSource): void {
    this.#unconfirmed.push(source);
  }

  /** That request succeeded, and the draft has this state now. */
  confirm(etag: string): void {
    this.#replaces = etag;
    this.#unconfirmed = [];
  }

  /** Lets the next save replace this state, because the user has seen it. */
  acceptAsBase(seen: Draft): void {
    this.#replaces = seen.etag;
    this.#unconfirmed = [];
  }

  async #read(signal?: AbortSignal): Promise<Draft | undefined> {
    const { ident, namespace, fn } = this.#target;
    const { environment, tenant } = parseIdent(ident);
    const client = new BuilderClient({
      baseUrl: this.#builder,
      token: () => this.#tokenHolder.token,
      // Browsers use separate connections for requests with and without credentials. The page's scripts came over one with them,
      // so this saves a round trip. The service ignores cookies; other origins get none.
      fetch: (input, init) => fetch(input, { ...init, credentials: 'same-origin', cache: 'no-store' }),
    });
    const location = { environment, userID: tenant, namespace, pluginName: fn };
    try {
      const { source, etag } = await this.#tokenHolder.use(() => client.readDraft(location, { signal }));
      return { source, etag };
    } catch (error) {
      if (error instanceof HttpError && error.status === 404) return undefined;
      throw error;
    }
  }

  async #write(source: PluginSource): Promise<void> {
    const { ident, namespace, fn } = this.#target;
    const body = JSON.stringify(source);
    const headers: Record<string, string> = { 'content-type': 'application/json' };
    if (this.#replaces === null) headers['if-none-match'] = '*';
    else if (this.#replaces) headers['if-match'] = this.#replaces;
    const keepalive = new TextEncoder().encode(body).length < KEEPALIVE_LIMIT;
    try {
      const response = await this.#tokenHolder.use(() =>
        requestJson(pluginSourceSchema, {
          url: operationUrl(this.#builder, 'draft', ident, namespace, fn),
          method: 'POST',
          body,
          keepalive,
          headers: { ...headers, ...this.#tokenHolder.headers },
        }),
      );
      this.#replaces = response.headers.get('etag') ?? undefined;
    } catch (error) {
      if (mayHaveBeenSaved(error)) this.#unconfirmed.push(source);
      throw error;
    }
  }
}

/** Whether a save that failed may still have changed the draft. */
const mayHaveBeenSaved = (error: unknown): boolean =>
  error instanceof RequestError && (!(error instanceof HttpError) || error.status >= 500);
