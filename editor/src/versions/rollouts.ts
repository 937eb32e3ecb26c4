import {
  type BuilderClient,
  type DraftLocation,
  HttpError,
  type Rollout,
  type RolloutTerms,
} from 'plugin-editor/client.js';
import { Latest } from '../service/latest.ts';

/** How often a rollout that runs is asked for while it is in view, in ms: the service counts runs within 5 s. */
const INTERVAL = 5000;

export interface RolloutsOptions {
  readonly client: Pick<BuilderClient, 'getRollout' | 'setRollout' | 'endRollout'>;
  readonly location: DraftLocation;
  /** Aborted when the plugin is closed. */
  readonly signal: AbortSignal;
  /** What is known of the rollout changed. `hasSwitched`: one that was running has ended, or another one began. */
  readonly onChange: (hasSwitched: boolean) => void;
}

/** The rollout of the open plugin. It is kept current while something that shows it is in view. */
export class Rollouts {
  readonly #options: RolloutsOptions;
  #last: Rollout | undefined;
  #isOffered = false;
  #error: 'conflict' | 'couldNot' | undefined;
  #changing: string | undefined;
  #watchers = 0;
  readonly #requests = new Latest();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: RolloutsOptions) {
    this.#options = options;
    options.signal.addEventListener('abort', () => clearTimeout(this.#timer));
  }

  /** Whether the service has rollouts; not before it has said so. */
  get isOffered(): boolean {
    return this.#isOffered;
  }

  /** The last rollout, also after its end. */
  get last(): Rollout | undefined {
    return this.#last;
  }

  /** The rollout that runs. */
  get running(): Rollout | undefined {
    return this.#last?.stopped ? undefined : this.#last;
  }

  /** Why the last change was not made: the key of a text. */
  get error(): 'conflict' | 'couldNot' | undefined {
    return this.#error;
  }

  /** The version whose rollout is being started, changed or ended. */
  get changing(): string | undefined {
    return this.#changing;
  }

  /** Keeps the rollout current until the returned function is called. */
  watch(): () => void {
    // What could not be changed when it was in view before is no news.
    if (!this.#watchers) this.#error = undefined;
    this.#watchers += 1;
    void this.load();
    return () => {
      this.#watchers -= 1;
      if (!this.#watchers) clearTimeout(this.#timer);
    };
  }

  /** Asks for the rollout. Never rejects: without a response, what is known stays. */
  async load(): Promise<void> {
    const { client, location, signal } = this.#options;
    const accept = this.#requests.begin();
    try {
      const found = await client.getRollout(location, { signal });
      this.#set(accept, found);
    } catch (error) {
      // A service without rollouts knows no such path.
      if (error instanceof HttpError && error.code === 'rollout-not-found') this.#set(accept, undefined);
    }
    clearTimeout(this.#timer);
    if (!signal.aborted && this.#watchers && this.running)
      this.#timer = setTimeout(() => void this.load(), INTERVAL);
  }

  /**
   * Starts the rollout of a version, or changes one. Never rejects: see {@link error}.
   * @param changed the rollout to change, so that one that is seen to have ended does not begin again
   */
  start(version: string, terms: RolloutTerms, changed?: Rollout): Promise<void> {
    const { client, location, signal } = this.#options;
    return this.#change(version, async () => {
      if (changed) {
        const { startedAt, stopped } = await client.getRollout(location, { signal });
        if (stopped || startedAt !== changed.startedAt) return 'conflict';
      }
      const started = await client.setRollout(location, version, terms, { signal });
      this.#set(this.#requests.begin(), started);
      return undefined;
    });
  }

  /** Ends the rollout. Never rejects: see {@link error}. */
  end(): Promise<void> {
    const { client, location, signal } = this.#options;
    return this.#change(this.running?.version, async () => {
      await client.endRollout(location, { signal });
      return undefined;
    });
  }

  /** @param request resolves with why nothing was changed, if so */
  async #change(version: string | undefined, request: () => Promise<'conflict' | undefined>): Promise<void> {
    if (this.#changing !== undefined) return;
    this.#changing = version;
    this.#error = undefined;
    this.#options.onChange(false);
    try {
      this.#error = await request();
    } catch (error) {
      const isGone =
        error instanceof HttpError && (error.status === 409 || error.code === 'rollout-not-found');
      this.#error = isGone ? 'conflict' : 'couldNot';
    }
    // Until the rollout is known as it is now, what is known of it can be changed no more.
    await this.load();
    this.#changing = undefined;
    this.#options.onChange(false);
  }

  #set(accept: () => boolean, rollout: Rollout | undefined): void {
    if (!accept()) return;
    const before = this.running;
    this.#isOffered = true;
    this.#last = rollout;
    const now = this.running;
    this.#options.onChange(before?.startedAt !== now?.startedAt);
  }
}
