/*
 * The keywords of JSON Schema 2020-12 that constrain a value, and what their own values have to be. All others (annotations,
 * contents, and extensions such as `tsType`) are ignored, as 2020-12 requires.
 */

export const types = ['null', 'boolean', 'integer', 'number', 'string', 'array', 'object'] as const;
export type TypeName = (typeof types)[number];

/** How a keyword holds schemas: one, a list of them, or one for each name. */
type Holding = 'one' | 'list' | 'map';

const holding: Readonly<Record<Holding, string>> = {
  one: 'additionalProperties contains contentSchema else if items not propertyNames then unevaluatedItems unevaluatedProperties',
  list: 'allOf anyOf oneOf prefixItems',
  map: '$defs dependentSchemas patternProperties properties',
};

/** The keywords that hold schemas. */
export const subschemas: Readonly<Record<string, Holding>> = Object.fromEntries(
  Object.entries(holding).flatMap(([how, keywords]) =>
    keywords.split(' ').map((keyword) => [keyword, how as Holding] as const),
  ),
);

/** Checks the value of a keyword that holds no schemas. Returns what an invalid value must be; `undefined` for a valid one. */
type Check = (value: unknown) => string | undefined;

const must =
  (isRight: (value: unknown) => boolean, expected: string): Check =>
  (value) =>
    isRight(value) ? undefined : `must be ${expected}`;

const isText = (value: unknown): value is string => typeof value === 'string';
const isUnique = (values: readonly unknown[]) => new Set(values).size === values.length;
const areNames = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every(isText) && isUnique(value);
const isTypeName = (value: unknown): value is TypeName => (types as readonly unknown[]).includes(value);

const number = must((value) => typeof value === 'number' && Number.isFinite(value), 'a number');
const count = must((value) => Number.isInteger(value) && (value as number) >= 0, 'a whole number, 0 or more');
const text = must(isText, 'a text');
const flag = must((value) => typeof value === 'boolean', 'true or false');
const names = must(areNames, 'a list of names, each once');
const anchor = must(
  (value) => isText(value) && /^[A-Za-z_][-A-Za-z0-9._]*$/.test(value),
  'a name: a letter or "_", and then letters, digits, "-", "." and "_"',
);

const dialect = 'https://json-schema.org/draft/2020-12/schema';

export const checks: Readonly<Record<string, Check>> = {
  $schema: must(
    (value) => isText(value) && value.replace(/#$/, '') === dialect,
    `"${dialect}", or left out: other dialects are not known here`,
  ),
  $id: must((value) => isText(value) && /^[^#]*#?$/.test(value), 'a URI without a fragment'),
  $ref: text,
  $dynamicRef: text,
  $anchor: anchor,
  $dynamicAnchor: anchor,
  $comment: text,
  title: text,
  description: text,
  deprecated: flag,
  type: must(
    (value) =>
      isTypeName(value) ||
      (Array.isArray(value) && value.length > 0 && value.every(isTypeName) && isUnique(value)),
    `one of ${types.join(', ')}, or a list of some of them`,
  ),
  enum: must(Array.isArray, 'a list of values'),
  multipleOf: must(
    (value) => typeof value === 'number' && Number.isFinite(value) && value > 0,
    'a number greater than 0',
  ),
  maximum: number,
  exclusiveMaximum: number,
  minimum: number,
  exclusiveMinimum: number,
  maxLength: count,
  minLength: count,
  pattern: text,
  format: text,
  maxItems: count,
  minItems: count,
  uniqueItems: flag,
  maxContains: count,
  minContains: count,
  maxProperties: count,
  minProperties: count,
  required: names,
  dependentRequired: must(
    (value) =>
      typeof value === 'object' &&
      value !== null &&
      !Array.isArray(value) &&
      Object.values(value).every(areNames),
    'an object of lists of names',
  ),
};

/** The types of values that a keyword applies to. One that is missing here applies to values of any type. */
export const typeOfKeyword: Readonly<Record<string, readonly TypeName[]>> = Object.fromEntries(
  Object.entries({
    number: 'multipleOf maximum exclusiveMaximum minimum exclusiveMinimum',
    string: 'maxLength minLength pattern format',
    array:
      'maxItems minItems uniqueItems maxContains minContains contains items prefixItems unevaluatedItems',
    object:
      'maxProperties minProperties required dependentRequired properties patternProperties additionalProperties propertyNames dependentSchemas unevaluatedProperties',
  }).flatMap(([type, keywords]) =>
    keywords
      .split(' ')
      .map((keyword) => [keyword, type === 'number' ? ['number', 'integer'] : [type as TypeName]] as const),
  ),
);

/** The keywords that a linked schema keeps, besides those that hold subschemas. */
export const assertions: ReadonlySet<string> = new Set([
  ...Object.keys(typeOfKeyword),
  'type',
  'enum',
  'const',
  'title',
  'description',
  'deprecated',
]);

/** The keywords that have a meaning to others, and none for the service. */
const annotations = [
  '$comment',
  '$vocabulary',
  'contentEncoding',
  'contentMediaType',
  'default',
  'definitions',
  'examples',
  'readOnly',
  'writeOnly',
];

/** All keywords of the dialect. */
export const knownKeywords: ReadonlySet<string> = new Set([
  ...assertions,
  ...Object.keys(subschemas),
  ...Object.keys(checks),
  ...annotations,
]);
