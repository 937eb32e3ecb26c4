import { limitError, RunFailure, runLimits } from './outcome.ts';

/**
 * What one run logs. Each entry is handed on at once: a run that has to be ended by ending its process is the one whose
 * logs tell most.
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
