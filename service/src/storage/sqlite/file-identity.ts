import { statSync } from 'node:fs';
import { StorageUnavailableError } from '../unavailable.ts';

/** Tells whether a path still leads to the file that it led to when this was made. */
export class FileIdentity {
  readonly #path: string;
  readonly #opened: string;

  constructor(path: string) {
    this.#path = path;
    this.#opened = this.#identify();
  }

  /**
   * Throws a `StorageUnavailableError` when the file was moved, removed or replaced. SQLite would go on with the file that it
   * has open, which has no name any more, and what is written there is lost when the process ends.
   */
  check(): void {
    let found: string;
    try {
      found = this.#identify();
    } catch (error) {
      throw new StorageUnavailableError(error);
    }
    if (found !== this.#opened) {
      const hint = 'put it back, or restart the service to use the new one';
      throw new StorageUnavailableError(new Error(`another file has taken its place; ${hint}`));
    }
  }

  #identify(): string {
    const { dev, ino } = statSync(this.#path, { bigint: true });
    return `${dev} ${ino}`;
  }
}
