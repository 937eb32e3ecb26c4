import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { mebibyte } from '../../units.ts';
import { StorageUnavailableError } from '../errors.ts';

/** For how long a result holds, in ms. */
const checkedFor = 1000;

/** How much of the disk is left for deleting and for the write-ahead log: a part of it, and in bytes at most. */
const [reservedPart, reservedAtMost] = [0.05, 64 * mebibyte];

/** Watches the space on the disk of a file, so that writes are refused before SQLite cannot even delete any more. */
export class DiskSpace {
  readonly #folder: string;
  #checkedAt = -Infinity;
  #free = Infinity;
  #reserved = 0;

  constructor(file: string) {
    this.#folder = dirname(file);
  }

  /** @throws StorageUnavailableError when the disk is nearly full */
  require(): void {
    this.#check();
    if (this.#free < this.#reserved) {
      const free = Math.floor(this.#free / mebibyte);
      throw new StorageUnavailableError(new Error(`only ${free} MiB are free on the disk of the database`), {
        isDiskFull: true,
      });
    }
  }

  /** Whether more than `bytes` bytes are free beyond what is reserved. */
  has(bytes: number): boolean {
    this.#check();
    return this.#free - this.#reserved > bytes;
  }

  #check(): void {
    if (performance.now() - this.#checkedAt < checkedFor) return;
    this.#checkedAt = performance.now();
    try {
      const { bavail, blocks, bsize } = statfsSync(this.#folder);
      this.#free = bavail * bsize;
      this.#reserved = Math.min(blocks * bsize * reservedPart, reservedAtMost);
    } catch {
      // The folder is gone, which the check of the file reports.
    }
  }
}
