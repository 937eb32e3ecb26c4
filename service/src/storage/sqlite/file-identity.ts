import { statSync } from 'node:fs';
import { StorageUnavailableError } from '../errors.ts';

/** Checks whether a path still leads to the same file as when this object was created. */
export class FileIdentity {
  readonly #path: string;
  readonly #opened: string;

  constructor(path: string) {
    this.#path = path;
    this.#opened = this.#identify();
  }

  /**
   * Throws a `StorageUnavailableError` when the file was moved, removed or replaced. SQLite would go on writing to the file that it
   * has open, although it has no name any more, and everything would be lost when the process ends.
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
