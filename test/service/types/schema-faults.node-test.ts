import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadedProgram } from '../../../service/src/plugins/program.ts';
import type { JsonSchema } from '../../../service/src/plugins/schemas.ts';
import type { NamespaceFinding } from '../../../service/src/sandbox/namespace-check.ts';
import { linkSchema } from '../../../service/src/toolchains/schemas/link-schema.ts';
import { InvalidSchemaError, pathOf } from '../../../service/src/toolchains/schemas/read-schema.ts';
import type { SchemaJob } from '../../../service/src/toolchains/schemas/schema-protocol.ts';
import { startSchemaTools } from './schema-tools.ts';

const { sandbox, compiler, compilePair, owner, signal } = startSchemaTools();

/** What is wrong with a value, from their JSON. */
async function faultOf(schema: string, value: string) {
  const end = await compilePair({ input: JSON.parse(schema) as JsonSchema });
  assert.ok('declarations' in end, schema);
  const program = loadedProgram({
    kind: 'check',
    types: { schemas: {}, inputCheck: end.inputCheck ?? '' },
  });
  const input = JSON.stringify({ values: [{ direction: 'input', json: value }] });
  const outcome = await sandbox.run({ program, input, owner });
  assert.ok('result' in outcome, JSON.stringify(outcome));
  return (JSON.parse(outcome.result) as NamespaceFinding).violation;
}

test('a violation names the place and what the schema asks for there', async () => {
  const cases: [schema: string, value: string, path: string, message: string][] = [
    ['{"type":"string"}', '1', '', 'must be of type string'],
    ['{"type":["string","null"]}', '1', '', 'must be of type string or null'],
    ['{"required":["a"]}', '{}', '/a', 'must be there'],
    ['{"properties":{"a":{"minimum":3}}}', '{"a":1}', '/a', 'must be at least 3'],
    [
      '{"items":{"$ref":"#/$defs/x"},"$defs":{"x":{"maxLength":1}}}',
      '["a","bc"]',
      '/1',
      'must have at most 1 character',
    ],
    ['{"additionalProperties":false}', '{"a":1}', '/a', 'must not be there'],
    ['{"unevaluatedProperties":false}', '{"a":1}', '/a', 'must not be there'],
    ['{"properties":{"a":false}}', '{"a":1}', '/a', 'must not be there'],
    ['{"additionalProperties":{"type":"null"}}', '{"a~b/c":1}', '/a~0b~1c', 'must be of type null'],
    ['{"properties":{"a/b~":{"type":"null"}}}', '{"a/b~":1}', '/a~1b~0', 'must be of type null'],
    ['{"enum":["a",{"b":1}]}', '2', '', 'must be one of "a", {"b":1}'],
    ['{"enum":["a,b",[1,2]]}', '2', '', 'must be one of "a,b", [1,2]'],
    ['{"const":{"a":1}}', '2', '', 'must be {"a":1}'],
    ['{"pattern":"^\\\\d+$"}', '"a"', '', 'must match the pattern ^\\d+$'],
    [
      '{"dependentRequired":{"a":["b"]}}',
      '{"a":1}',
      '',
      'must have what the schema asks for beside another property',
    ],
    ['{"allOf":[true,{"minItems":2}]}', '[1]', '', 'must have at least 2 items'],
    ['{"pattern":"^[^\\\\r\\\\n]*$"}', '"a\\nb"', '', 'must be one line'],
    [
      '{"properties":{"due":{"format":"date"}}}',
      '{"due":"tomorrow"}',
      '/due',
      'must be a date, such as 2026-03-31',
    ],
    [
      '{"properties":{"properties":{"required":["type"]}}}',
      '{"properties":{}}',
      '/properties/type',
      'must be there',
    ],
    ['{"properties":{"$ref":{"type":"null"}}}', '{"$ref":1}', '/$ref', 'must be of type null'],
    ['true', '{', '', 'is not JSON'],
    ['true', '', '', 'is not JSON'],
    [
      '{"$ref":"#/$defs/list","$defs":{"list":{"items":{"$ref":"#/$defs/list"}}}}',
      '['.repeat(2e5) + ']'.repeat(2e5),
      '',
      'is nested too deep',
    ],
  ];
  for (const [schema, value, path, message] of cases) {
    assert.deepEqual(await faultOf(schema, value), { path, message }, `${schema} ${value.slice(0, 50)}`);
  }
});

