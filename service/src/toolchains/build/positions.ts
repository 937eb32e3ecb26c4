import { textTypes } from '../types/declarations.ts';
import type { PluginTypes } from '../types/declarations.ts';

export interface Position {
  /** From 1. */
  readonly line: number;
  /** From 1, in UTF-16 code units. */
  readonly column: number;
}

/**
 * Turns offsets in UTF-16 code units into positions in a source. The lines are looked for once, because a compiler can have
 * something to say about every character.
 */
export function positionsIn(source: string): (offset: number) => Position {
  const starts = [0];
  for (const { 0: lineBreak, index } of source.matchAll(/\r\n?|\n/g)) starts.push(index + lineBreak.length);
  return (offset) => {
    let within = Math.min(Math.max(0, offset), source.length);
    // Between the two characters of one line break is still the end of the line.
    if (source[within - 1] === '\r' && source[within] === '\n') within -= 1;
    let [low, high] = [0, starts.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] ?? 0) <= within) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: within - (starts[low] ?? 0) + 1 };
  };
}

/** Where the source exports `run`, as near as can be told without parsing; its start when it does not. */
export function positionOfRun(source: string): Position {
  // Line by line: a pattern for both words at once takes very long over a source that is made for that.
  for (const { 0: line, index } of source.matchAll(/^.+$/gm)) {
    const found = /^\s*export\b/.test(line) ? /\brun\b/.exec(line) : null;
    if (found) return positionsIn(source)(index + found.index);
  }
  return { line: 1, column: 1 };
}

/** The message for a plugin without a function `run`. In JavaScript its signature has no types. */
export function missingRun(types: PluginTypes, isJavaScript = false): string {
  const signature = isJavaScript ? 'run(input)' : `run(input: ${types.input}): ${types.output}`;
  const kind = types.input === textTypes.input ? ', from text to text' : '';
  return `A plugin exports a function named "run"${kind}: export function ${signature}`;
}
