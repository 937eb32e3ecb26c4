/** A value of JSON with binary data beside it, as it goes from one process to another. */
export interface Parcel {
  readonly value: unknown;
  readonly blobs: readonly Uint8Array[];
}

const numberSize = 4;

export const encodeParcel = (value: unknown, blobs: readonly Uint8Array[] = []): Buffer =>
  Buffer.concat(partsOfParcel(value, blobs));

/**
 * The parts of a parcel, to be written one after the other: the length of the JSON and how many blobs there are, then the length of
 * each blob (numbers of four bytes, little-endian), then the JSON in UTF-8; and the blobs as they are.
 */
export function partsOfParcel(value: unknown, blobs: readonly Uint8Array[]): readonly Uint8Array[] {
  const json = JSON.stringify(value);
  const jsonSize = Buffer.byteLength(json);
  const start = numberSize * (2 + blobs.length);
  const head = Buffer.allocUnsafe(start + jsonSize);
  head.writeUInt32LE(jsonSize, 0);
  head.writeUInt32LE(blobs.length, numberSize);
  blobs.forEach((blob, i) => head.writeUInt32LE(blob.byteLength, numberSize * (2 + i)));
  head.write(json, start);
  return [head, ...blobs];
}

/** Reads a parcel. The blobs are parts of `bytes`. Throws where `bytes` are not a parcel. */
export function decodeParcel(bytes: Buffer): Parcel {
  const jsonSize = bytes.readUInt32LE(0);
  const count = bytes.readUInt32LE(numberSize);
  const start = numberSize * (2 + count);
  if (start + jsonSize > bytes.byteLength) throw new RangeError('The parcel is cut.');
  const blobs: Uint8Array[] = [];
  let at = start + jsonSize;
  for (let i = 0; i < count; i++) {
    const end = at + bytes.readUInt32LE(numberSize * (2 + i));
    if (end > bytes.byteLength) throw new RangeError('The parcel is cut.');
    blobs.push(bytes.subarray(at, end));
    at = end;
  }
  return { value: JSON.parse(bytes.toString('utf8', start, start + jsonSize)) as unknown, blobs };
}
