import { type Diagnostic, HttpError, type PluginSource } from 'plugin-editor/client.js';

export interface LiveCheckOptions {
  read: () => PluginSource;
  /** Asks the service what a build would find. */
  check: (source: PluginSource, signal: AbortSignal) => Promise<Diagnostic[]>;
  /** The problems in the present text. */
  onFound: (found: Diagnostic[]) => void;
  /** The service cannot check, so that the grammar of the editor has to. */
  onUnable: () => void;
}

/** The shortest time from the last change to its check, in ms; it grows with the time that a check takes. */
const DEBOUNCE = 150;

/**
 * Has the service check the text whenever typing pauses. The service checks with the compiler that builds, which finds what a
 * build would find; in the page it would be megabytes to load. A check saves nothing. One that fails is tried again with the
 * next change.
 */
export class LiveCheck {
  readonly #options: LiveCheckOptions;
  #isAble = true;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #abort: AbortController | undefined;
  /** How long the last check took, in ms. */
  #took = 0;

  constructor(options: LiveCheckOptions) {
    this.#options = options;
  }

  /** The text was changed, or shown for the first time. */
  schedule(): void {
    this.#abort?.abort();
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#run(), Math.max(DEBOUNCE, this.#took * 2));
  }

  close(): void {
    this.#abort?.abort();
    clearTimeout(this.#timer);
  }

  async #run(): Promise<void> {
    const { read, check, onFound, onUnable } = this.#options;
    if (!this.#isAble) return onUnable();
    const { signal } = (this.#abort = new AbortController());
    const started = performance.now();
    try {
      const found = await check(read(), signal);
      this.#took = performance.now() - started;
      if (!signal.aborted) onFound(found);
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof HttpError && [404, 405, 501].includes(error.status)) this.#isAble = false;
      onUnable();
    }
  }
}
