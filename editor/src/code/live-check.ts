import { type Diagnostic, HttpError, type PluginSource } from 'plugin-editor/client.js';
import { failureOf, isTransient } from '../service/failure.ts';

export interface LiveCheckOptions {
  read: () => PluginSource;
  /** Asks the service what a build would find. */
  check: (source: PluginSource, signal: AbortSignal) => Promise<Diagnostic[]>;
  /** The problems in the present text. */
  onFound: (found: Diagnostic[]) => void;
  /** The service cannot check, so that the grammar of the editor has to. */
  onUnable: () => void;
}

/**
 * The time from the last change to its check, in ms, is twice what the last check took, within these bounds. The first check of a
 * language may take long, because its compiler starts.
 */
const DEBOUNCE = 150;
const MAX_DEBOUNCE = 2_000;

/** How long after a check that failed the next one is, in ms. It doubles with each failure, up to a minute. */
const RETRY = 5_000;
const MAX_RETRY = 60_000;

/**
 * Lets the service check the text whenever typing pauses. The service checks with the compiler that builds, which finds what a
 * build would find; in the page it would be megabytes to load. A check saves nothing. One that fails is tried again later, also
 * where the user types no more. There is one check at a time. A change does not abort it, because the service would end its compiler,
 * and to start another one costs as much as several checks.
 */
export class LiveCheck {
  readonly #options: LiveCheckOptions;
  #isClosed = false;
  #isAble = true;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Of the check that runs. */
  #abort: AbortController | undefined;
  /** Whether the text has to be checked again after the check that runs. */
  #isOutdated = false;
  /** How long the last check took, in ms. */
  #took = 0;
  /** How many have failed since one succeeded. */
  #failures = 0;
  /** Whether the last one failed, and may be tried again at any time. */
  #isResumable = false;

  constructor(options: LiveCheckOptions) {
    this.#options = options;
  }

  /** The text was changed, or shown for the first time. */
  schedule(): void {
    this.#isOutdated = true;
    if (!this.#abort) this.#runIn(Math.min(Math.max(DEBOUNCE, this.#took * 2), MAX_DEBOUNCE));
  }

  /**
   * What may have kept the service from checking has ended: tries again what failed, unless the service said when to, and what may
   * wait for a connection that is gone.
   */
  resume(): void {
    if (this.#abort || this.#isResumable) this.schedule();
    this.#abort?.abort();
  }

  close(): void {
    this.#isClosed = true;
    this.#abort?.abort();
    clearTimeout(this.#timer);
  }

  #runIn(delay: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#run(), delay);
  }

  async #run(): Promise<void> {
    const { read, check, onFound, onUnable } = this.#options;
    this.#isOutdated = this.#isResumable = false;
    if (!this.#isAble) return onUnable();
    const { signal } = (this.#abort = new AbortController());
    const started = performance.now();
    let found: Diagnostic[] | undefined;
    let failure: unknown;
    try {
      found = await check(read(), signal);
    } catch (error) {
      failure = error;
    }
    this.#abort = undefined;
    if (this.#isClosed) return;
    if (found) {
      this.#took = performance.now() - started;
      this.#failures = 0;
    }
    if (this.#isOutdated) this.schedule();
    else if (found) onFound(found);
    else this.#handleFailure(failure);
  }

  #handleFailure(error: unknown): void {
    const { status = 0, retryAfter = 0 } = error instanceof HttpError ? error : {};
    this.#isResumable = !retryAfter;
    if ([404, 405, 501].includes(status)) this.#isAble = false;
    // 409: a newer check of the same token, such as one that the assistant asked for, took its place.
    else if (status === 409 || isTransient(failureOf(error)))
      this.#runIn(Math.max(Math.min(RETRY * 2 ** this.#failures++, MAX_RETRY), retryAfter));
    this.#options.onUnable();
  }
}
