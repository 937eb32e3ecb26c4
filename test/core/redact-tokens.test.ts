import { expect } from '@open-wc/testing';
import * as fc from 'fast-check';

import { redactTokens } from '../../src/core/redact-tokens.ts';

const TOKEN = 'token-123456';

describe('redactTokens()', () => {
  const cases: [why: string, text: string, tokens: string[], max: number, redacted: string][] = [
    ['a text without a token stays', 'a text', [TOKEN], 100, 'a text'],
    ['an empty text stays', '', [TOKEN], 0, ''],
    ['a text as long as allowed stays', 'abcdef', [], 6, 'abcdef'],
    ['a longer one is cut, and its end says so', 'abcdefg', [], 6, 'abcde…'],
    ['nothing is left where nothing is allowed', 'abc', [], 0, '…'],
    ['every token goes', `a ${TOKEN} b ${TOKEN}${TOKEN}`, [TOKEN], 100, 'a … b ……'],
    ['a token of four characters may be part of a word, and stays', 'abcd', ['abcd'], 100, 'abcd'],
    ['one of five goes', 'abcde', ['abcde'], 100, '…'],
    [
      'a token that is the beginning of another leaves no rest',
      'x abcdefghi',
      ['abcde', 'abcdefghi'],
      99,
      'x …',
    ],
    ['a token that is the end of another leaves no rest', 'x abcdefghi', ['efghi', 'abcdefghi'], 99, 'x …'],
    ['a token that the cut would halve goes as a whole', `abc ${TOKEN} def`, [TOKEN], 12, 'abc …'],
    ['so does one that the cut would take a character off', `abc ${TOKEN}`, [TOKEN], 15, 'abc …'],
    [
      'so does one with a beginning that comes again in it',
      'ab token-token-X',
      ['token-token-X'],
      15,
      'ab …',
    ],
    ['half a character is not left', 'abc😀def', [], 5, 'abc\ufffd…'],
    ['a pattern is text like any other', 'a.*+?$&b', ['.*+?$&'], 100, 'a…b'],
  ];
  for (const [why, text, tokens, max, redacted] of cases) {
    it(`keeps what it may: ${why}`, () => expect(redactTokens(text, tokens, max)).to.equal(redacted));
  }

  it('leaves neither a token nor five characters of one at the cut, wherever that falls', () => {
    const token = fc.string({ unit: fc.constantFrom('a', 'b', '-'), minLength: 5, maxLength: 12 });
    const pieces = fc.array(
      fc.oneof(
        fc.string({ maxLength: 8 }),
        fc.nat({ max: 2 }).map((n) => [n]),
      ),
      { maxLength: 12 },
    );
    fc.assert(
      fc.property(
        fc.array(token, { minLength: 3, maxLength: 3 }),
        pieces,
        fc.nat({ max: 60 }),
        (tokens, parts, max) => {
          const text = parts
            .map((part) => (typeof part === 'string' ? part : tokens[part[0] as number]))
            .join(' ');
          const redacted = redactTokens(text, tokens, max);
          expect(redacted.length).to.be.at.most(Math.max(max, 1));
          for (const secret of tokens) expect(redacted).not.to.contain(secret);
          if (text.length <= max) return;
          const kept = redacted.slice(0, -1);
          for (const secret of tokens) expect(kept.endsWith(secret.slice(0, 5))).to.equal(false);
        },
      ),
      { numRuns: 3000 },
    );
  }).timeout(60_000);
});
