/*
 * A plugin in JavaScript declares no types, but that of its input is known. So the compiler gets the source with a comment in
 * front of the parameter of `run` that declares it, and positions are translated. The comment has no line break, so that only
 * positions after it in the same line differ.
 */

/** A source as the compiler gets it. Lines and columns count from 0, columns in UTF-16 code units. */
export interface TypedSource {
  readonly text: string;
  /** Translates a position in the source into one in `text`. */
  toTyped(position: CharacterPosition): CharacterPosition;
  /** Translates a position in `text` into one in the source. One within the comment becomes that of the parameter. */
  fromTyped(position: CharacterPosition): CharacterPosition;
}

export interface CharacterPosition {
  readonly line: number;
  readonly character: number;
}

const same = (position: CharacterPosition) => position;

/** A source without a comment. */
export const untypedSource = (text: string): TypedSource => ({ text, toTyped: same, fromTyped: same });

/** A source in JavaScript with a comment that declares the input's type; without one where no `run` is found. */
export function typedSource(source: string, inputType: string): TypedSource {
  const at = parameterOfRun(source);
  if (at === undefined) return untypedSource(source);
  const comment = `/** @type {${inputType}} */ `;
  const before = source.slice(0, at).split(/\r\n?|\n/);
  const line = before.length - 1;
  const column = before.at(-1)?.length ?? 0;
  const move = (position: CharacterPosition, from: number, to: (character: number) => number) =>
    position.line === line && position.character >= from
      ? { line, character: to(position.character) }
      : { line: position.line, character: position.character };
  return {
    text: source.slice(0, at) + comment + source.slice(at),
    toTyped: (position) => move(position, column, (character) => character + comment.length),
    fromTyped: (position) =>
      move(position, column, (character) => Math.max(column, character - comment.length)),
  };
}

/** The offset of the first parameter of the exported `run`. Found by patterns, because a source may not parse while one types. */
function parameterOfRun(source: string): number | undefined {
  let endOfComment = 0;
  // Line by line: a pattern over the whole source would take very long on one that was written to make it slow.
  for (const { 0: line, index } of source.matchAll(/^.+$/gm)) {
    if (index < endOfComment || !line.startsWith('export ')) continue;
    const found =
      /^export (?:default )?(?:async )?function\*? ?run ?\(/.exec(line) ??
      /^export (?:const|let|var) run ?= ?(?:async )?(?:function\*? ?)?\(/.exec(line) ??
      // In front of a parameter without parentheses, the compiler ignores the comment.
      undefined;
    if (!found) continue;
    endOfComment = endOfCommentAt(source, index) ?? 0;
    if (endOfComment) continue;
    // The input's type is not that of a list of all arguments.
    const takesAll = /^\s*\.\.\./.test(line.slice(found[0].length));
    return takesAll ? undefined : index + found[0].length;
  }
  return undefined;
}

/** The end of the block comment around an offset, as far as the marks next to it show; `undefined` where there is none. */
function endOfCommentAt(source: string, at: number): number | undefined {
  const end = source.indexOf('*/', at);
  const isOpen = source.lastIndexOf('/*', at) > source.lastIndexOf('*/', at);
  return isOpen && end >= 0 && !source.slice(at, end).includes('/*') ? end : undefined;
}