test('unevaluatedProperties beside a reference to the definition around it is checked at every depth', async () => {
  const tree = JSON.stringify({
    $ref: '#/$defs/node',
    $defs: {
      node: {
        type: 'object',
        properties: {
          name: { type: 'string' },
          children: { items: { $ref: '#/$defs/node', unevaluatedProperties: false } },
          next: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] },
        },
      },
    },
  });
  const nearest =
    'must fit one of 2 alternatives: the nearest is number 1, where /next/name must be of type string';
  const cases: [value: string, found: NamespaceFinding['violation']][] = [
    ['{"name":"a","children":[{"name":"b","children":[{"name":"c"}]}]}', undefined],
    [
      '{"children":[{"children":[{"nme":"c"}]}]}',
      { path: '/children/0/children/0/nme', message: 'must not be there' },
    ],
    ['{"children":[{"name":1}]}', { path: '/children/0/name', message: 'must be of type string' }],
    ['{"next":{"name":1}}', { path: '/next', message: nearest }],
  ];
  for (const [value, found] of cases) assert.deepEqual(await faultOf(tree, value), found, value);
});

test('a violation of anyOf or oneOf names the nearest alternative, and what keeps the value out of it', async () => {
  const payment = JSON.stringify({
    properties: {
      pay: {
        oneOf: [
          {
            title: 'Card',
            type: 'object',
            required: ['by', 'number'],
            properties: {
              by: { const: 'card' },
              number: { type: 'string', maxLength: 16 },
              until: { format: 'date' },
            },
            additionalProperties: false,
          },
          { $ref: '#/$defs/transfer' },
          { type: 'null' },
        ],
      },
    },
    $defs: {
      transfer: {
        type: 'object',
        required: ['by', 'iban'],
        properties: { by: { const: 'transfer' }, iban: { type: 'string' } },
      },
    },
  });
  const nearest = 'must fit one of 3 alternatives: the nearest is';
  const cases: [schema: string, value: string, path: string, message: string][] = [
    [
      payment,
      '{"pay":{"by":"card","number":1}}',
      '/pay',
      `${nearest} "Card", where /pay/number must be of type string`,
    ],
    [payment, '{"pay":{"by":"transfer"}}', '/pay', `${nearest} number 2, where /pay/iban must be there`],
    [
      payment,
      '{"pay":{"by":"card","number":"1","until":"soon","x":1}}',
      '/pay',
      `${nearest} "Card", where /pay/until must be a date, such as 2026-03-31, with 1 more violation`,
    ],
    [payment, '{"pay":"card"}', '/pay', 'must be of type object or null'],
    ['{"anyOf":[{"type":"null"},{"type":"string"}]}', '1', '', 'must be of type null or string'],
    ['{"anyOf":[{"const":"a"},{"const":"b"}]}', '"c"', '', 'must be one of "a", "b"'],
    [
      '{"oneOf":[{"title":"Even","multipleOf":2},{"multipleOf":3}]}',
      '6',
      '',
      'must fit only one of the alternatives, and fits "Even" and number 2',
    ],
    [
      '{"oneOf":[{"title":"Even","multipleOf":2},{"multipleOf":3}]}',
      '7',
      '',
      'must fit one of 2 alternatives: the nearest is "Even", where it must be a multiple of 2',
    ],
    // Four code units, and two characters.
    [
      '{"oneOf":[{"minLength":3},{"minLength":4}]}',
      '"😀😀"',
      '',
      'must fit one of 2 alternatives: the nearest is number 1, where it must have at least 3 characters',
    ],
    [
      '{"anyOf":[{"items":{"type":"string"},"maxItems":1},{"type":"null"}]}',
      '["a",1,"b"]',
      '',
      'must fit one of 2 alternatives: the nearest is number 1, where /1 must be of type string, with 1 more violation',
    ],
    // Keywords that are not read decide, or there is too much to read: the violation says no more than it knows.
    ['{"anyOf":[{"not":{}},{"not":{"type":"number"}}]}', '1', '', 'must fit one of the alternatives'],
    [
      '{"anyOf":[{"items":{"type":"string"}},{"type":"null"}]}',
      `[${'"a",'.repeat(5000)}1]`,
      '',
      'must fit one of the alternatives',
    ],
    [
      '{"oneOf":[{"uniqueItems":true},{"contains":{"const":2}}]}',
      '[1,1]',
      '',
      'must fit one of the alternatives, and no other',
    ],
    [
      '{"oneOf":[{"multipleOf":0.1},{"multipleOf":0.2}]}',
      '0.25',
      '',
      'must fit one of the alternatives, and no other',
    ],
    // Objects and arrays are not compared, and may be other ones.
    [
      '{"oneOf":[{"const":{"a":1}},{"const":{"a":2}}]}',
      '{"a":3}',
      '',
      'must fit one of the alternatives, and no other',
    ],
    [
      '{"oneOf":[{"properties":{"a":{"const":[1]}}},{"properties":{"a":{"const":[2]}}}]}',
      '{"a":[3]}',
      '',
      'must fit one of the alternatives, and no other',
    ],
    [
      '{"oneOf":[{"enum":[{"a":1},0]},{"enum":[0,{"a":2}]}]}',
      '{"a":3}',
      '',
      'must fit one of the alternatives, and no other',
    ],
    // Each fits none, because two of its own fit.
    [
      '{"oneOf":[{"oneOf":[{"type":"integer"},{"type":"number"}]},{"oneOf":[{"minimum":0},{"minimum":1}]}]}',
      '5',
      '',
      'must fit one of the alternatives, and no other',
    ],
    [
      '{"$ref":"#/$defs/t","$defs":{"t":{"anyOf":[{"type":"array","items":{"$ref":"#/$defs/t"}},{"const":1}]}}}',
      `${'['.repeat(40)}2${']'.repeat(40)}`,
      '',
      'must fit one of the alternatives',
    ],
  ];
  for (const [schema, value, path, message] of cases) {
    assert.deepEqual(await faultOf(schema, value), { path, message }, `${schema} ${value.slice(0, 50)}`);
  }
});

