/** Turns an offset in UTF-16 code units into a line and a column, both from 1. */
export function positionAt(source: string, offset: number): { line: number; column: number } {
  const before = source.slice(0, Math.max(0, offset));
  // An offset between the two characters of one line break is still on the line that they end.
  const lines = before.replace(/\r$/, source[offset] === '\n' ? '' : '\r').split(/\r\n?|\n/);
  return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
}

/** Where the source exports `run`, as near as can be told without parsing; its start when it does not. */
export function positionOfRun(source: string): { line: number; column: number } {
  // Line by line: a pattern for both words at once takes very long over a source that is made for that.
  for (const { 0: line, index } of source.matchAll(/^.+$/gm)) {
    const found = /^\s*export\b/.test(line) ? /\brun\b/.exec(line) : null;
    if (found) return positionAt(source, index + found.index);
  }
  return { line: 1, column: 1 };
}

export const missingRun =
  'A plugin exports a function named "run", from text to text: export function run(input: string): string';
