import assert from 'node:assert/strict';
import { test, describe } from 'node:test';
import { sameWork, withEdits, lineBreakOf } from '../../../editor/src/plugin/source.ts';

test('edits keep fields that the editor does not know', () => {
  const record = { contents: 'a', lang: 'javascript', tests: [], owner: 'x', nested: { y: 1 } };
  const edited = withEdits(record, 'b', [{ name: 'n', payload: 'p', extra: 2 }]);
  assert.deepEqual(edited, { ...record, contents: 'b', tests: [{ name: 'n', payload: 'p', extra: 2 }] });
});

test('an edit adds no tests to a record without them', () => {
  assert.deepEqual(withEdits({ contents: 'a', lang: 'x' }, 'b', []), { contents: 'b', lang: 'x' });
  assert.deepEqual(withEdits({ contents: 'a', lang: 'x', tests: [] }, 'b', []).tests, []);
});

test('two records are equal whatever the order of their fields', () => {
  const a = { contents: 'a', lang: 'x', tests: [{ name: 'n', payload: 'p' }] };
  assert.equal(
    sameWork(a, { tests: [{ payload: 'p', name: 'n' }], lang: 'x', contents: 'a', other: 1 }),
    true,
  );
  assert.equal(sameWork({ contents: 'a', lang: 'x' }, { contents: 'a', lang: 'x', tests: [] }), true);
  assert.equal(sameWork(a, { ...a, contents: 'b' }), false);
  assert.equal(sameWork(a, { ...a, lang: 'y' }), false);
  assert.equal(sameWork(a, { ...a, tests: [{ name: 'n', payload: 'q' }] }), false);
  assert.equal(sameWork(a, { ...a, tests: [] }), false);
});

describe('lineBreakOf', () => {
  test('finds the line break that keeps a text unchanged', () => {
    assert.equal(lineBreakOf('a\nb'), '\n');
    assert.equal(lineBreakOf('a\r\nb\r\n'), '\r\n');
    assert.equal(lineBreakOf('a\r\nb\n'), undefined);
    assert.equal(lineBreakOf('a\rb'), undefined);
  });
});