test('parts that fit no value beside others are compiled, and refused with their place where the schema fits none', async () => {
  const cases: [schema: string, fits: string, misfit: string][] = [
    ['{"type":"string","anyOf":[{"format":"date"},{"type":"null"}]}', '"2026-03-31"', '"soon"'],
    ['{"type":"object","oneOf":[{"type":"array"},{"required":["a"]}]}', '{"a":1}', '{}'],
    ['{"type":"object","allOf":[{"maxLength":3}]}', '{}', '"a"'],
    ['{"type":"string","not":{"type":"null"}}', '"a"', 'null'],
    [
      '{"type":"array","maxItems":1,"prefixItems":[{"type":"string"},{"type":"null"}]}',
      '["a"]',
      '["a",null]',
    ],
    ['{"type":["integer","null"],"$ref":"#/$defs/a","$defs":{"a":{"type":["number","null"]}}}', '1', '1.5'],
    [
      '{"$ref":"#/$defs/a","$defs":{"a":{"type":"object","properties":{"next":{"$ref":"#/$defs/a","unevaluatedProperties":false}},"not":{"type":"null"}}}}',
      '{"next":{"next":{}}}',
      '{"next":{"x":1}}',
    ],
  ];
  for (const [schema, fits, misfit] of cases) {
    assert.equal(await faultOf(schema, fits), undefined, schema);
    assert.ok(await faultOf(schema, misfit), schema);
  }
  const closed = { type: 'object', properties: { a: {} }, additionalProperties: false, required: ['b at #'] };
  const none = 'fits no value: none has the types that are asked for';
  const unusable: [schema: object, path: string, message: string][] = [
    [
      { items: { $ref: '#/$defs/x' }, $defs: { x: { properties: { 'c/d': closed } } } },
      '/$defs/x/properties/c~1d',
      'fits no object: it requires "b at #", and allows no such property',
    ],
    [{ items: { $ref: '#/$defs/a', type: 'string' }, $defs: { a: { type: 'number' } } }, '/items', none],
  ];
  for (const [output, path, message] of unusable) {
    assert.deepEqual(await compiler.compile({ output: output as JsonSchema }, owner, signal), {
      invalid: `/output${path}`,
      message,
    });
  }
});

