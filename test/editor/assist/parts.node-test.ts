import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { blocksOf, compose, isPart, piecesOf } from '../../../editor/src/assist/parts.ts';

const lines = fc
  .array(fc.constantFrom('a', 'b', 'c', '', 'a longer line', 'x\r'), { maxLength: 12 })
  .map((all) => all.join('\n'));

test('all parts of a change together are the new text, and none of them the former one', () => {
  fc.assert(
    fc.property(lines, lines, (before, after) => {
      const pieces = piecesOf(before, after);
      assert.equal(compose(pieces), after);
      for (const piece of pieces) if (isPart(piece)) piece.isTaken = false;
      assert.equal(compose(pieces), before);
    }),
  );
});

test('a part is taken without the others', () => {
  const same = Array.from({ length: 9 }, (_, index) => `line ${index}`).join('\n');
  const pieces = piecesOf(`a\n${same}\nb`, `A\n${same}\nB`);
  const parts = pieces.filter(isPart);
  assert.equal(parts.length, 2);
  parts[0]!.isTaken = false;
  assert.equal(compose(pieces), `a\n${same}\nB`);
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
