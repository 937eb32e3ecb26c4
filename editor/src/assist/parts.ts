import { diff } from '@codemirror/merge';

/** A block of an answer: plain text, or the content of a fence. */
export interface Block {
  kind: 'text' | 'code';
  text: string;
}

/** Splits an answer into paragraphs and code blocks. A fence that is still open counts as one. Everything stays text. */
export function blocksOf(answer: string): Block[] {
  return answer.split(/^ {0,3}`{3,}[^\n`]*(?:\n|$)/m).flatMap((text, index): Block[] => {
    if (index % 2) return [{ kind: 'code', text: text.replace(/\n$/, '') }];
    return text
      .split(/\n{2,}/)
      .filter((paragraph) => paragraph.trim())
      .map((paragraph) => ({ kind: 'text', text: paragraph.trim() }));
  });
}

/** How long a piece of a block may be that is laid out as one, in UTF-16 code units. */
const MAX_CHUNK = 4000;

/**
 * Splits a long text after a line break, else after a space, so that the browser lays out what is in view and what is new. A text
 * that grows keeps its first chunks.
 */
export function chunksOf(text: string): string[] {
  const chunks: string[] = [];
  let start = 0;
  while (text.length - start > MAX_CHUNK) {
    const most = text.slice(start, start + MAX_CHUNK);
    const length =
      most.lastIndexOf('\n') + 1 ||
      most.lastIndexOf(' ') + 1 ||
      MAX_CHUNK - Number(/[\uD800-\uDBFF]$/.test(most));
    chunks.push(text.slice(start, start + length));
    start += length;
  }
  return [...chunks, text.slice(start)];
}

/** A change that is taken or left alone. */
export interface Part {
  before: readonly string[];
  after: readonly string[];
  isTaken: boolean;
}

/** The difference of two lists of texts: what both have, and what differs, as parts. */
export type Piece = readonly string[] | Part;

export const isPart = (piece: Piece): piece is Part => 'isTaken' in piece;

/** The most parts that are offered one by one. A change of more is taken as a whole, because the panel would take long to draw. */
export const MAX_PARTS = 100;

/**
 * The pieces of a change from one list to another.
 * @param nameOf where it is set, each item that differs is a part; two of the same name, one before and one after, are one part
 */
export function piecesOf(
  before: readonly string[],
  after: readonly string[],
  nameOf?: (item: string) => unknown,
): Piece[] {
  const pieces: Piece[] = [];
  let at = 0;
  let parts = 0;
  for (const { fromA, toA, fromB, toB } of changesOf(before, after)) {
    if (fromA > at) pieces.push(before.slice(at, fromA));
    const [removed, added] = [before.slice(fromA, toA), after.slice(fromB, toB)];
    parts += nameOf ? Math.max(removed.length, added.length) : 1;
    if (parts > MAX_PARTS) return [partOf(before, after)];
    pieces.push(...(nameOf ? pairsOf(removed, added, nameOf) : [partOf(removed, added)]));
    at = toA;
  }
  if (at < before.length) pieces.push(before.slice(at));
  return pieces;
}

/** The list with the parts that are taken. */
export const compose = (pieces: readonly Piece[]): string[] =>
  pieces.flatMap((piece) => (isPart(piece) ? (piece.isTaken ? piece.after : piece.before) : piece));

/** The lines of a text, each with a line break, so that the last one is compared like the others. */
export const linesOf = (text: string): string[] => text.split('\n').map((line) => `${line}\n`);

/** The text of lines that `linesOf` made. */
export const textOf = (lines: readonly string[]): string => lines.join('').replace(/\n$/, '');

const partOf = (before: readonly string[], after: readonly string[]): Part => ({
  before,
  after,
  isTaken: true,
});

function changesOf(before: readonly string[], after: readonly string[]) {
  const codes = new Map(
    [...new Set([...before, ...after])].map((item, index) => [item, String.fromCharCode(index)]),
  );
  // There are no more characters, of which one stands for each item.
  if (codes.size > 65_536) return [{ fromA: 0, toA: before.length, fromB: 0, toB: after.length }];
  const encode = (items: readonly string[]) => items.map((item) => codes.get(item)).join('');
  return diff(encode(before), encode(after), { scanLimit: 2000, timeout: 300 });
}

function pairsOf(
  removed: readonly string[],
  added: readonly string[],
  nameOf: (item: string) => unknown,
): Part[] {
  const parts: Part[] = [];
  let at = 0;
  for (const item of added) {
    const name = nameOf(item);
    const found = removed.findIndex((former, index) => index >= at && nameOf(former) === name);
    if (found < 0) {
      parts.push(partOf([], [item]));
      continue;
    }
    for (; at < found; at++) parts.push(partOf(removed.slice(at, at + 1), []));
    parts.push(partOf(removed.slice(found, found + 1), [item]));
    at = found + 1;
  }
  for (; at < removed.length; at++) parts.push(partOf(removed.slice(at, at + 1), []));
  return parts;
}
