import { describe, it } from 'node:test';
import { expect } from '../support/expect.ts';

import { redactTokens } from '../../src/core/redact-tokens.ts';

const TOKEN = 'token-123456';

describe('redactTokens()', () => {
  const cases: [why: string, text: string, tokens: string[], max: number, redacted: string][] = [
    ['a text without a token is kept', 'a text', [TOKEN], 100, 'a text'],
    ['an empty text is kept', '', [TOKEN], 0, ''],
    ['a text of the greatest length is kept', 'abcdef', [], 6, 'abcdef'],
    ['a longer text is shortened and ends with an ellipsis', 'abcdefg', [], 6, 'abcde…'],
    ['a greatest length of 0 leaves only the ellipsis', 'abc', [], 0, '…'],
    ['every token becomes an ellipsis', `a ${TOKEN} b ${TOKEN}${TOKEN}`, [TOKEN], 100, 'a … b ……'],
    ['a token of four characters is kept, as it may be part of a word', 'abcd', ['abcd'], 100, 'abcd'],
    ['a token of five characters is redacted', 'abcde', ['abcde'], 100, '…'],
    [
      'a token that is the beginning of another leaves no rest',
      'x abcdefghi',
      ['abcde', 'abcdefghi'],
      99,
      'x …',
    ],
    ['a token that is the end of another leaves no rest', 'x abcdefghi', ['efghi', 'abcdefghi'], 99, 'x …'],
    ['a token that shortening would halve is redacted as a whole', `abc ${TOKEN} def`, [TOKEN], 12, 'abc …'],
    [
      'a token that shortening would rob of a character is redacted as a whole',
      `abc ${TOKEN}`,
      [TOKEN],
      15,
      'abc …',
    ],
    [
      'a token that repeats its own beginning is redacted as a whole',
      'ab token-token-X',
      ['token-token-X'],
      15,
      'ab …',
    ],
    ['no half of a surrogate pair is left', 'abc😀def', [], 5, 'abc\ufffd…'],
    ['a token is not used as a pattern', 'a.*+?$&b', ['.*+?$&'], 100, 'a…b'],
  ];
  for (const [why, text, tokens, max, redacted] of cases) {
    it(`redacts tokens and shortens the text: ${why}`, () => {
      expect(redactTokens(text, tokens, max)).to.equal(redacted);
    });
  }
});
