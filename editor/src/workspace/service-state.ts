import { HttpError, type PluginSource, type Progress } from 'plugin-editor/client.js';
import type { SaveState } from '../draft/save-queue.ts';
import { Emitter } from '../plugin/emitter.ts';
import { failureOf, isTransient } from '../service/failure.ts';
import { Latest } from '../service/latest.ts';
import type { DraftSaving } from './draft-saving.ts';
import type { PluginSession } from './plugin-session.ts';

/** The wait before the service is asked again for what it did not say, in ms; each wait is longer by as much, up to ten times it. */
const PROBE = 3000;

export interface ServiceStateEvents {
  /**
   * What was built and deployed of `draft` at `askedAt`, as of `performance.now()`. `draft` is `undefined` where that is not what
   * this page has.
   */
  progress: { progress: Progress; draft: PluginSource | undefined; askedAt: number };
  /** The service has another draft than this page, which has nothing to save. */
  otherDraft: void;
  /** The service answered again, after it could not be reached. */
  online: void;
}

/**
 * What the service says of itself and of the plugin: what it supports, which version is live, and whether it can be reached.
 * What it does not say stays unknown, and is not offered.
 */
export class ServiceState extends Emitter<ServiceStateEvents> {
  readonly #session: PluginSession;
  readonly #saving: Pick<DraftSaving, 'isUnsaved' | 'source'>;
  #features: ReadonlySet<string> | undefined;
  #live: string | undefined;
  #isPinned = false;
  #hasVersions = false;
  readonly #liveRequests = new Latest();
  readonly #progressRequests = new Latest();
  /** Whether the service can say what is built and deployed, as far as is known. */
  #hasProgress = true;
  #isOnline = true;
  /** How often it was asked again since it last responded to everything. */
  #probes = 0;
  #probe: ReturnType<typeof setTimeout> | undefined;

  constructor(session: PluginSession, saving: Pick<DraftSaving, 'isUnsaved' | 'source'>) {
    super();
    this.#session = session;
    this.#saving = saving;
    session.signal.addEventListener('abort', () => clearTimeout(this.#probe));
  }

  /** Whether the service runs plugins; not before it has said so. */
  get canTest(): boolean {
    return this.#features?.has('testing') ?? false;
  }

  /** Whether the service has said what it supports. */
  get hasFeatures(): boolean {
    return this.#features !== undefined;
  }

  /** Whether a build's log can be streamed. */
  get canStream(): boolean {
    return this.#features?.has('stream_builds') ?? false;
  }

  /** Whether the last request to the service was answered. */
  get isOnline(): boolean {
    return this.#isOnline;
  }

  /** The version that runs when none is asked for, where the service says so. */
  get live(): string | undefined {
    return this.#live;
  }

  /** Whether a version was chosen to be live, so that a newer one does not become live by itself. */
  get isPinned(): boolean {
    return this.#isPinned;
  }

  /** Whether the service can say what was deployed and what is live. */
  get hasVersions(): boolean {
    return this.#hasVersions;
  }

  /** A request was answered, or could not be sent. While the service cannot be reached, it is asked again and again. */
  setOnline(isOnline: boolean): void {
    if (isOnline === this.#isOnline) return;
    this.#isOnline = isOnline;
    if (isOnline) this.emit('online');
    else this.#askLater();
    this.#session.screen.draw();
  }

  /** How far saving is changed. */
  handleSave(state: SaveState): void {
    if (state.kind === 'saved') this.setOnline(true);
    if (state.kind !== 'failed') return;
    // A proxy may reset large requests alone: a save would then be tried again with each request that is answered.
    if (state.failure === 'connection') void this.loadLive();
    else this.setOnline(true);
  }

  /** This page deployed a version or made one live. */
  setLive(live: string | undefined, isPinned: boolean): void {
    this.#setLive(this.#liveRequests.begin(), live, isPinned);
  }

  /** The connection or the token is new, or the user is back: asks again for all that may have changed. */
  async reload(): Promise<void> {
    await Promise.all([this.loadFeatures(), this.loadProgress()]);
    if (this.#probe === undefined) this.#probes = 0;
  }

  /** Asks what the service supports, unless it has said so. */
  async loadFeatures(): Promise<void> {
    if (this.#features) return;
    const { client, screen, signal } = this.#session;
    try {
      const { features } = await client.getFeatures({ signal });
      this.#features = new Set(features);
      screen.draw();
    } catch (error) {
      this.#takeFailure(error);
    }
  }

  /** Asks what is built, deployed and live, by this page or another. */
  async loadProgress(): Promise<void> {
    const { store, signal } = this.#session;
    const { source, isUnsaved } = this.#saving;
    const { etag } = store;
    const askedAt = performance.now();
    const accept = this.#progressRequests.begin();
    const progress = this.#hasProgress ? await this.#readProgress() : undefined;
    // Asked last: where the draft is still the one that this page knows, the progress is that of it.
    const revision = await this.loadLive();
    if (signal.aborted) return;
    const isOwn = !isUnsaved && revision === etag;
    if (progress && accept()) this.emit('progress', { progress, draft: isOwn ? source : undefined, askedAt });
    if (revision && !isOwn && !isUnsaved && !this.#saving.isUnsaved && store.etag === etag)
      this.emit('otherDraft');
  }

  async #readProgress(): Promise<Progress | undefined> {
    const { client, location, signal } = this.#session;
    try {
      const progress = await client.getProgress(location, { signal });
      this.setOnline(true);
      return progress;
    } catch (error) {
      this.#takeFailure(error);
      // A service that does not have this operation is not asked again.
      if (error instanceof HttpError && error.status === 404) this.#hasProgress = false;
      return undefined;
    }
  }

  /** Asks which version is live. Resolves with the entity tag of the draft, if there is one. */
  async loadLive(): Promise<string | undefined> {
    const { client, location, signal } = this.#session;
    const accept = this.#liveRequests.begin();
    try {
      const { draft, live, latest, pinned } = await client.getPlugin(location, { signal });
      this.#hasVersions = true;
      this.#setLive(accept, live ?? latest ?? undefined, Boolean(pinned));
      this.setOnline(true);
      return draft?.revision;
    } catch (error) {
      // Without a response the page says nothing about versions.
      this.#takeFailure(error);
      return undefined;
    }
  }

  #setLive(accept: () => boolean, live: string | undefined, isPinned: boolean): void {
    if (!accept()) return;
    this.#live = live;
    this.#isPinned = isPinned;
    this.#session.screen.draw();
  }

  #takeFailure(error: unknown): void {
    if (this.#session.signal.aborted) return;
    const failure = failureOf(error);
    this.setOnline(failure !== 'connection');
    if (isTransient(failure)) this.#askLater();
  }

  #askLater(): void {
    if (this.#session.signal.aborted) return;
    this.#probe ??= setTimeout(
      () => {
        this.#probe = undefined;
        void this.reload();
      },
      PROBE * Math.min(10, ++this.#probes),
    );
  }
}
