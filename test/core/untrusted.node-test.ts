import { describe, it } from 'node:test';
import { expect } from '../support/expect.ts';

import { redactTokens, truncateJson } from '../../src/core/untrusted.ts';
import { measure } from './message-properties.ts';

const TOKEN = 'token-123456';

/** Lists in lists. */
const nested = (depth: number): unknown => {
  let value: unknown = [];
  while (depth-- > 0) value = [value];
  return value;
};

const cyclic = () => {
  const value: Record<string, unknown> = { a: 1 };
  value['self'] = value;
  return value;
};

describe('truncateJson()', () => {
  const same: unknown[] = [
    null,
    true,
    0,
    -1.5,
    '',
    'text',
    [],
    {},
    [1, ['a', { b: null }]],
    { code: 'plugin-error', message: 'm', path: ['a', 0], more: { deep: [{}] } },
  ];
  for (const value of same) {
    it(`keeps ${JSON.stringify(value)} unchanged`, () => {
      expect(truncateJson(value, 100, 20, [TOKEN])).to.deep.equal(value);
    });
  }

  const cases: [why: string, value: unknown, limited: unknown][] = [
    ['a text is shortened', 'x'.repeat(101), 'x'.repeat(99) + '…'],
    [
      'all texts together are shortened',
      ['x'.repeat(60), 'y'.repeat(60), 'z'],
      ['x'.repeat(60), 'y'.repeat(39) + '…', '…'],
    ],
    [
      'names of fields count as text',
      { ['x'.repeat(90)]: 'y'.repeat(20) },
      { ['x'.repeat(90)]: 'y'.repeat(9) + '…' },
    ],
    ['a list is shortened', Array(25).fill(1), Array(20).fill(1)],
    ['all lists together are shortened', [Array(18).fill(1), 2, [3]], [Array(17).fill(1), 2, []]],
    [
      'an object is left with fewer fields',
      Object.fromEntries(Array.from({ length: 25 }, (_, i) => [`k${i}`, 0])),
      Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`k${i}`, 0])),
    ],
    ['levels that are too deep are left out', nested(30), nested(20)],
    ['a cycle ends', cyclic(), undefined],
    ['bytes become an empty object', new Uint8Array(1000), {}],
    ['a boxed text becomes an empty object', Object('x'.repeat(1000)), {}],
    ['a map becomes an empty object', new Map([[TOKEN, TOKEN]]), {}],
    [
      'values that JSON lacks become null or are left out',
      [undefined, 1n, NaN, { a: undefined }],
      [null, null, null, {}],
    ],
    ['a token is redacted in a text', { a: [`x ${TOKEN}`] }, { a: ['x …'] }],
    [
      'a token is redacted in the name of a field',
      { [TOKEN]: 1, [`a ${TOKEN}`]: { [TOKEN]: 2 } },
      { '…': 1, 'a …': { '…': 2 } },
    ],
    ['a token is redacted in a field named type', { type: TOKEN }, { type: '…' }],
  ];
  for (const [why, value, limited] of cases) {
    it(`limits what is kept: ${why}`, () => {
      const found = truncateJson(value, 100, 20, [TOKEN]);
      if (limited !== undefined) expect(found).to.deep.equal(limited);
      expect(measure(found).values).to.be.at.most(20);
    });
  }

  it('keeps the beginning of a sparse list of any length', () => {
    const list = Object.assign([1], { length: 4_000_000_000 });
    expect(truncateJson(list, 100, 3, [])).to.deep.equal([1, null, null]);
  });

  it('changes no prototype', () => {
    const value = JSON.parse('{"__proto__":{"polluted":1},"a":{"__proto__":{"polluted":1}}}') as object;
    const found = truncateJson(value, 100, 20, []) as { polluted?: unknown };
    expect(found.polluted).to.equal(undefined);
    expect(Object.getPrototypeOf(found)).to.equal(Object.prototype);
    expect(JSON.stringify(found)).to.equal(JSON.stringify(value));
  });

  it('reads no more of a long list or a large object than it keeps', () => {
    for (const target of [
      Array.from({ length: 1_000_000 }, () => []),
      Object.fromEntries(Array(10_000).fill(0).entries()),
    ]) {
      let reads = 0;
      const watched = new Proxy<object>(target, {
        get(from, key) {
          reads++;
          return Reflect.get(from, key) as unknown;
        },
      });
      expect(measure(truncateJson({ watched }, 65_536, 200, [])).values).to.be.within(190, 200);
      expect(reads).to.be.below(300);
    }
  });
});

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
