import { code, prose, table } from './markdown.ts';
import type { OpenApi, OpenApiOperation, Schema } from './service.ts';

/** The sections of the operations in the reference, by the tags of the OpenAPI document. */
export function operationSections({ paths, tags }: OpenApi): string {
  const common = new Set(commonErrors({ paths }));
  return tags
    .map(({ name, description }) => {
      const own = Object.entries(paths).flatMap(([path, methods]) =>
        Object.entries(methods)
          .filter(([, operation]) => operation.tags.includes(name))
          .map(([method, operation]) =>
            describeOperation(`${method.toUpperCase()} ${path}`, operation, common),
          ),
      );
      const title = TITLES[name];
      if (!title) throw new Error(`The reference has no title for the operations with the tag ${name}`);
      return [`## ${title}`, ...(description === `${title}.` ? [] : [description]), ...own].join('\n\n');
    })
    .join('\n\n');
}

/** The errors that nearly every operation has, which the reference names once instead. */
export function commonErrors({ paths }: Pick<OpenApi, 'paths'>): string[] {
  const all = Object.values(paths).flatMap((methods) => Object.values(methods).map(errorsOf));
  return [...new Set(all.flat())].filter(
    (error) => all.filter((one) => one.includes(error)).length > 0.9 * all.length,
  );
}

/** Titles by tag. */
const TITLES: Readonly<Record<string, string>> = {
  service: 'The service itself',
  builder: 'Builder interface',
  access: 'Access interface',
  execution: 'Execution interface',
  environment: 'Environment interface',
  types: 'Types of namespaces',
  libraries: 'Libraries',
  connections: 'Connections',
  webhooks: 'Webhooks',
  agents: 'Tools for agents',
};

/** The parameters of paths, each of which means the same in every path. */
export function pathParameters({ paths }: Pick<OpenApi, 'paths'>): string {
  const all = Object.values(paths).flatMap((methods) =>
    Object.values(methods).flatMap(({ parameters = [] }) =>
      parameters.filter(({ in: place }) => place === 'path'),
    ),
  );
  const byName = new Map(all.map((one) => [one.name, one]));
  return table(
    ['in the path', 'meaning'],
    [...byName.values()].map(({ name, schema, description = '' }) => {
      const [example] = schema.examples ?? [];
      return [
        code(`{${name}}`),
        prose(description) + (example === undefined ? '' : ` Example: ${code(example)}`),
      ];
    }),
  );
}

/** The header that every operation with an environment token takes, which the page describes once. */
const ACTOR = 'x-actor';

/** The sections of the records that requests and responses refer to. */
export const recordSections = ({ components }: OpenApi): string =>
  Object.entries(components.schemas)
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([name, schema]) => [`### Record ${name}`, ...fieldsOf(schema)].join('\n\n'))
    .join('\n\n');

const fieldsOf = (schema: Schema): string[] => [
  ...(schema.description ? [prose(schema.description)] : []),
  schema.properties ? fieldTable(schema) : typeOf(schema),
];

const fieldTable = (schema: Schema) => table(['field', 'type', 'meaning'], fieldRows(schema));

/** A row for each field. The fields of an object inside follow it, such as `draft.revision`, and `tokens[].id` in a list. */
const fieldRows = ({ properties = {}, required = [] }: Schema, prefix = ''): string[][] =>
  Object.entries(properties).flatMap(([name, field]) => {
    const { inner, type, suffix } = innerObject(field);
    return [
      [
        code(prefix + name + (required.includes(name) ? '' : '?')),
        type,
        prose(field.description ?? field.anyOf?.[0]?.description ?? ''),
      ],
      ...(inner ? fieldRows(inner, `${prefix}${name}${suffix}.`) : []),
    ];
  });

/** The object that a field, or each item of a list, is, where that has fields and no name; and the type without them. */
function innerObject(field: Schema): { inner?: Schema; type: string; suffix: string } {
  const [first = field, nothing, ...others] = field.anyOf ?? [];
  const isNullable = nothing?.type === 'null' && others.length === 0;
  const value = isNullable ? first : field;
  const isList = value.type === 'array';
  const inner = isList ? (value.items ?? {}) : value;
  if (inner.$ref || !inner.properties || Object.keys(inner.properties).length === 0)
    return { type: typeOf(field), suffix: '' };
  const type = isList ? `list of ${mostItems(value)}objects` : 'object';
  return { inner, type: isNullable ? `${type} or null` : type, suffix: isList ? '[]' : '' };
}

function describeOperation(
  request: string,
  operation: OpenApiOperation,
  common: ReadonlySet<string>,
): string {
  const { operationId, summary, description, security, parameters = [], requestBody, responses } = operation;
  const listed = parameters.filter(({ in: place, name }) => place !== 'path' && name !== ACTOR);
  const ownResponses = Object.entries(responses).filter(([, { $ref }]) => !$ref);
  const errors = errorsOf(operation).filter((error) => !common.has(error));
  return [
    `### ${operationId}`,
    `${code(request)}${tokenOf(security)}`,
    prose(`${summary}. ${description ?? ''}`.trim()),
    ...(listed.length > 0
      ? [
          table(
            ['parameter', 'in', 'type', 'meaning'],
            listed.map((one) => [
              code(one.name + (one.required ? '' : '?')),
              one.in,
              typeOf(one.schema),
              prose(one.description ?? ''),
            ]),
          ),
        ]
      : []),
    ...(requestBody
      ? [`Body: ${contentOf(requestBody.content)}. ${prose(requestBody.description ?? '')}`]
      : []),
    ...ownResponses.flatMap(([status, response]) => describeResponse(status, response)),
    ...(errors.length > 0 ? [`Errors: ${errors.join(', ')}.`] : []),
  ].join('\n\n');
}

