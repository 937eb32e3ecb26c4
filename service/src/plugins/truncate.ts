const encoder = new TextEncoder();

/** How much of an input and of an output a record keeps, in bytes of UTF-8, and of a message and of all logs, in bytes of JSON. */
export const keptBytes = 16 * 1024;

/**
 * The beginning of a text, in whole characters, whose JSON has at most `max` bytes (default, and limit: 16 KiB): a control character
 * takes six.
 */
export function truncateByJson(text: string, max = keptBytes): ReturnType<typeof truncateText> {
  const cut = truncateText(text, max);
  if (cut.text.length * longestEscape <= max) return cut;
  let bytes = 0;
  let end = 0;
  for (const character of cut.text) {
    bytes += jsonBytes(character);
    if (bytes > max) return { text: cut.text.slice(0, end), isTruncated: true };
    end += character.length;
  }
  return cut;
}

/** How many bytes the longest escape of a character takes in JSON, such as `\\u0001`. */
const longestEscape = 6;

/** How many bytes a character takes in JSON. */
function jsonBytes(character: string): number {
  if (/["\\\b\t\n\f\r]/.test(character)) return 2;
  return character < ' ' ? longestEscape : Buffer.byteLength(character);
}

/** How much an entry of the logs counts besides its text, so that the number of empty entries is limited, too. */
const entryBytes = 3;

const room = Buffer.allocUnsafe(keptBytes);

/** The beginning of a text, in whole characters. `max`: how many bytes of UTF-8 at most (default, and limit: 16 KiB). */
export function truncateText(
  text: string,
  max = keptBytes,
): { readonly text: string; readonly isTruncated: boolean } {
  const { read, written } = encoder.encodeInto(text, room.subarray(0, max));
  if (read === text.length) return { text, isTruncated: false };
  // Decoded from the bytes, because the result of `slice` would keep the whole long text in memory.
  return { text: room.toString('utf8', 0, written), isTruncated: true };
}

/**
 * The last entries of the logs, up to 16 KiB of JSON, because they are the most useful ones for a run that failed. Where the last entry
 * alone is too long, its beginning is kept.
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
    const { text, isTruncated } = truncateByJson(entry, left);
    if (isTruncated) {
      if (!kept.length) kept.push(toStorableText(text));
      return { logs: kept.toReversed(), isTruncated: true };
    }
    left -= Buffer.byteLength(JSON.stringify(text)) - 2;
    kept.push(toStorableText(text));
  }
  return { logs: kept.toReversed(), isTruncated: false };
}

/** Replaces U+0000 and lone surrogates in a text of a plugin by U+FFFD, because not every database and client accepts them. */
export const toStorableText = (text: string): string => text.toWellFormed().replaceAll('\0', '\ufffd');
