const encoder = new TextEncoder();

/** How many bytes of UTF-8 a record keeps of an input, of an output, and of all logs together. */
export const keptBytes = 16 * 1024;

/** What an entry of the logs costs beside its text, so that many empty ones have an end. */
const entryBytes = 3;

const room = Buffer.allocUnsafe(keptBytes);

/** The text's first 16 KB, without half a character at the end. */
export function truncateText(
  text: string,
  most = keptBytes,
): { readonly text: string; readonly isTruncated: boolean } {
  const { read, written } = encoder.encodeInto(text, room.subarray(0, most));
  if (read === text.length) return { text, isTruncated: false };
  // By its bytes and not with `slice`, which would keep all of the long text in memory.
  return { text: room.toString('utf8', 0, written), isTruncated: true };
}

/**
 * The last entries of the logs, 16 KB of them: of a run that failed, these tell most. An entry that is too long by itself
 * has its beginning kept.
 */
export function truncateLogs(logs: readonly string[]): {
  readonly logs: string[];
  readonly isTruncated: boolean;
} {
  const kept: string[] = [];
  let left = keptBytes;
  for (const entry of logs.toReversed()) {
    left -= entryBytes;
    if (left <= 0) return { logs: kept.toReversed(), isTruncated: true };
    const { text, isTruncated } = truncateText(entry, left);
    if (isTruncated) {
      if (!kept.length) kept.push(storable(text));
      return { logs: kept.toReversed(), isTruncated: true };
    }
    left -= Buffer.byteLength(text);
    kept.push(storable(text));
  }
  return { logs: kept.toReversed(), isTruncated: false };
}

/** A text that plugins chose, as every database and every client can take it: U+FFFD for U+0000 and for half a character. */
export const storable = (text: string): string => text.toWellFormed().replaceAll('\0', '\ufffd');
