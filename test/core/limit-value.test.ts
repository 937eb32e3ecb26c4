import { expect } from '@open-wc/testing';
import * as fc from 'fast-check';

import { limitValue } from '../../src/core/limit-value.ts';

const TOKEN = 'token-123456';

/** How much text a value holds, and how many fields and items. */
function measure(value: unknown): { text: number; values: number } {
  const total = { text: 0, values: 0 };
  const add = (part: unknown): void => {
    if (typeof part === 'string') total.text += part.length;
    if (typeof part !== 'object' || !part) return;
    for (const [key, item] of Object.entries(part)) {
      total.values++;
      if (!Array.isArray(part)) total.text += key.length;
      add(item);
    }
  };
  add(value);
  return total;
}

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

describe('limitValue()', () => {
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
    it(`takes ${JSON.stringify(value)} as it is`, () =>
      expect(limitValue(value, 100, 20, [TOKEN])).to.deep.equal(value));
  }

  const cases: [why: string, value: unknown, limited: unknown][] = [
    ['a text is cut', 'x'.repeat(101), 'x'.repeat(99) + '…'],
    [
      'texts together are',
      ['x'.repeat(60), 'y'.repeat(60), 'z'],
      ['x'.repeat(60), 'y'.repeat(39) + '…', '…'],
    ],
    [
      'names of fields are part of that',
      { ['x'.repeat(90)]: 'y'.repeat(20) },
      { ['x'.repeat(90)]: 'y'.repeat(9) + '…' },
    ],
    ['a list is cut', Array(25).fill(1), Array(20).fill(1)],
    ['lists together are', [Array(18).fill(1), 2, [3]], [Array(17).fill(1), 2, []]],
    [
      'fields are',
      Object.fromEntries(Array.from({ length: 25 }, (_, i) => [`k${i}`, 0])),
      Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`k${i}`, 0])),
    ],
    ['what is deep is', nested(30), nested(20)],
    ['what holds itself is', cyclic(), undefined],
    ['bytes are none', new Uint8Array(1000), {}],
    ['nor is a boxed text', Object('x'.repeat(1000)), {}],
    ['nor is a map', new Map([[TOKEN, TOKEN]]), {}],
    ['what JSON does not have is not there', [undefined, 1n, NaN, { a: undefined }], [null, null, null, {}]],
    ['a token goes from a text', { a: [`x ${TOKEN}`] }, { a: ['x …'] }],
    [
      'a token goes from the name of a field',
      { [TOKEN]: 1, [`a ${TOKEN}`]: { [TOKEN]: 2 } },
      { '…': 1, 'a …': { '…': 2 } },
    ],
    ['a token goes from a field named type', { type: TOKEN }, { type: '…' }],
  ];
  for (const [why, value, limited] of cases) {
    it(`keeps what it may: ${why}`, () => {
      const found = limitValue(value, 100, 20, [TOKEN]);
      if (limited !== undefined) expect(found).to.deep.equal(limited);
      expect(measure(found).values).to.be.at.most(20);
    });
  }

  it('takes the beginning of a list with holes, however long that is', () => {
    const list = Object.assign([1], { length: 4_000_000_000 });
    expect(limitValue(list, 100, 3, [])).to.deep.equal([1, null, null]);
  });

  it('changes no prototype', () => {
    const value = JSON.parse('{"__proto__":{"polluted":1},"a":{"__proto__":{"polluted":1}}}') as object;
    const found = limitValue(value, 100, 20, []) as { polluted?: unknown };
    expect(found.polluted).to.equal(undefined);
    expect(Object.getPrototypeOf(found)).to.equal(Object.prototype);
    expect(JSON.stringify(found)).to.equal(JSON.stringify(value));
  });

  it('reads no more of a long list, or of an object with many fields, than it takes', () => {
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
      expect(measure(limitValue({ watched }, 65_536, 200, [])).values).to.be.within(190, 200);
      expect(reads).to.be.below(300);
    }
  });

  it('leaves no token, whatever it stands in, and no more than is allowed', () => {
    const tokens = ['token-1', 'token-123', 'eyJhbGciOiJub25lIn0.e30.', '"quoted"', '\\u0041bc'];
    const text = fc.oneof(
      fc.string(),
      fc.tuple(fc.string(), fc.constantFrom(...tokens), fc.string()).map((parts) => parts.join('')),
    );
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 6 },
        text,
        fc.oneof(fc.integer(), fc.boolean(), fc.constant(null), fc.constant(undefined), fc.bigInt()),
        fc.array(tie('value'), { maxLength: 8 }),
        fc.dictionary(text, tie('value'), { maxKeys: 8, noNullPrototype: true }),
        fc.dictionary(fc.constantFrom('type', 'message', 'code', '__proto__'), tie('value'), {
          noNullPrototype: true,
        }),
      ),
    }));
    fc.assert(
      fc.property(fc.array(value), fc.nat({ max: 200 }), fc.nat({ max: 30 }), (list, max, values) => {
        const found = limitValue(structuredClone(list), max, values, tokens);
        const json = JSON.stringify(found);
        for (const token of tokens) expect(json).not.to.contain(JSON.stringify(token).slice(1, -1));
        const { text: length, values: count } = measure(found);
        expect(count).to.be.at.most(values);
        // What is left of each text that no room was left for is a mark of one character.
        expect(length).to.be.at.most(max + 2 * values);
      }),
      { numRuns: 2000 },
    );
  }).timeout(60_000);
});