test('what is legal and probably wrong in a schema is warned of', async () => {
  const warningsOf = async (job: SchemaJob) => {
    const outcome = await compiler.compile(job, owner, signal);
    assert.ok('warnings' in outcome, JSON.stringify(outcome));
    return outcome.warnings.map(({ pointer, message }) => `${pointer}: ${message.split(';')[0]}`);
  };
  const closed = { additionalProperties: false };
  const input = {
    propertys: { total: {} },
    ...closed,
    properties: {
      iban: { format: 'iban' },
      due: { format: 'date', description: 'When.', examples: ['2026-01-01'], 'x-order': 1, tsType: 'Date' },
      lines: { items: { properties: { sku: true } } },
      either: { oneOf: [{ properties: { a: true } }, { properties: { b: true }, ...closed }] },
      others: { properties: { a: true }, patternProperties: { '^x-': true } },
      whole: { allOf: [{ properties: { a: true } }], unevaluatedProperties: false },
      sum: { allOf: [{ $ref: '#/$defs/base' }, { properties: { a: true } }] },
      named: { $ref: '#/$defs/base' },
    },
    $defs: { base: { properties: { b: true } } },
  };
  assert.deepEqual(
    await warningsOf({ input, output: { properties: { a: { format: 'iban', requird: [] } } } }),
    [
      '/input/propertys: "propertys" is not a keyword of JSON Schema 2020-12, and is ignored',
      '/input/properties/iban/format: "iban" is not checked',
      '/input/properties/lines/items: allows properties that it does not name, so that a misspelled one is accepted: set "additionalProperties": false, or true if you mean it',
      '/input/properties/either/oneOf/0: allows properties that it does not name, so that a misspelled one is accepted: set "additionalProperties": false, or true if you mean it',
      '/input/properties/others: allows properties that it does not name, so that a misspelled one is accepted: set "additionalProperties": false, or true if you mean it',
      '/input/properties/sum: allows properties that it does not name, so that a misspelled one is accepted: set "unevaluatedProperties": false, or true if you mean it',
      '/input/$defs/base: allows properties that it does not name, so that a misspelled one is accepted: set "additionalProperties": false, or true if you mean it',
      '/output/properties/a/format: "iban" is not checked',
      '/output/properties/a/requird: "requird" is not a keyword of JSON Schema 2020-12, and is ignored',
    ],
  );
  const outcome = await compiler.compile(
    { output: { requird: [], Type: 'text', [`a${longName}`]: 1 } },
    owner,
    signal,
  );
  assert.ok('warnings' in outcome);
  const meant = outcome.warnings.map(({ message }) => /did you mean "(\w+)"\?$/.exec(message)?.[1]);
  assert.deepEqual(meant, ['required', 'type', undefined]);
  // As many as fit into a response, however many there are.
  assert.equal(
    (
      await warningsOf({
        input: named(
          5000,
          () => 1,
          (i) => `propertie${i}`,
        ),
      })
    ).length,
    50,
  );
});

