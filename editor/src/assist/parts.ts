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

/** A change that is taken or left alone. */
export interface Part {
  before: string;
  after: string;
  isTaken: boolean;
}

/** The difference of two texts: what both have, as text, and what differs, as parts. */
export type Piece = string | Part;

/** The pieces of a change from one text to another, by lines. */
export function piecesOf(before: string, after: string): Piece[] {
  // With a line break at its end, the last line is compared like the others.
  const [a, b] = [before, after].map((text) => text.split('\n').map((line) => `${line}\n`)) as [
    string[],
    string[],
  ];
  const codes = new Map([...new Set([...a, ...b])].map((line, index) => [line, String.fromCharCode(index)]));
  // There are no more characters, of which one stands for each line.
  if (codes.size > 65_536) return [{ before: a.join(''), after: b.join(''), isTaken: true }];
  const encode = (lines: readonly string[]) => lines.map((line) => codes.get(line)).join('');
  const pieces: Piece[] = [];
  let at = 0;
  const changes = diff(encode(a), encode(b), { scanLimit: 2000, timeout: 300 });
  for (const { fromA, toA, fromB, toB } of changes) {
    if (fromA > at) pieces.push(a.slice(at, fromA).join(''));
    pieces.push({ before: a.slice(fromA, toA).join(''), after: b.slice(fromB, toB).join(''), isTaken: true });
    at = toA;
  }
  if (at < a.length) pieces.push(a.slice(at).join(''));
  return pieces;
}

/** The text with the parts that are taken. */
export const compose = (pieces: readonly Piece[]): string =>
  pieces
    .map((piece) => (typeof piece === 'string' ? piece : piece.isTaken ? piece.after : piece.before))
    .join('')
    .replace(/\n$/, '');

export const isPart = (piece: Piece): piece is Part => typeof piece !== 'string';
