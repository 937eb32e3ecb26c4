import { expect } from '@open-wc/testing';
import * as fc from 'fast-check';

import { editorTokenSchema, featuresSchema } from '../../src/client.ts';
import { type Schema, editorTokenShape, featuresShape } from '../../src/core/shapes.ts';

const language = { identifier: 'ts', pretty: 'TypeScript', short: 'TS' };

/** The schema of the library and the small one, which must agree. */
const pairs: [name: string, schema: Schema<unknown>, shape: Schema<unknown>, good: object[]][] = [
  [
    'editor token',
    editorTokenSchema,
    editorTokenShape,
    [{ token: 't' }, { token: 't', expires_in: '7', x: [] }],
  ],
  [
    'features',
    featuresSchema,
    featuresShape,
    [
      { features: [], languages: [] },
      { features: ['testing', ''], languages: [language, { ...language, icon: 'i' }], limits: {} },
    ],
  ],
];

/** The place where a value is wrong, or `right`. */
function verdict(schema: Schema<unknown>, value: unknown): string {
  const { error } = schema.safeParse(value);
  return error ? `wrong at ${error.issues[0]?.path.join('.')}` : 'right';
}

describe('shapes', () => {
  for (const [name, schema, shape, good] of pairs) {
    for (const value of good) {
      it(`${name} accepts ${JSON.stringify(value)} unchanged`, () => {
        expect(verdict(schema, value)).to.equal('right');
        expect(shape.safeParse(value)).to.deep.equal({ data: value });
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
            expect(verdict(shape, copy.root)).to.equal(verdict(schema, copy.root));
          }),
          { numRuns: 200 },
        );
      }).timeout(60_000);
    }
  }

  it('accept an object of another frame, and one without a prototype', async () => {
    const frame = document.createElement('iframe');
    document.body.append(frame);
    try {
      const { JSON: other } = frame.contentWindow as Window & typeof globalThis;
      const foreign = other.parse('{"features":["a"],"languages":[]}') as object;
      expect(foreign).not.to.be.instanceOf(Object);
      expect(verdict(featuresShape, foreign)).to.equal('right');
    } finally {
      frame.remove();
    }
    expect(verdict(editorTokenShape, Object.assign(Object.create(null), { token: 't' }))).to.equal('right');
  });

  it('reject a function where an object is expected', () => {
    expect(
      verdict(
        editorTokenShape,
        Object.assign(() => 't', { token: 't' }),
      ),
    ).to.equal('wrong at ');
  });

  it('name what was expected, but not what was there', () => {
    const problems: [schema: Schema<unknown>, value: unknown, expected: string][] = [
      [editorTokenShape, 'secret', 'object'],
      [editorTokenShape, { token: '' }, 'non-empty string'],
      [editorTokenShape, { token: ['secret'] }, 'non-empty string'],
      [featuresShape, { features: 'secret', languages: [] }, 'array'],
      [featuresShape, { features: [], languages: [{ ...language, short: 7 }] }, 'string'],
    ];
    for (const [schema, value, expected] of problems) {
      const { error } = schema.safeParse(value);
      expect(error?.issues).to.have.length(1);
      expect(error?.issues[0]).to.include({ code: 'invalid_type', expected });
      expect(JSON.stringify(error)).not.to.contain('secret');
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
