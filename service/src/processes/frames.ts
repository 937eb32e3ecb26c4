/**
 * A message between the service and one of its processes. As bytes it is its kind (one byte), the length of its text (four bytes,
 * little-endian) and the text in UTF-8. A text with lone surrogates has to be sent as JSON, which escapes them.
 */
export interface Frame {
  readonly kind: number;
  readonly text: string;
}

const headerSize = 5;

export function encodeFrame(kind: number, text: string): Buffer {
  const size = Buffer.byteLength(text);
  const frame = Buffer.allocUnsafe(headerSize + size);
  frame[0] = kind;
  frame.writeUInt32LE(size, 1);
  frame.write(text, headerSize);
  return frame;
}

/** Parses frames from a stream of bytes, which arrives in chunks of any size. */
export class FrameReader {
  readonly #limit: number;
  #chunks: Buffer[] = [];
  #length = 0;
  #needed = headerSize;

  /** `limit`: the longest text to accept, in bytes. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Adds a chunk, and returns the frames that are complete now. Throws a `RangeError` for one over the limit. */
  push(chunk: Buffer): Frame[] {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    const frames: Frame[] = [];
    if (this.#length < this.#needed) return frames;
    let bytes = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks);
    while (bytes.length >= headerSize) {
      const size = bytes.readUInt32LE(1);
      if (size > this.#limit) throw new RangeError(`A frame of ${size} bytes is over the limit.`);
      const end = headerSize + size;
      if (bytes.length < end) break;
      frames.push({ kind: bytes[0] ?? 0, text: bytes.toString('utf8', headerSize, end) });
      bytes = bytes.subarray(end);
    }
    this.#needed = bytes.length >= headerSize ? headerSize + bytes.readUInt32LE(1) : headerSize;
    this.#chunks = bytes.length ? [bytes] : [];
    this.#length = bytes.length;
    return frames;
  }
}
