/** The space for bytes of unknown length. It grows. */
export const firstSize = 16 * 1024;

/** The bytes of a body, in one piece of memory: chunks can be so short that the objects for them would be the most of it. */
export class GrowingBytes {
  readonly #limit: number;
  #space: Buffer;
  #length = 0;

  /**
   * @param limit how many bytes it takes at most
   * @param size how many are expected
   */
  constructor(limit: number, size = Math.min(limit, firstSize)) {
    this.#limit = limit;
    this.#space = Buffer.allocUnsafe(size);
  }

  get taken(): Uint8Array {
    return this.#space.subarray(0, this.#length);
  }

  /** How much memory it has, in bytes. */
  get space(): number {
    return this.#space.byteLength;
  }

  /** Adds a chunk; returns false where that would be too many. */
  add(chunk: Uint8Array): boolean {
    const length = this.#length + chunk.byteLength;
    if (length > this.#limit) return false;
    if (length > this.space) {
      const larger = Buffer.allocUnsafe(Math.min(this.#limit, Math.max(length, 2 * this.space)));
      larger.set(this.taken);
      this.#space = larger;
    }
    this.#space.set(chunk, this.#length);
    this.#length = length;
    return true;
  }
}