test('names with a meaning in JavaScript are ordinary names in schemas and in values', async () => {
  const cases: [schema: string, value: string, path: string | undefined][] = [
    ['{"properties":{"__proto__":{"type":"string"}}}', '{"__proto__":1}', '/__proto__'],
    ['{"properties":{"__proto__":{"type":"string"}}}', '{"__proto__":"a"}', undefined],
    [
      '{"properties":{"__proto__":{"type":"string"}},"additionalProperties":false}',
      '{"__proto__":"a","b":1}',
      '/b',
    ],
    ['{"required":["__proto__"]}', '{}', '/__proto__'],
    ['{"required":["constructor","toString"]}', '{}', '/constructor'],
    ['{"required":["__proto__"]}', '{"__proto__":null}', undefined],
    ['{"const":{"__proto__":{"a":1}}}', '{"__proto__":{"a":1}}', undefined],
    ['{"const":{"__proto__":{"a":1}}}', '{}', ''],
    ['{"$defs":{"__proto__":{"type":"string"}},"$ref":"#/$defs/__proto__"}', '1', ''],
    ['{"$ref":"#/$defs/toString","$defs":{"toString":{"type":"string"}}}', '1', ''],
    ['{"dependentSchemas":{"__proto__":{"required":["b"]}}}', '{"__proto__":1}', '/b'],
    ['{"propertyNames":{"maxLength":3}}', '{"__proto__":1}', '/__proto__'],
    ['{"additionalProperties":{"type":"string"}}', '{"constructor":1}', '/constructor'],
  ];
  for (const [schema, value, path] of cases) {
    assert.equal((await faultOf(schema, value))?.path, path, `${schema} ${value}`);
  }
  assert.equal(({} as { a?: unknown }).a, undefined);
});

test('an invalid schema is refused with the place', () => {
  const cases: [schema: unknown, path: string][] = [
    [{ type: 'text' }, 'type'],
    [{ properties: { a: { type: [] } } }, 'properties.a.type'],
    [{ properties: { a: 1 } }, 'properties.a'],
    [{ properties: [] }, 'properties'],
    [{ required: ['a', 'a'] }, 'required'],
    [{ minLength: -1 }, 'minLength'],
    [{ format: 1 }, 'format'],
    [{ allOf: [] }, 'allOf'],
    [{ allOf: [{ multipleOf: 0 }] }, 'allOf.0.multipleOf'],
    [{ items: [] }, 'items'],
    [{ $ref: '#/$defs/missing' }, '$ref'],
    [{ $ref: 'https://example.com/schema.json' }, '$ref'],
    [{ $ref: 'file:///etc/passwd' }, '$ref'],
    [{ $ref: '/etc/passwd' }, '$ref'],
    [{ $ref: '../other.json' }, '$ref'],
    [{ items: { $dynamicRef: '#none' } }, 'items.$dynamicRef'],
    [{ $ref: '#/const', const: 1 }, '$ref'],
    [{ $ref: 'http://[' }, '$ref'],
    [{ $ref: '#%' }, '$ref'],
    [{ $ref: '#/__proto__' }, '$ref'],
    [{ $schema: 'http://json-schema.org/draft-07/schema#' }, '$schema'],
    [{ $anchor: '1' }, '$anchor'],
    [{ $defs: { a: { $anchor: 'x' }, b: { $anchor: 'x' } } }, '$defs.b.$anchor'],
    [{ $defs: { a: { $id: 'x' }, b: { $id: 'x' } } }, '$defs.b.$id'],
    [
      { $defs: { a: { $ref: '#/$defs/b' }, b: { anyOf: [{ $ref: '#/$defs/a' }] } }, $ref: '#/$defs/a' },
      '$defs.a',
    ],
    [{ $ref: '#' }, ''],
  ];
  for (const [schema, path] of cases) {
    assert.throws(
      () => linkSchema(schema as JsonSchema),
      (error) => error instanceof InvalidSchemaError && pathOf(error.place).join('.') === path,
      JSON.stringify(schema),
    );
  }
});

