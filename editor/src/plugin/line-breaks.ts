/**
 * The line break to give CodeMirror so that a text it hands back unedited is the same to the byte: by itself it reads
 * every kind and writes `\n`. `undefined` leaves it at that.
 */
export function lineSeparator(text: string): string | undefined {
  if (!text.includes('\r')) return undefined;
  // Mixed line breaks: only `\n` breaks, and each `\r` stays where it is, shown as a special character.
  return text.replaceAll('\r\n', '').match(/[\r\n]/) ? '\n' : '\r\n';
}
