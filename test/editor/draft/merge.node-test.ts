import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { mergeSources, mergeTexts } from '../../../editor/src/draft/merge.ts';

const lines = (...all: string[]) => all.join('\n');

describe('the merge of two drafts', () => {
  test('merges edits of different lines', () => {
    const base = lines('a', 'b', 'c', 'd', 'e');
    assert.equal(
      mergeTexts(base, lines('A', 'b', 'c', 'd', 'e'), lines('a', 'b', 'c', 'd', 'E')),
      lines('A', 'b', 'c', 'd', 'E'),
    );
    assert.equal(
      mergeTexts(base, lines('new', 'a', 'b', 'c', 'd', 'e'), lines('a', 'b', 'c', 'd', 'e', 'last')),
      lines('new', 'a', 'b', 'c', 'd', 'e', 'last'),
    );
    assert.equal(
      mergeTexts(base, lines('a', 'c', 'd', 'e'), lines('a', 'b', 'c', 'x', 'y', 'e')),
      lines('a', 'c', 'x', 'y', 'e'),
    );
  });

  test('keeps the end of the text as it was edited, with a line break or without', () => {
    assert.equal(mergeTexts('a\nb\nc\n', 'A\nb\nc\n', 'a\nb\nc\nd\n'), 'A\nb\nc\nd\n');
    assert.equal(mergeTexts('a\nb\nc', 'A\nb\nc', 'a\nb\nc\n'), 'A\nb\nc\n');
    assert.equal(mergeTexts('a\nb\nc\n', 'A\nb\nc\n', 'a\nb\nc'), 'A\nb\nc');
  });

  test('merges an empty line that one side adds before an empty first line, or removes there', () => {
    const base = lines('', 'a', 'b', 'c');
    const theirs = lines('', 'a', 'b', 'C');
    assert.equal(mergeTexts(base, lines('', base), theirs), lines('', theirs));
    assert.equal(mergeTexts(lines('', base), base, lines('', theirs)), theirs);
  });

  test('does not merge edits that overlap or stand next to each other', () => {
    const base = lines('a', 'b', 'c', 'd');
    assert.equal(mergeTexts(base, lines('a', 'B', 'c', 'd'), lines('a', 'x', 'c', 'd')), undefined);
    assert.equal(mergeTexts(base, lines('a', 'B', 'c', 'd'), lines('a', 'b', 'C', 'd')), undefined);
    assert.equal(mergeTexts(base, lines(base, 'one'), lines(base, 'two')), undefined);
  });

  test('takes an edit of one side, or the same edit of both', () => {
    assert.equal(mergeTexts('a', 'b', 'a'), 'b');
    assert.equal(mergeTexts('a', 'a', 'b'), 'b');
    assert.equal(mergeTexts('a', 'b', 'b'), 'b');
  });

  test('takes the tests of the side that changed them, and does not merge languages', () => {
    const base = { contents: 'a\nb\nc\nd', lang: 'x', tests: [{ name: 'one' }] };
    const mine = { ...base, contents: 'A\nb\nc\nd' };
    const theirs = { ...base, contents: 'a\nb\nc\nD', tests: [{ name: 'two' }], owner: 'kept' };
    assert.deepEqual(mergeSources(base, mine, theirs), { ...theirs, contents: 'A\nb\nc\nD' });
    const mineTested = { ...mine, tests: [{ name: 'three' }] };
    assert.equal(mergeSources(base, mineTested, theirs), undefined);
    assert.deepEqual(mergeSources(base, mineTested, { ...theirs, tests: base.tests })?.tests, [
      { name: 'three' },
    ]);
    assert.equal(mergeSources(base, mine, { ...theirs, lang: 'y' }), undefined);
  });
});
