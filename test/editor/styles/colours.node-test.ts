import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { contrast, parseHex } from '../../../editor/src/ui/colour.ts';

// What axe cannot see, such as text on a selection, is checked by the figures themselves (WCAG 2.2, 1.4.3 and 1.4.11).

const css = await readFile(new URL('../../../editor/src/styles/colours.css', import.meta.url), 'utf8');
const pairs = css.matchAll(/--([\w-]+): light-dark\((#[\da-f]{6}), (#[\da-f]{6})\)/g);
const colours = new Map(Array.from(pairs, ([, name, light, dark]) => [name, [light, dark]]));

function contrastOf(name: string, ground: string, scheme: 0 | 1): number {
  const [a, b] = [colours.get(name)?.[scheme], colours.get(ground)?.[scheme]];
  assert.ok(a && b, `${name} or ${ground} is no colour`);
  return contrast(parseHex(a), parseHex(b));
}

const code = 'keyword string regexp number comment function type property punctuation'.split(' ');
const grounds = ['line', 'selection', 'same', 'match', 'added', 'added-text', 'removed', 'removed-text'];

for (const [scheme, name] of [
  [0, 'light'],
  [1, 'dark'],
] as const) {
  test(`code is readable wherever it stands in ${name} colours`, () => {
    for (const ground of ['editor', ...grounds.map((one) => `code-${one}`)]) {
      for (const colour of ['text', ...code.map((one) => `code-${one}`), 'code-invalid']) {
        const figure = contrastOf(colour, ground, scheme);
        assert.ok(figure >= 4.5, `${colour} on ${ground}: ${figure.toFixed(2)}`);
      }
    }
  });

  test(`controls are readable and visible in ${name} colours`, () => {
    for (const [colour, ground, least] of [
      ['on-accent', 'accent', 4.5],
      ['on-accent', 'accent-hover', 4.5],
      ['text', 'hover', 4.5],
      ['text', 'alert', 4.5],
      ['text', 'note', 4.5],
      ['accent', 'hover', 4.5],
      ['muted', 'hover', 4.5],
      ['bad', 'surface', 4.5],
      ['code-gutter', 'code-line', 4.5],
      ['control-line', 'surface', 3],
      ['control-line', 'raised', 3],
      ['control-line', 'field', 3],
    ] as const) {
      const figure = contrastOf(colour, ground, scheme);
      assert.ok(figure >= least, `${colour} on ${ground}: ${figure.toFixed(2)}`);
    }
  });
}