/** A stream is a paragraph with its description. */
function describeResponse(
  status: string,
  { description = '', headers = {}, content = {} }: OpenApiOperation['responses'][string],
): string[] {
  const isStream = ([type, { schema }]: [string, { schema: Schema }]) =>
    type !== 'application/json' && schema.description !== undefined;
  const types = Object.entries(content);
  const usual = contentOf(Object.fromEntries(types.filter((one) => !isStream(one))));
  const own = Object.keys(headers).filter((name) => name !== 'x-request-id');
  return [
    [
      `Response ${status}: ${[usual, prose(description)].filter(Boolean).join('. ')}`,
      ...(own.length > 0 ? [`Headers: ${own.map(code).join(', ')}.`] : []),
    ].join(' '),
    ...types
      .filter(isStream)
      .map(([type, { schema }]) => `As ${code(type)}: ${prose(schema.description ?? '')}`),
  ];
}

/** Such as "404 `draft-not-found`". */
const errorsOf = ({ responses }: OpenApiOperation): string[] =>
  Object.entries(responses).flatMap(([status, { $ref = '' }]) =>
    // A response that operations share is called by its status and the codes that it can have.
    $ref
      .replace(/^.*\//, '')
      .split('.')
      .slice(1)
      .map((name) => `${status} ${code(name)}`),
  );

function tokenOf(security: OpenApiOperation['security'] = []): string {
  const names = security.flatMap((one) => Object.keys(one)).map((name) => name.replace('Token', ' token'));
  // An empty entry means that a token may be left out.
  const isOptional = security.some((one) => Object.keys(one).length === 0);
  return names.length > 0 ? `, with ${isOptional ? 'no token, ' : ''}an ${names.join(' or an ')}` : '';
}

const contentOf = (content: Record<string, { schema: Schema }>) =>
  Object.entries(content)
    .map(([type, { schema }]) => (type === 'application/json' ? typeOf(schema) : code(type)))
    .join(' or ');

/** A type in one line, with its bounds; a record is a link to its fields. */
function typeOf(schema: Schema): string {
  const name = schema.$ref?.replace(/^.*\//, '');
  if (name) return `[${name}](#record-${name.toLowerCase()})`;
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) {
    const text = choices.map(typeOf).join(' or ');
    return text.length > LONGEST_TYPE ? 'object, which `/openapi.json` describes' : text;
  }
  if (schema.enum) return schema.enum.map((one) => code(String(one))).join(', ');
  if (schema.const !== undefined) return code(JSON.stringify(schema.const));
  if (schema.type === 'array') return `list of ${mostItems(schema)}${typeOf(schema.items ?? {})}`;
  if (schema.properties && Object.keys(schema.properties).length > 0) {
    const { required = [] } = schema;
    const fields = Object.entries(schema.properties).map(
      ([key, field]) => `${key}${required.includes(key) ? '' : '?'}: ${typeOf(field).replaceAll('`', '')}`,
    );
    return `{ ${fields.join('; ')} }`.replaceAll(/\[(\w+)\]\([^)]*\)/g, '$1');
  }
  const bounds = boundsOf(schema);
  return [schema.type ?? 'any JSON'].flat().join(' or ') + (bounds && ` (${bounds})`);
}

/** The types of language help are unions that no line can show. */
const LONGEST_TYPE = 400;

/** How many items a list may have, unless each of its values can be there once. */
const mostItems = ({ maxItems, items }: Schema) =>
  maxItems === undefined || items?.enum ? '' : `at most ${maxItems.toLocaleString('en')} `;

const FORMATS: Readonly<Record<string, string>> = {
  'date-time': 'ISO 8601',
  date: '`YYYY-MM-DD`',
  uri: 'URL',
  uuid: 'UUID',
};

function boundsOf({ format = '', minimum, maximum, maxLength, additionalProperties }: Schema): string {
  const number = (value: number) => value.toLocaleString('en');
  const isBound = (value: number | undefined) =>
    value !== undefined && Math.abs(value) < Number.MAX_SAFE_INTEGER;
  const [least, most] = [isBound(minimum) ? minimum : undefined, isBound(maximum) ? maximum : undefined];
  return [
    FORMATS[format] ?? '',
    least !== undefined && most !== undefined ? `${number(least)} to ${number(most)}` : '',
    least !== undefined && most === undefined && least > 0 ? `from ${number(least)}` : '',
    maxLength === undefined ? '' : `at most ${number(maxLength)} characters`,
    typeof additionalProperties === 'object' && additionalProperties.type === 'string'
      ? 'its values are strings'
      : '',
  ]
    .filter(Boolean)
    .join(', ');
}
