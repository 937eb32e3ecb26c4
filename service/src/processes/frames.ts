/**
 * A message between the service and one of its processes. As bytes it is its kind (one byte), the length of its text (four bytes,
 * little-endian) and the text in UTF-8. A text with lone surrogates has to be sent as JSON, which escapes them.
 */
export interface Frame {
  readonly kind: number;
  /** Empty where the kind is one of bytes. */
  readonly text: string;
  /** The content of a kind that the reader was told to be one of bytes. It keeps little else in memory. */
  readonly bytes?: Buffer;
}

const headerSize = 5;

export function encodeFrame(kind: number, content: string | Uint8Array): Buffer {
  if (typeof content !== 'string') return Buffer.concat(partsOfFrame(kind, [content]));
  const text = content;
  const size = Buffer.byteLength(text);
  const frame = Buffer.allocUnsafe(headerSize + size);
  frame[0] = kind;
  frame.writeUInt32LE(size, 1);
  frame.write(text, headerSize);
  return frame;
}

/** The parts of a frame, to be written one after the other: its header, and those of its content as they are. */
export function partsOfFrame(kind: number, content: readonly Uint8Array[]): readonly Uint8Array[] {
  const header = Buffer.allocUnsafe(headerSize);
  header[0] = kind;
  header.writeUInt32LE(
    content.reduce((sum, { byteLength }) => sum + byteLength, 0),
    1,
  );
  return [header, ...content];
}

/** Parses frames from a stream of bytes, which arrives in chunks of any size. */
export class FrameReader {
  readonly #limit: number;
  readonly #ofBytes: ReadonlySet<number>;
  #chunks: Buffer[] = [];
  #length = 0;
  #needed = headerSize;

  /**
   * @param limit the longest content to accept, in bytes
   * @param ofBytes the kinds of frames whose content is not text
   */
  constructor(limit: number, ofBytes: Iterable<number> = []) {
    this.#limit = limit;
    this.#ofBytes = new Set(ofBytes);
  }

  /** Adds a chunk, and returns the frames that are complete now. Throws a `RangeError` for one over the limit. */
  push(chunk: Buffer): Frame[] {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    const frames: Frame[] = [];
    if (this.#length < this.#needed) return frames;
    const isJoined = this.#chunks.length > 1;
    const all = isJoined ? Buffer.concat(this.#chunks) : chunk;
    let bytes = all;
    while (bytes.length >= headerSize) {
      const size = bytes.readUInt32LE(1);
      if (size > this.#limit) throw new RangeError(`A frame of ${size} bytes is over the limit.`);
      const end = headerSize + size;
      if (bytes.length < end) break;
      const kind = bytes[0] ?? 0;
      if (this.#ofBytes.has(kind)) {
        const content = bytes.subarray(headerSize, end);
        // Copied, because a part of a chunk would keep the whole chunk in memory; unless it is nearly all of what was joined.
        const isAll = isJoined && size > 0.9 * all.length;
        frames.push({ kind, text: '', bytes: isAll ? content : Buffer.from(content) });
      } else {
        frames.push({ kind, text: bytes.toString('utf8', headerSize, end) });
      }
      bytes = bytes.subarray(end);
    }
    this.#needed = bytes.length >= headerSize ? headerSize + bytes.readUInt32LE(1) : headerSize;
    this.#chunks = bytes.length ? [bytes] : [];
    this.#length = bytes.length;
    return frames;
  }
}
