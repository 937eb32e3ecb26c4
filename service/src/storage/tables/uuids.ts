/** The 16 bytes of a UUID. Those of version 7 sort by the time at which they were made. */
export const uuidToBytes = (uuid: string): Uint8Array => Buffer.from(uuid.replaceAll('-', ''), 'hex');

export const bytesToUuid = (bytes: Uint8Array): string =>
  Buffer.from(bytes)
    .toString('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');

/** When a UUID of version 7 was made, in milliseconds since the epoch. */
export const timeOfUuid = (uuid: string): number => Number.parseInt(uuid.slice(0, 8) + uuid.slice(9, 13), 16);

/** Bytes that sort before every UUID of version 7 that was made at this time or later. */
export function firstBytesAt(time: number): Uint8Array {
  const bytes = Buffer.alloc(16);
  bytes.writeUIntBE(Math.max(0, Math.floor(time)), 0, 6);
  return bytes;
}
