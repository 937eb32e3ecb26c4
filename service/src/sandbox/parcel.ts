/** A value of JSON with binary data beside it, as it goes from one process to another. */
export interface Parcel {
  readonly value: unknown;
  readonly blobs: readonly Uint8Array[];
}

const numberSize = 4;

/**
 * Writes a parcel: the length of the JSON and how many blobs there are, then the length of each blob (numbers of four bytes,
 * little-endian), then the JSON in UTF-8 and the blobs.
 */
export function encodeParcel(value: unknown, blobs: readonly Uint8Array[] = []): Buffer {
  const json = JSON.stringify(value);
  const jsonSize = Buffer.byteLength(json);
  const start = numberSize * (2 + blobs.length);
  const parcel = Buffer.allocUnsafe(blobs.reduce((sum, blob) => sum + blob.byteLength, start + jsonSize));
  parcel.writeUInt32LE(jsonSize, 0);
  parcel.writeUInt32LE(blobs.length, numberSize);
  blobs.forEach((blob, i) => parcel.writeUInt32LE(blob.byteLength, numberSize * (2 + i)));
  parcel.write(json, start);
  let at = start + jsonSize;
  for (const blob of blobs) {
    parcel.set(blob, at);
    at += blob.byteLength;
  }
  return parcel;
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
