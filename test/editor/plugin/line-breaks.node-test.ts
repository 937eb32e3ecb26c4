import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { lineSeparator } from '../../../editor/src/plugin/line-breaks.ts';

describe('lineSeparator', () => {
  test('finds the line break that keeps a text unchanged', () => {
    assert.equal(lineSeparator('a\nb'), undefined);
    assert.equal(lineSeparator('a\r\nb\r\n'), '\r\n');
    assert.equal(lineSeparator('a\r\nb\n'), '\n');
    assert.equal(lineSeparator('a\rb'), '\n');
  });
});
