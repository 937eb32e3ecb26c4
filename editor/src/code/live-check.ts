import { HttpError, type PluginSource } from 'plugin-editor/client.js';
import type { Diagnostic } from '../service/records.ts';

export interface LiveCheckOptions {
  read: () => PluginSource;
  /** Asks the builder what a build would find. */
  check: (source: PluginSource, signal: AbortSignal) => Promise<Diagnostic[]>;
  /** What was found in the text as it is. */
  onFound: (found: Diagnostic[]) => void;
  /** The builder cannot check: what the editor knows by itself has to do. */
  onUnable: () => void;
}

/** After the last change, in ms; and never more often than the answers come. */
const QUIET = 150;

/**
 * Checks as one types, once typing pauses. The toolchain that builds is the one that knows what is wrong, so it is asked;
 * a copy of it in the page would weigh megabytes, and disagree. Nothing is saved by it. A check that fails in passing
 * says nothing, and the next change tries again.
 */
export class LiveCheck {
  readonly #options: LiveCheckOptions;
  #able = true;
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
    this.#timer = setTimeout(() => void this.#run(), Math.max(QUIET, this.#took * 2));
  }

  close(): void {
    this.#abort?.abort();
    clearTimeout(this.#timer);
  }

  async #run(): Promise<void> {
    const { read, check, onFound, onUnable } = this.#options;
    if (!this.#able) return onUnable();
    const { signal } = (this.#abort = new AbortController());
    const started = performance.now();
    try {
      const found = await check(read(), signal);
      this.#took = performance.now() - started;
      if (!signal.aborted) onFound(found);
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof HttpError && [404, 405, 501].includes(error.status)) this.#able = false;
      onUnable();
    }
  }
}
