import type { Diagnostic } from '../language.ts';
import { textTypes } from '../types/declarations.ts';
import type { PluginTypes } from '../types/declarations.ts';

export interface Position {
  /** From 1. */
  readonly line: number;
  /** From 1, in UTF-16 code units. */
  readonly column: number;
}

/**
 * Makes a function that turns offsets, in UTF-16 code units, into positions in a source. The line starts are found once,
 * because a compiler may report a problem at every character.
 */
export function positionsIn(source: string): (offset: number) => Position {
  const starts = [0];
  for (const { 0: lineBreak, index } of source.matchAll(/\r\n?|\n/g)) starts.push(index + lineBreak.length);
  return (offset) => {
    let within = Math.min(Math.max(0, offset), source.length);
    // An offset within a CRLF is still at the end of its line.
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

/** The position where the source exports `run`, as far as can be found without a parser; else the start of the source. */
export function positionOfRun(source: string): Position {
  // Line by line: one pattern for both words would take very long on a source that was written to make it slow.
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

/** How deep brackets may be nested. Parsers overflow their stack, which ends their process, at some 10,000. */
const deepestNesting = 1000;

/**
 * The problem of a source whose brackets are nested too deep for a parser; `undefined` for any other. Brackets in texts and comments
 * count as well, which matters only where a thousand of them are never closed.
 */
export function findTooDeepNesting(source: string): Diagnostic | undefined {
  let depth = 0;
  for (const { 0: bracket, index } of source.matchAll(/[()[\]{}]/g)) {
    depth = '([{'.includes(bracket) ? depth + 1 : Math.max(0, depth - 1);
    if (depth <= deepestNesting) continue;
    const message = `Brackets are nested more than ${deepestNesting} deep here, which is the limit.`;
    return { ...positionsIn(source)(index), message, severity: 'error' };
  }
  return undefined;
}
