import { withoutOwner } from './turns.ts';

export interface WriteBehindOptions {
  /** How long is collected before it is written, in ms. */
  readonly interval: number;
  /** Writes what was collected. Must not reject. */
  readonly write: () => Promise<void>;
  /** Whether there is anything to write. */
  readonly hasWork: () => boolean;
}

/**
 * Writes what requests leave in memory, so that they do not wait for it: at the end of an interval, one write at a time, and again
 * as long as anything is left.
 */
export class WriteBehind {
  readonly #options: WriteBehindOptions;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;
  #isClosed = false;

  constructor(options: WriteBehindOptions) {
    this.#options = options;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Schedules a write at the end of the interval, unless this is closed. */
  schedule(): void {
    if (this.#isClosed || this.#writing) return;
    this.#timer ??= setTimeout(() => void this.writeNow(), this.#options.interval).unref();
  }

  /** Resolves once it was tried: by the write in progress, or by a new one. */
  writeNow(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing ??= withoutOwner(this.#options.write).finally(() => {
      this.#writing = undefined;
      if (this.#options.hasWork()) this.schedule();
    });
    return this.#writing;
  }

  /** Writes what is left, once, and nothing later. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#writing;
    if (this.#options.hasWork()) await this.writeNow();
  }
}
