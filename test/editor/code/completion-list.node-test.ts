import assert from 'node:assert/strict';
import { test } from 'node:test';
import { placeDocumentation } from '../../../editor/src/code/completion-list.ts';

const rect = (left: number, top: number, right: number, bottom: number) => ({ left, top, right, bottom });

test('the documentation of a completion never covers the list', () => {
  const info = rect(0, 0, 380, 120);
  for (const [width, listLeft, isAbove, expected] of [
    [1000, 100, false, 'right: top: 40px; max-width: 420px'],
    [1000, 550, false, 'left: top: 40px; max-width: 420px'],
    [700, 100, false, 'right: top: 40px; max-width: 300px'],
    [480, 100, false, 'apart: top: 200px; left: 0; max-width: 380px; max-height: min(16em, 300px)'],
    [480, 100, true, 'apart: bottom: 200px; left: 0; max-width: 380px; max-height: min(16em, 100px)'],
  ] as const) {
    const list = rect(listLeft, 100, listLeft + 300, 300);
    const option = rect(listLeft, 140, listLeft + 300, 160);
    const { style, class: name } = placeDocumentation(list, option, info, rect(0, 0, width, 600), isAbove);
    assert.equal(`${name.replace('cm-completionInfo-', '')}: ${style}`, expected);
  }
});
