import {
  type BuilderClient,
  type Draft,
  type DraftLocation,
  HttpError,
  type PluginSource,
  RequestError,
} from 'plugin-editor/client.js';
import { sameWork } from '../plugin/source.ts';
import { DraftConflict, DraftDeleted } from './draft-errors.ts';

/** One plugin's draft in the service: read, and saved so that it never overwrites what another page saved meanwhile. */
export class DraftStore {
  readonly #client: BuilderClient;
  readonly #location: DraftLocation;
  /** The ETag of what the next save may replace; `null`: there must be no draft; `undefined`: it replaces any. */
  #replaces: string | null | undefined;
  /** Sources that were sent and whose requests were not answered: any of them may be the draft now. */
  #unconfirmed: PluginSource[] = [];

  constructor(client: BuilderClient, location: DraftLocation) {
    this.#client = client;
    this.#location = location;
  }

  /** The draft, or `undefined` when there is none yet. */
  async load(signal?: AbortSignal): Promise<Draft | undefined> {
    const draft = await this.read(signal);
    this.#replaces = draft ? draft.etag : null;
    return draft;
  }

  /**
   * Saves once; the caller decides when to try again.
   * @throws DraftConflict when the draft changed elsewhere, DraftDeleted when it was deleted; or what the client throws.
   */
  async save(source: PluginSource): Promise<void> {
    try {
      await this.#write(source);
    } catch (error) {
      if (!(error instanceof HttpError) || error.status !== 412) throw error;
      const current = await this.read();
      if (!current) throw new DraftDeleted();
      const own = [...this.#unconfirmed, source].some((sent) => sameWork(sent, current.source));
      if (!own) throw new DraftConflict(current);
      // The draft is one of this page's own, of a save whose response was lost.
      this.#replaces = current.etag;
      if (!sameWork(source, current.source)) await this.#write(source);
    }
    this.#unconfirmed = [];
  }

  /** The ETag of the draft as this page knows it; `undefined` where there is no draft, or the service gives none. */
  get etag(): string | undefined {
    return this.#replaces ?? undefined;
  }

  /** A request that is no save is about to replace the draft by this source. */
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

  /** Lets the next save create the draft anew, because the user asks for it. */
  acceptDeletion(): void {
    this.#replaces = null;
    this.#unconfirmed = [];
  }

  /** Reads the draft, and saves go on replacing the former one. */
  async read(signal?: AbortSignal): Promise<Draft | undefined> {
    try {
      return await this.#client.readDraft(this.#location, { signal });
    } catch (error) {
      if (error instanceof HttpError && error.status === 404) return undefined;
      throw error;
    }
  }

  async #write(source: PluginSource): Promise<void> {
    try {
      // The page may go away before the service has answered.
      const options = { etag: this.#replaces, keepalive: true };
      const { etag } = await this.#client.saveDraft(this.#location, source, options);
      this.#replaces = etag;
    } catch (error) {
      if (mayHaveBeenSaved(error)) this.#unconfirmed.push(source);
      throw error;
    }
  }
}

/** Whether a save that failed may still have changed the draft. */
const mayHaveBeenSaved = (error: unknown): boolean =>
  error instanceof RequestError && (!(error instanceof HttpError) || error.status >= 500);
