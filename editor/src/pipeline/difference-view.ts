import { Chunk } from '@codemirror/merge';
import { Text } from '@codemirror/state';
import { el } from '../ui/dom.ts';

/** Lines around a change that show where it is. */
const CONTEXT = 2;
/** More lines, and longer ones, are not shown: whoever reads them has the whole answer above. */
const MOST_LINES = 200;
const LONGEST_LINE = 1000;

/** Shows what is not the same in two texts, line by line, and within the lines. */
export function differenceView(before: string, after: string): HTMLElement {
  // A line break at the end has the last line be one like the others.
  const [a, b] = [before, after].map((text) => Text.of(`${text}\n`.split('\n'))) as [Text, Text];
  const rows: HTMLElement[] = [];
  let shown = 1;
  // The limits keep two long texts without much in common from taking forever.
  for (const chunk of Chunk.build(a, b, { scanLimit: 2000, timeout: 300 })) {
    const first = b.lineAt(Math.min(chunk.fromB, b.length)).number;
    if (first - CONTEXT > shown && shown > 1) rows.push(gap());
    rows.push(...context(b, Math.max(shown, first - CONTEXT), first));
    const { changes } = chunk;
    const removed = changes.map(({ fromA, toA }) => [chunk.fromA + fromA, chunk.fromA + toA] as const);
    const added = changes.map(({ fromB, toB }) => [chunk.fromB + fromB, chunk.fromB + toB] as const);
    rows.push(...changed(a, chunk.fromA, chunk.toA, removed, 'del'));
    rows.push(...changed(b, chunk.fromB, chunk.toB, added, 'ins'));
    shown = chunk.toB > b.length ? b.lines + 1 : b.lineAt(chunk.toB).number;
    const next = Math.min(shown + CONTEXT, b.lines + 1);
    rows.push(...context(b, shown, next));
    shown = next;
    if (rows.length > MOST_LINES) break;
  }
  const more = rows.length > MOST_LINES ? [el('p', { class: 'diff-gap' }, '… and more')] : [];
  return el(
    'div',
    { class: 'difference', role: 'group', tabindex: '0', 'aria-label': 'Difference to the run before' },
    ...rows.slice(0, MOST_LINES),
    ...more,
  );
}

const gap = () => el('p', { class: 'diff-gap', 'aria-hidden': 'true' }, '⋯');

const cut = (text: string) => (text.length > LONGEST_LINE ? `${text.slice(0, LONGEST_LINE)}…` : text);

/** Lines from one number up to another, as they are in both. */
function context(doc: Text, from: number, to: number): HTMLElement[] {
  const rows: HTMLElement[] = [];
  for (let number = from; number < to && number < doc.lines; number++) {
    rows.push(el('p', { class: 'diff-line' }, mark(' '), cut(doc.line(number).text) || '\u200b'));
  }
  return rows;
}

const mark = (sign: string) => el('span', { class: 'diff-sign', 'aria-hidden': 'true' }, sign);

function changed(
  doc: Text,
  from: number,
  to: number,
  ranges: readonly (readonly [number, number])[],
  tag: 'del' | 'ins',
): HTMLElement[] {
  const rows: HTMLElement[] = [];
  for (let at = from; at < to && at < doc.length && rows.length <= MOST_LINES;) {
    const line = doc.lineAt(at);
    const parts: (string | Node)[] = [];
    let end = line.from;
    const last = Math.min(line.to, line.from + LONGEST_LINE);
    for (const [start, stop] of ranges) {
      const [a, b] = [Math.max(start, end), Math.min(stop, last)];
      if (a >= b) continue;
      parts.push(doc.sliceString(end, a), el(tag, {}, doc.sliceString(a, b)));
      end = b;
    }
    parts.push(doc.sliceString(end, Math.max(end, last)), last < line.to ? '…' : '');
    const words = tag === 'del' ? 'Was: ' : 'Is: ';
    const sign = [mark(tag === 'del' ? '−' : '+'), el('span', { class: 'visually-hidden' }, words)];
    rows.push(el('p', { class: `diff-line ${tag === 'del' ? 'removed' : 'added'}` }, ...sign, ...parts));
    at = line.to + 1;
  }
  return rows;
}
