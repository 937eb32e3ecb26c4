import { Chunk } from '@codemirror/merge';
import { Text } from '@codemirror/state';
import type { PluginSource, PluginTest } from 'plugin-editor/client.js';
import { sameWork } from '../plugin/source.ts';

/** An edit by one side: the text between two offsets was replaced by another. */
interface Edit {
  from: number;
  to: number;
  insert: string;
}

const FIRST_LINE = '-\n';

/**
 * Merges two edits of one text, line by line. `undefined` where they overlap or touch, because the meaning
 * of either may then depend on the other.
 */
export function mergeTexts(base: string, mine: string, theirs: string): string | undefined {
  if (mine === theirs || theirs === base) return mine;
  if (mine === base) return theirs;
  // With a line break at its end, the last line is merged like the others. CodeMirror finds no change of an empty line at the very
  // beginning, so another line comes before it.
  const frame = (text: string) => `${FIRST_LINE}${text}\n`;
  const whole = frame(base);
  const edits = [...editsOf(whole, frame(mine)), ...editsOf(whole, frame(theirs))].toSorted(
    (a, b) => a.from - b.from || a.to - b.to,
  );
  let merged = '';
  let end = 0;
  for (const [index, { from, to, insert }] of edits.entries()) {
    if (index > 0 && from <= end) return undefined;
    merged += whole.slice(end, from) + insert;
    end = to;
  }
  return (merged + whole.slice(end)).slice(FIRST_LINE.length, -1);
}

function editsOf(base: string, edited: string): Edit[] {
  const toLines = (text: string) => Text.of(text.split('\n'));
  return Chunk.build(toLines(base), toLines(edited), { scanLimit: 5000, timeout: 500 }).map(
    ({ fromA, toA, fromB, toB }) => ({
      from: Math.min(fromA, base.length),
      to: Math.min(toA, base.length),
      insert: edited.slice(fromB, toB),
    }),
  );
}

/** Merges two edits of a plugin's source; `undefined` where they overlap. */
export function mergeSources(
  base: PluginSource,
  mine: PluginSource,
  theirs: PluginSource,
): PluginSource | undefined {
  if (mine.lang !== theirs.lang) return undefined;
  const contents = mergeTexts(base.contents, mine.contents, theirs.contents);
  const tests = mergeTests(base, mine, theirs);
  return contents === undefined || tests === undefined
    ? undefined
    : { ...theirs, contents, ...(tests.length || theirs.tests ? { tests } : {}) };
}

/** Tests that one side alone changed are that side's. */
function mergeTests(base: PluginSource, mine: PluginSource, theirs: PluginSource): PluginTest[] | undefined {
  const isSame = (one: PluginSource, other: PluginSource) =>
    sameWork({ ...one, contents: '', lang: '' }, { ...other, contents: '', lang: '' });
  if (isSame(base, mine) || isSame(mine, theirs)) return theirs.tests ?? [];
  return isSame(base, theirs) ? (mine.tests ?? []) : undefined;
}
