/**
 * The line break to configure CodeMirror with, so that a text that was not edited comes back the same to the byte. `undefined`
 * leaves the default: CodeMirror reads every kind of line break and writes `\n`.
 */
export function lineSeparator(text: string): string | undefined {
  if (!text.includes('\r')) return undefined;
  // Mixed line breaks: only `\n` breaks, and each `\r` stays where it is, shown as a special character.
  return text.replaceAll('\r\n', '').match(/[\r\n]/) ? '\n' : '\r\n';
}

/** A text with `\n` for each line break, which is what a field of a form, and a default CodeMirror editor, make of it. */
export const withLineFeeds = (text: string): string => text.replace(/\r\n?/g, '\n');
