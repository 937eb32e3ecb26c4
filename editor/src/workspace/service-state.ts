import { type BuilderClient, HttpError, type PluginSource } from 'plugin-editor/client.js';
import { failureOf } from '../service/failure.ts';
import type { PluginService } from '../service/plugin-service.ts';
import type { Progress } from '../service/records.ts';
import { OnlineStatus } from './online-status.ts';

export interface ServiceStateOptions {
  service: Pick<PluginService, 'plugin' | 'progress'>;
  client: Pick<BuilderClient, 'getFeatures'>;
  /** The draft as the service has it; `undefined` while this page holds work that is not saved. */
  savedDraft: () => PluginSource | undefined;
  /** The service said what is built and deployed of the draft that was saved when it was asked. */
  onProgress: (progress: Progress, draft: PluginSource | undefined) => void;
  onChange: () => void;
}

/**
 * What the service says of itself and of the plugin: what it supports, which version is live, and whether it can be reached.
 * What it does not say stays unknown, and is not offered.
 */
export class ServiceState {
  readonly #options: ServiceStateOptions;
  readonly #onlineStatus: OnlineStatus;
  readonly #closed = new AbortController();
  #features: ReadonlySet<string> | undefined;
  #live: string | undefined;
  #isPinned = false;
  #hasVersions = false;
  /** Whether the service can say what is built and deployed, as far as is known. */
  #hasProgress = true;

  constructor(options: ServiceStateOptions) {
    this.#options = options;
    this.#onlineStatus = new OnlineStatus({
      probe: () => this.loadProgress(),
      onChange: options.onChange,
    });
  }

  /** Whether the service runs plugins; not before it has said so. */
  get canTest(): boolean {
    return this.#features?.has('testing') ?? false;
  }

  /** Whether a build's log can be streamed. */
  get canStream(): boolean {
    return this.#features?.has('stream_builds') ?? false;
  }

  get isOnline(): boolean {
    return this.#onlineStatus.isOnline;
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

  /** A request was answered, or could not be sent. */
  setOnline(isOnline: boolean): void {
    this.#onlineStatus.set(isOnline);
  }

  setLive(live: string | undefined, isPinned: boolean): void {
    this.#live = live;
    this.#isPinned = isPinned;
    this.#options.onChange();
  }

  /** The connection or the token is new: asks again for all that may have changed. */
  reload(): void {
    void this.loadFeatures();
    if (this.#hasProgress) void this.loadProgress();
    void this.loadLive();
  }

  /** Asks what the service supports, unless it has said so. */
  async loadFeatures(): Promise<void> {
    if (this.#features) return;
    try {
      const { features } = await this.#options.client.getFeatures({ signal: this.#closed.signal });
      this.#features = new Set(features);
      this.#options.onChange();
    } catch {
      // The next action, or a connection that is back, asks again.
    }
  }

  /** Asks what is built and deployed, by this page or another. */
  async loadProgress(): Promise<void> {
    const { service, savedDraft, onProgress } = this.#options;
    const draft = savedDraft();
    try {
      onProgress(await service.progress(this.#closed.signal), draft);
      this.setOnline(true);
    } catch (error) {
      if (this.#closed.signal.aborted) return;
      this.setOnline(failureOf(error) !== 'connection');
      // A service that does not have this operation is not asked again.
      if (error instanceof HttpError && error.status === 404) this.#hasProgress = false;
    }
  }

  /** Asks which version is live. */
  async loadLive(): Promise<void> {
    try {
      const { live, latest, pinned } = await this.#options.service.plugin(this.#closed.signal);
      this.#hasVersions = true;
      this.setLive(live ?? latest ?? undefined, Boolean(pinned));
    } catch {
      // Without a response the page says nothing about versions.
    }
  }

  close(): void {
    this.#closed.abort();
    this.#onlineStatus.close();
  }
}
