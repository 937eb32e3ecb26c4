import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { schemaChanges } from '../../../editor/src/types/schema-changes.ts';
import { SchemaCheck } from '../../../editor/src/types/schema-problems.ts';
import { type Schema, pathOf, pathText, schemasAt, typeLabel } from '../../../editor/src/types/schema.ts';

const order = {
  type: 'object',
  required: ['lines', 'delivery'],
  additionalProperties: false,
  properties: {
    lines: { type: 'array', minItems: 1, items: { $ref: '#/$defs/line' } },
    delivery: { enum: ['pickup', 'courier'] },
    'a/b ü': { anyOf: [{ type: 'string' }, { type: 'number', minimum: 3 }] },
  },
  $defs: {
    line: {
      type: 'object',
      required: ['sku'],
      properties: { sku: { type: 'string', minLength: 2 }, next: { $ref: '#/$defs/line' } },
    },
  },
} as const;

describe('a value that does not fit its schema', () => {
  const problems = (value: unknown, schema: Schema = order) =>
    new SchemaCheck(schema).problems(value).map(({ path, message }) => `${pathText(path)}: ${message}`);

  test('has each mistake reported once, at its place, in words', () => {
    assert.deepEqual(problems({ lines: [{ sku: 'B-1' }], delivery: 'pickup' }), []);
    assert.deepEqual(problems({ lines: [{}, { sku: '', next: { sku: 1 } }], delivery: 'air', more: 1 }), [
      'lines[0]: “sku” is missing',
      'lines[1].sku: must have ≥ 2 characters',
      'lines[1].next.sku: must be string',
      'delivery: must be "pickup" | "courier"',
      'more: is not known here',
    ]);
    assert.deepEqual(problems({ lines: [], delivery: 'pickup', 'a/b ü': true }), [
      'lines: must have ≥ 1 entries',
      '["a/b ü"]: must be string | number',
    ]);
    assert.deepEqual(problems(1), [': must be object']);
    const letter = {
      properties: {
        due: { format: 'date' },
        subject: { pattern: '^[^\\r\\n]*$' },
        account: { format: 'iban' },
        other: { format: 'constructor' },
      },
    };
    assert.deepEqual(problems({ due: 'tomorrow', subject: 'a\nb', account: 'x', other: 'x' }, letter), [
      'due: must have the format date',
      'subject: must be one line',
    ]);
  });

  test('has the nearest of several alternatives named, and what keeps it out of that', () => {
    const card = {
      title: 'Card',
      type: 'object',
      required: ['number'],
      properties: { kind: { const: 'card' }, number: { type: 'string' } },
    };
    const bank = { type: 'object', required: ['iban'], properties: { kind: { const: 'bank' } } };
    const payment = {
      properties: { pay: { oneOf: [bank, card, { $ref: '#/$defs/none' }] } },
      $defs: { none: { type: 'null' } },
    };
    const nearest = 'pay: fits none of the allowed forms; the nearest is';
    assert.deepEqual(problems({ pay: { kind: 'card', number: 1 } }, payment), [
      `${nearest} “Card”: number must be string`,
    ]);
    assert.deepEqual(problems({ pay: { kind: 'bank' } }, payment), [
      `${nearest} “number 1”: “iban” is missing`,
    ]);
    assert.deepEqual(problems({ pay: 1 }, payment), ['pay: must be object | null']);
    const list = { items: { anyOf: [{ type: 'string', maxLength: 1 }, bank] } };
    assert.deepEqual(problems(['ab', {}], list), [
      '[0]: fits none of the allowed forms; the nearest is “number 1”: must have ≤ 1 characters',
      '[1]: fits none of the allowed forms; the nearest is “number 2”: “iban” is missing',
    ]);
    assert.deepEqual(problems({ pay: { iban: 'x', number: '1' } }, payment), [
      'pay: fits none of the allowed forms, or too many',
    ]);
  });

  test('has no mistakes if the schema cannot be read, and the schema is not changed', () => {
    const before = structuredClone(order);
    problems({ lines: [{}] });
    assert.deepEqual(order, before);
    assert.deepEqual(problems(1, { pattern: '(' }), []);
    assert.deepEqual(problems('a', { pattern: '(' }), []);
    assert.deepEqual(problems(1, { $ref: '#/$defs/missing' }), []);
    assert.deepEqual(problems(1, true), []);
    assert.deepEqual(problems(1, false), [': is not known here']);
  });
});

describe('the difference between two schemas', () => {
  const changes = (was: object | undefined, is: object | undefined) =>
    schemaChanges({ input: was as Schema }, { input: is as Schema }).map(
      ({ path, kind, was: from, is: to }) => `${path} ${kind} ${[from, to].filter(Boolean).join(' → ')}`,
    );

  test('is empty if only the order of keys differs', () => {
    const { type, properties, ...rest } = order;
    assert.deepEqual(changes(order, { properties, ...rest, type }), []);
    assert.deepEqual(changes(undefined, undefined), []);
  });

  test('is reported by field, through references and lists', () => {
    const { properties, $defs } = order;
    const { line } = $defs;
    const { delivery: _, ...others } = properties;
    const now = {
      ...order,
      required: ['lines', 'gift'],
      properties: { ...others, gift: { type: 'boolean' } },
      $defs: { line: { ...line, required: [], properties: { sku: { type: 'integer' } } } },
    };
    assert.deepEqual(changes(order, now), [
      'Input.lines[].sku optional ',
      'Input.lines[].sku type string → integer',
      'Input.lines[].next removed object',
      'Input.delivery removed "pickup" | "courier"',
      'Input.gift added boolean',
    ]);
    assert.deepEqual(changes(undefined, order), ['Input added ']);
    assert.deepEqual(changes(order, undefined), ['Input removed ']);
  });

  test('is a rule where no field differs', () => {
    assert.deepEqual(changes(order, { ...order, maxProperties: 3 }), ['Input rules ']);
  });

  test('ends for a schema that refers to itself', () => {
    const deep = {
      ...order,
      $defs: { line: { ...order.$defs.line, properties: { next: { $ref: '#/$defs/line' } } } },
    };
    assert.ok(changes(order, deep).length > 0);
  });
});

test('a pointer leads to the schema of a place', () => {
  assert.equal(typeLabel(schemasAt(order, pathOf('/lines/4/next/sku'))), 'string');
  assert.equal(typeLabel(schemasAt(order, pathOf('/a~1b ü'))), 'string | number');
  assert.equal(typeLabel(schemasAt(order, pathOf('/nowhere/at/all'))), '');
  assert.deepEqual(pathOf(''), []);
});
