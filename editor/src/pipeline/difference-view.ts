import { Chunk } from '@codemirror/merge';
import { Text } from '@codemirror/state';
import { type TemplateResult, html, nothing } from 'lit/html.js';
import { texts } from '../locales/locale.ts';

/** Lines around a change that show where it is. */
const CONTEXT = 2;
/** The most lines, and characters of a line, that are shown: the whole result is above. */
const MAX_LINES = 200;
const MAX_LINE_LENGTH = 1000;

// With a line break at its end, the last line is compared like the others. An empty text is an empty line.
const linesOf = (text: string | undefined) => Text.of(text === undefined ? [''] : `${text}\n`.split('\n'));

// The limits keep two long texts without much in common from taking forever.
const chunksOf = (a: Text, b: Text) => Chunk.build(a, b, { scanLimit: 2000, timeout: 300 });

/** How many lines one text has more than another, and how many it lacks; a line that changed is both. */
export function countChangedLines(before: string, after: string): { added: number; removed: number } {
  const [a, b] = [linesOf(before), linesOf(after)];
  const lineAt = (doc: Text, at: number) => (at > doc.length ? doc.lines + 1 : doc.lineAt(at).number);
  const count = (doc: Text, from: number, to: number) => lineAt(doc, to) - lineAt(doc, from);
  let [added, removed] = [0, 0];
  for (const { fromA, toA, fromB, toB } of chunksOf(a, b)) {
    removed += count(a, fromA, toA);
    added += count(b, fromB, toB);
  }
  return { added, removed };
}

/**
 * Shows the difference between two texts, line by line and within lines; `undefined` is no line at all. `label` is its accessible
 * name.
 */
export function differenceView(
  before: string | undefined,
  after: string | undefined,
  label: string,
): TemplateResult {
  const [a, b] = [linesOf(before), linesOf(after)];
  const rows: TemplateResult[] = [];
  let shown = 1;
  const chunks = chunksOf(a, b);
  const firstLineOf = ({ fromB }: Chunk) => b.lineAt(Math.min(fromB, b.length)).number;
  for (const [i, chunk] of chunks.entries()) {
    const first = firstLineOf(chunk);
    if (first - CONTEXT > shown && shown > 1) rows.push(gap());
    rows.push(...context(b, Math.max(shown, first - CONTEXT), first));
    const { changes } = chunk;
    const removed = changes.map(({ fromA, toA }) => [chunk.fromA + fromA, chunk.fromA + toA] as const);
    const added = changes.map(({ fromB, toB }) => [chunk.fromB + fromB, chunk.fromB + toB] as const);
    rows.push(...changed(a, chunk.fromA, chunk.toA, removed, 'del'));
    rows.push(...changed(b, chunk.fromB, chunk.toB, added, 'ins'));
    shown = chunk.toB > b.length ? b.lines + 1 : b.lineAt(chunk.toB).number;
    const following = chunks[i + 1];
    const next = Math.min(shown + CONTEXT, following ? firstLineOf(following) : b.lines + 1);
    rows.push(...context(b, shown, next));
    shown = next;
    if (rows.length > MAX_LINES) break;
  }
  const isCut = rows.length > MAX_LINES;
  return html`<div class="difference" dir="ltr" role="group" tabindex="0" aria-label=${label}>
    ${rows.slice(0, MAX_LINES)}${isCut ? html`<p class="diff-gap">… ${texts().result.more}</p>` : nothing}
  </div>`;
}

/** Characters that are not seen, or that reorder what is: a change may hide in them. Line breaks and tabs are no such. */
const HIDDEN = /(?![\n\r\t])[\p{Cc}\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu;

const visible = (text: string) =>
  text.replace(HIDDEN, (character) => `\\u{${character.charCodeAt(0).toString(16)}}`);

const gap = () => html`<p class="diff-gap" aria-hidden="true">…</p>`;

const cut = (text: string) =>
  visible(text.length > MAX_LINE_LENGTH ? `${text.slice(0, MAX_LINE_LENGTH)}…` : text);

/** The lines from one number up to another, which both texts have. */
function context(doc: Text, from: number, to: number): TemplateResult[] {
  const rows: TemplateResult[] = [];
  for (let number = from; number < to && number < doc.lines; number++) {
    rows.push(
      html`<p class="diff-line">
        ${mark(' ')}<span class="verbatim">${cut(doc.line(number).text) || '\u200b'}</span>
      </p>`,
    );
  }
  return rows;
}

const mark = (sign: string) => html`<span class="diff-sign" aria-hidden="true">${sign}</span>`;

function changed(
  doc: Text,
  from: number,
  to: number,
  ranges: readonly (readonly [number, number])[],
  tag: 'del' | 'ins',
): TemplateResult[] {
  const { result } = texts();
  const rows: TemplateResult[] = [];
  for (let at = from; at < to && at < doc.length && rows.length <= MAX_LINES;) {
    const line = doc.lineAt(at);
    const parts: (string | TemplateResult)[] = [];
    let end = line.from;
    const last = Math.min(line.to, line.from + MAX_LINE_LENGTH);
    for (const [start, stop] of ranges) {
      const [a, b] = [Math.max(start, end), Math.min(stop, last)];
      if (a >= b) continue;
      const text = visible(doc.sliceString(a, b));
      parts.push(
        visible(doc.sliceString(end, a)),
        tag === 'del' ? html`<del>${text}</del>` : html`<ins>${text}</ins>`,
      );
      end = b;
    }
    parts.push(visible(doc.sliceString(end, Math.max(end, last))), last < line.to ? '…' : '');
    const isOld = tag === 'del';
    rows.push(
      html`<p class="diff-line ${isOld ? 'removed' : 'added'}">
        ${mark(isOld ? '-' : '+')}<span class="visually-hidden">${isOld ? result.was : result.is}</span
        ><span class="verbatim">${parts}</span>
      </p>`,
    );
    at = line.to + 1;
  }
  return rows;
}
