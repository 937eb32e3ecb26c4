import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { blocksOf, compose, isPart, linesOf, piecesOf, textOf } from '../../../editor/src/assist/parts.ts';

const lists = fc.array(fc.constantFrom('a', 'b', 'c', '', 'a longer line', 'x\r'), { maxLength: 12 });

/** The first letter. */
const nameOf = (item: string) => item[0];

test('all parts of a change together are the new list, and none of them the former one', () => {
  fc.assert(
    fc.property(lists, lists, fc.boolean(), (before, after, isByItem) => {
      const pieces = piecesOf(before, after, isByItem ? nameOf : undefined);
      assert.deepEqual(compose(pieces), after);
      for (const piece of pieces) if (isPart(piece)) piece.isTaken = false;
      assert.deepEqual(compose(pieces), before);
    }),
  );
});

test('a text is the same when it was split into lines', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('a', '\n', '\r') }),
      (text) => textOf(linesOf(text)) === text,
    ),
  );
});

test('a part is taken without the others', () => {
  const same = Array.from({ length: 9 }, (_, index) => `line ${index}`);
  const pieces = piecesOf(['a', ...same, 'b'], ['A', ...same, 'B']);
  const parts = pieces.filter(isPart);
  assert.equal(parts.length, 2);
  parts[0]!.isTaken = false;
  assert.deepEqual(compose(pieces), ['a', ...same, 'B']);
});

test('items with names are parts one by one: changed, added and removed', () => {
  const pieces = piecesOf(['a1', 'b1', 'c1', 'd1'], ['a1', 'x1', 'b2', 'y1', 'd1'], nameOf);
  assert.deepEqual(
    pieces.filter(isPart).map(({ before, after }) => [...before, '→', ...after].join('')),
    ['→x1', 'b1→b2', '→y1', 'c1→'],
  );
});

test('an answer is paragraphs and code, also while a fence is open', () => {
  assert.deepEqual(blocksOf('One\ntwo\n\nthree\n```js\nlet a;\n\nlet b;\n```\n<b>four</b>\n```\nx'), [
    { kind: 'text', text: 'One\ntwo' },
    { kind: 'text', text: 'three' },
    { kind: 'code', text: 'let a;\n\nlet b;' },
    { kind: 'text', text: '<b>four</b>' },
    { kind: 'code', text: 'x' },
  ]);
});
