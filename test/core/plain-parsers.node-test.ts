import { describe, it } from 'node:test';
import { runInNewContext } from 'node:vm';
import { expect } from '../support/expect.ts';
import * as fc from 'fast-check';

import { editorTokenSchema, featuresSchema } from '../../src/client.ts';
import { type SchemaError } from '../../src/core/errors.ts';
import { parseWith } from '../../src/core/client/operation.ts';
import { parseEditorToken } from '../../src/core/token.ts';
import { parseFeatures } from '../../src/element/features-store.ts';

const language = { identifier: 'ts', pretty: 'TypeScript', short: 'TS' };

type Parse = (value: unknown, label: string) => unknown;

/** A schema of zod and the parser without zod, which must agree. */
const pairs: [name: string, schema: Parse, parser: Parse, good: object[]][] = [
  [
    'editor token',
    parseWith<unknown>(editorTokenSchema),
    parseEditorToken,
    [{ token: 't' }, { token: 't', expires_in: '7', x: [] }],
  ],
  [
    'features',
    parseWith<unknown>(featuresSchema),
    parseFeatures,
    [
      { features: [], languages: [] },
      { features: ['testing', ''], languages: [language, { ...language, icon: 'i' }], limits: {} },
    ],
  ],
];

/** The place where a value is wrong, or `right`. */
function verdict(parse: Parse, value: unknown): string {
  try {
    parse(value, '');
    return 'right';
  } catch (error) {
    return `wrong at ${(error as SchemaError).path}`;
  }
}

describe('the parsers without zod', () => {
  for (const [name, schema, parser, good] of pairs) {
    for (const value of good) {
      it(`${name} accepts ${JSON.stringify(value)} unchanged`, () => {
        expect(verdict(schema, value)).to.equal('right');
        expect(parser(value, '')).to.deep.equal(value);
      });

      it(`${name} agrees with its schema about every altered copy of ${JSON.stringify(value)}`, () => {
        const spoilt = fc.tuple(
          fc.constantFrom(...placesIn(value)),
          fc.oneof(fc.jsonValue(), fc.constant(undefined)),
        );
        fc.assert(
          fc.property(fc.array(spoilt, { minLength: 1, maxLength: 3 }), (changes) => {
            const copy = structuredClone({ root: value });
            for (const [place, other] of changes) replaceAt(copy, ['root', ...place], other);
            expect(verdict(parser, copy.root)).to.equal(verdict(schema, copy.root));
          }),
          { numRuns: 200 },
        );
      });
    }
  }

  it('accept an object of another realm, and one without a prototype', () => {
    const foreign = runInNewContext('({ features: ["a"], languages: [] })') as object;
    expect(foreign).not.to.be.instanceOf(Object);
    expect(verdict(parseFeatures, foreign)).to.equal('right');
    expect(verdict(parseEditorToken, Object.assign(Object.create(null), { token: 't' }))).to.equal('right');
  });

  it('reject a function where an object is expected', () => {
    expect(
      verdict(
        parseEditorToken,
        Object.assign(() => 't', { token: 't' }),
      ),
    ).to.equal('wrong at ');
  });

  it('name what was expected, but not what was there', () => {
    const problems: [parse: Parse, value: unknown, expected: string][] = [
      [parseEditorToken, 'secret', 'object'],
      [parseEditorToken, { token: '' }, 'non-empty string'],
      [parseEditorToken, { token: ['secret'] }, 'non-empty string'],
      [parseFeatures, { features: 'secret', languages: [] }, 'array'],
      [parseFeatures, { features: [], languages: [{ ...language, short: 7 }] }, 'string'],
    ];
    for (const [parse, value, expected] of problems) {
      expect(() => parse(value, 'GET here'))
        .to.throw(`expected ${expected}`)
        .with.property('message')
        .that.does.not.contain('secret');
    }
  });
});

/** The path to each part of a value, itself included. */
function placesIn(value: unknown, at: string[] = []): string[][] {
  const inner = typeof value === 'object' && value ? Object.entries(value) : [];
  return [at, ...inner.flatMap(([key, part]) => placesIn(part, [...at, key]))];
}

/** Replaces the value at a path if there still is one: JSON cannot express a hole in a list. */
function replaceAt(root: object, path: string[], value: unknown): void {
  let holder: unknown = root;
  for (const step of path.slice(0, -1))
    holder = (holder as Record<string, unknown> | null | undefined)?.[step];
  const key = path.at(-1) ?? '';
  if (typeof holder === 'object' && holder && Object.hasOwn(holder, key)) {
    (holder as Record<string, unknown>)[key] = value;
  }
}
