/*
 * A plugin in JavaScript names no types. What `run` is given is known all the same: the compiler is shown the source with a
 * comment in front of the parameter that says so, and places are moved to and fro. It is the one piece of text that is added,
 * and it has no line break, so that only places behind it in its own line move.
 */

/** A source as the compiler is shown it. Offsets and columns are in UTF-16 code units; lines and columns count from 0. */
export interface TypedSource {
  readonly text: string;
  /** The place in `text` of a place in the source. */
  toTyped(place: Place): Place;
  /** The place in the source of a place in `text`; one within what was added is the place where it was added. */
  fromTyped(place: Place): Place;
}

export interface Place {
  readonly line: number;
  readonly character: number;
}

const same = (place: Place) => place;

/** A source as it is. */
export const untypedSource = (text: string): TypedSource => ({ text, toTyped: same, fromTyped: same });

/** A source in JavaScript with the type of what its `run` is given; as it is where no `run` is found. */
export function typedSource(source: string, inputType: string): TypedSource {
  const at = parameterOfRun(source);
  if (at === undefined) return untypedSource(source);
  const comment = `/** @type {${inputType}} */ `;
  const before = source.slice(0, at).split(/\r\n?|\n/);
  const line = before.length - 1;
  const column = before.at(-1)?.length ?? 0;
  const move = (place: Place, from: number, to: (character: number) => number) =>
    place.line === line && place.character >= from
      ? { line, character: to(place.character) }
      : { line: place.line, character: place.character };
  return {
    text: source.slice(0, at) + comment + source.slice(at),
    toTyped: (place) => move(place, column, (character) => character + comment.length),
    fromTyped: (place) => move(place, column, (character) => Math.max(column, character - comment.length)),
  };
}

/** The offset of the first parameter of the exported `run`. Told by its first words, because a source that is typed in may not parse. */
function parameterOfRun(source: string): number | undefined {
  // Line by line: a pattern over the whole text takes very long over one that is made for that.
  for (const { 0: line, index } of source.matchAll(/^.+$/gm)) {
    if (!line.startsWith('export ')) continue;
    const found =
      /^export (?:default )?(?:async )?function\*? ?run ?\(/.exec(line) ??
      /^export (?:const|let|var) run ?= ?(?:async )?(?:function\*? ?)?\(/.exec(line) ??
      // A parameter without parentheses takes no comment that counts.
      undefined;
    if (found) return index + found[0].length;
  }
  return undefined;
}
