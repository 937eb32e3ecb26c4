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

  readonly #entriesBefore: number;

  /** `before`: what the run had logged before, where it has waited since. */
  constructor(onEntry: (entry: string) => void = () => {}, before = { bytes: 0, entries: 0 }) {
    this.#onEntry = onEntry;
    this.#bytes = before.bytes;
    this.#entriesBefore = before.entries;
  }

  /** What was logged so far. */
  get logged(): { readonly bytes: number; readonly entries: number } {
    return { bytes: this.#bytes, entries: this.#entriesBefore + this.entries.length };
  }

  /** How much memory the entries take, in bytes, at most: each character may take two, and each entry has a header. */
  get memory(): number {
    return 2 * this.#bytes + 32 * this.entries.length;
  }

  /** Throws a {@link RunFailure} past the limit. */
  add(entry: string): void {
    this.#bytes += Buffer.byteLength(entry);
    if (this.#bytes > runLimits.logs || this.logged.entries >= runLimits.logEntries) {
      throw new RunFailure(limitError('log-limit'));
    }
    this.entries.push(entry);
    this.#onEntry(entry);
  }
}