const list = <T>(length: number, make: (i: number) => T) => Array.from({ length }, (_, i) => make(i));
const named = <T>(length: number, make: (i: number) => T, name: (i: number) => string = (i) => `p${i}`) =>
  Object.fromEntries(list(length, (i) => [name(i), make(i)]));
const nested = (depth: number, wrap: (inner: object) => object, inner: object = {}): object =>
  list(depth, () => 0).reduce<object>((schema) => wrap(schema), inner);

const longName = `Ā${'a'.repeat(32_000)}`;
const size = 64 * 1024;

/** Schemas of 64 KB, each of which makes many parts, names or references. */
const hostile: Readonly<Record<string, object>> = {
  'a long name above many parts': { properties: { [longName]: { allOf: list(10_800, () => ({})) } } },
  'a long URI that many parts are relative to': {
    $id: `https://example.com/${'a'.repeat(32_000)}/`,
    $defs: named(1500, (i) => ({ $id: `${i}` })),
  },
  'URIs that grow with each level': nested(1500, (inner) => ({ $id: 'a/', not: inner })),
  'a long anchor': { $anchor: 'a'.repeat(32_000), allOf: list(800, () => ({ $ref: `#${'a'.repeat(20)}` })) },
  'long anchors': { allOf: list(60, (i) => ({ $anchor: `a${i}${'b'.repeat(990)}` })) },
  'references by long pointers': {
    allOf: list(60, () => ({ $ref: `#${'/not'.repeat(250)}` })),
    not: nested(250, (inner) => ({ not: inner })),
  },
  'a chain of references': {
    $ref: '#/$defs/p0',
    $defs: { ...named(1600, (i) => ({ $ref: `#/$defs/p${i + 1}` })), p1600: true },
  },
  'a chain of references that ends in itself': {
    $ref: '#/$defs/p0',
    $defs: named(1600, (i) => ({ $ref: `#/$defs/p${(i + 1) % 1600}` })),
  },
  'definitions in definitions': nested(1500, (inner) => ({ $defs: { a: inner } })),
  'parts that only references make schemas': {
    allOf: list(200, (i) => ({ $ref: `#${'/x'.repeat(10 + (i % 200))}` })),
    x: nested(1500, (inner) => ({ x: inner })),
  },
  'dynamic references in a web of resources': {
    $ref: '#/$defs/p0',
    $defs: named(200, (i) => ({
      $id: `p${i}`,
      $dynamicAnchor: 'x',
      anyOf: [{ $ref: `p${(i * 7 + 1) % 200}` }, { $ref: `p${(i * 3 + 2) % 200}` }],
      items: { $dynamicRef: '#x' },
    })),
  },
  'many dynamic references': {
    $dynamicAnchor: 'x',
    properties: named(1700, () => ({ $dynamicRef: '#x' })),
  },
  'many dynamic anchors': {
    $defs: named(1500, (i) => ({ $dynamicAnchor: `x${i}` })),
    items: { $dynamicRef: '#x7' },
  },
  'a long list of values': { enum: list(size / 8, (i) => `v${i}`) },
  'a deep constant': { const: nested(3000, (inner) => ({ a: inner })) },
  'many properties': { properties: named(size / 14, () => true) },
  'many alternatives': { anyOf: list(size / 34, (i) => ({ properties: { [`p${i}`]: true } })) },
  'many patterns': {
    patternProperties: named(
      size / 14,
      () => true,
      (i) => `^p${i}`,
    ),
  },
  'patterns at every level': nested(1500, (inner) => ({ pattern: 'a', properties: { abc: inner } })),
  'long names at every level': nested(60, (inner) => ({ properties: { [`n${'a'.repeat(990)}`]: inner } })),
  'nested alternatives': nested(1500, (inner) => ({ anyOf: [inner, { type: 'null' }] })),
};

