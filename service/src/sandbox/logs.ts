import { limitError, RunFailure } from './outcome.ts';
import { runLimits } from './run-limits.ts';

/**
 * The logs of one run, within their limits. Each entry is passed on at once: where a run is ended by killing its process, its
 * logs are needed most.
 */
export class Logs {
  readonly entries: string[] = [];
  readonly #onEntry: (entry: string) => void;
  #bytes = 0;

  constructor(onEntry: (entry: string) => void = () => {}) {
    this.#onEntry = onEntry;
  }

  /** Throws a {@link RunFailure} past the limit. */
  add(entry: string): void {
    this.#bytes += Buffer.byteLength(entry);
    if (this.#bytes > runLimits.logs || this.entries.length >= runLimits.logEntries) {
      throw new RunFailure(limitError('log-limit'));
    }
    this.entries.push(entry);
    this.#onEntry(entry);
  }
}
