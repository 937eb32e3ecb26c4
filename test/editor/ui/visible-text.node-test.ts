import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { visibleText } from '../../../editor/src/ui/visible-text.ts';

describe('visibleText', () => {
  for (const name of [
    'customer-7',
    'com.acme',
    'Ada & Söhne',
    'nai\u0308ve',
    '株式会社',
    'עברית',
    '😀 🇩🇪',
    '<b>&amp;</b>',
    'a/b\\c%20[U+202E]',
    '',
  ]) {
    test(`shows ${JSON.stringify(name)} as it is`, () => assert.equal(visibleText(name), name));
  }

  for (const [what, name, shown] of [
    ['a character that turns the direction round', 'a\u202eb', 'a[U+202E]b'],
    ['an isolate that is not closed', '\u2067a', '[U+2067]a'],
    ['a mark of direction', 'a\u200f', 'a[U+200F]'],
    ['a line break', 'a\r\nb', 'a[U+000D][U+000A]b'],
    ['NUL, and a command of a terminal', '\0\u001b[2J', '[U+0000][U+001B][2J'],
    ['a line separator', 'a\u2028b', 'a[U+2028]b'],
    ['characters of no width', 'a\u200bb\u2060c\ufeff', 'a[U+200B]b[U+2060]c[U+FEFF]'],
    ['letters without a shape', 'a\u3164\u115f\u2800', 'a[U+3164][U+115F][U+2800]'],
    ['a soft hyphen', 'a\u00adb', 'a[U+00AD]b'],
    ['invisible tags of another plane', 'a\u{e0041}', 'a[U+E0041]'],
    ['spaces that are not the plain one', 'a\u00a0b\u3000c', 'a[U+00A0]b[U+3000]c'],
    ['spaces at an end', ' a ', '[U+0020]a[U+0020]'],
    ['spaces in a row', 'a   b', 'a[U+0020][U+0020] b'],
    ['half a surrogate pair', 'a\ud83d', 'a[U+D83D]'],
    ['what no standard assigns', 'a\u{10ffff}\u0378', 'a[U+10FFFF][U+0378]'],
  ] as const) {
    test(`shows ${what} by code point`, () => assert.equal(visibleText(name), shown));
  }
});