test('a hostile schema of the largest size is compiled or refused with its place, and not by its limit of time', async () => {
  for (const [name, schema] of Object.entries(hostile)) {
    assert.ok(JSON.stringify(schema).length <= size, `${name}: ${JSON.stringify(schema).length}`);
    const outcome = await compiler.compile({ input: schema as JsonSchema }, owner, signal);
    if ('invalid' in outcome) {
      assert.ok(outcome.invalid.startsWith('/input') && outcome.invalid.length <= 500, name);
    } else if ('failed' in outcome.result) {
      assert.match(outcome.result.failed, /too deep|longer than \d+ bytes/, name);
    }
  }
});

test('a name or URI that is longer than it may be is refused with the bound', () => {
  const cases: [schema: object, message: RegExp][] = [
    [{ properties: { [longName]: true } }, /is longer than a name may be, which is 1000 characters/],
    [{ patternProperties: { ['a'.repeat(1001)]: true } }, /1000 characters/],
    [{ $defs: { ['a'.repeat(1001)]: true } }, /1000 characters/],
    [{ $anchor: 'a'.repeat(1001) }, /1000 characters/],
    [
      { $id: `https://example.com/${'a'.repeat(2000)}` },
      /is longer than a URI may be, which is 2000 characters/,
    ],
    [{ $ref: `#/${'a'.repeat(2000)}` }, /2000 characters/],
    [nested(1200, (inner) => ({ $id: 'a/', not: inner })), /with all that it is relative to/],
  ];
  for (const [schema, message] of cases) {
    assert.throws(() => linkSchema(schema as JsonSchema), { name: 'InvalidSchemaError', message });
  }
  assert.ok(
    linkSchema({ properties: { ['a'.repeat(1000)]: { $id: `https://example.com/${'a'.repeat(1900)}` } } }),
  );
});

test('dynamic references cannot expand a small schema: neither in parts, nor in text, nor in the meanings of anchors', () => {
  // Each way through two resources a level means something else for all anchors.
  const ways = (levels: number, leaf: object): JsonSchema => {
    const level = (l: number) => [0, 1].map((n) => ({ $ref: l < levels ? `l${l}${n}` : 'leaf' }));
    const resources = list(levels, (l) =>
      [0, 1].map((n): [string, object] => [
        `l${l}${n}`,
        { $id: `l${l}${n}`, $dynamicAnchor: `z${l}`, allOf: level(l + 1) },
      ]),
    ).flat();
    return {
      $defs: { ...Object.fromEntries(resources), leaf: { $id: 'leaf', ...leaf } },
      allOf: level(0),
      items: { anyOf: list(levels, (l) => ({ $dynamicRef: `l${l}0#z${l}` })) },
    };
  };
  const anchors: JsonSchema = {
    $defs: {
      ...Object.fromEntries(list(500, (i) => [`a${i}`, { $dynamicAnchor: `a${i}` }])),
      all: { $anchor: 'all', anyOf: list(700, (i) => ({ $ref: `#a${i % 500}` })) },
      ...Object.fromEntries(
        list(30, (i) => [`r${i}`, { $id: `r${i}`, $dynamicAnchor: 'z', items: { $ref: 'types#all' } }]),
      ),
    },
    items: {
      anyOf: [{ $dynamicRef: 'r0#z' }, ...list(500, (i) => ({ $dynamicRef: `#a${i}` }))],
    },
    anyOf: list(30, (i) => ({ $ref: `r${i}` })),
  };
  const cases: [schema: JsonSchema, message: RegExp][] = [
    [ways(14, {}), /more than 20000 parts/],
    [ways(10, { enum: ['x'.repeat(55_000)] }), /more than 1048576 characters/],
    [anchors, /more than 20000 parts/],
  ];
  for (const [schema, message] of cases) {
    assert.throws(() => linkSchema(schema), { name: 'InvalidSchemaError', message });
  }
  // What is referred to by few ways is written out.
  assert.ok(linkSchema(ways(3, { enum: ['x'] })));
});
