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

const fieldTable = ({ properties = {}, required = [] }: Schema) =>
  table(
    ['field', 'type', 'meaning'],
    Object.entries(properties).map(([name, field]) => [
      code(name + (required.includes(name) ? '' : '?')),
      typeOf(field),
      prose(field.description ?? ''),
    ]),
  );

function describeOperation(
  request: string,
  operation: OpenApiOperation,
  common: ReadonlySet<string>,
): string {
  const { operationId, summary, description, security, parameters = [], requestBody, responses } = operation;
  const listed = parameters.filter(({ in: place }) => place !== 'path');
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
  { description = '', content = {} }: OpenApiOperation['responses'][string],
): string[] {
  const isStream = ([type, { schema }]: [string, { schema: Schema }]) =>
    type !== 'application/json' && schema.description !== undefined;
  const types = Object.entries(content);
  const usual = contentOf(Object.fromEntries(types.filter((one) => !isStream(one))));
  return [
    `Response ${status}: ${[usual, prose(description)].filter(Boolean).join('. ')}`.trim(),
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
  return names.length > 0 ? `, with an ${names.join(' or an ')}` : '';
}

const contentOf = (content: Record<string, { schema: Schema }>) =>
  Object.entries(content)
    .map(([type, { schema }]) => (type === 'application/json' ? typeOf(schema) : code(type)))
    .join(' or ');

/** A type in one line; a record is a link to its fields. */
function typeOf(schema: Schema): string {
  const name = schema.$ref?.replace(/^.*\//, '');
  if (name) return `[${name}](#record-${name.toLowerCase()})`;
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(' or ');
  if (schema.enum) return schema.enum.map((one) => code(String(one))).join(', ');
  if (schema.const !== undefined) return code(JSON.stringify(schema.const));
  if (schema.type === 'array') return `list of ${typeOf(schema.items ?? {})}`;
  if (schema.properties) {
    const { required = [] } = schema;
    const fields = Object.entries(schema.properties).map(
      ([key, field]) => `${key}${required.includes(key) ? '' : '?'}: ${typeOf(field).replaceAll('`', '')}`,
    );
    return `{ ${fields.join('; ')} }`.replaceAll(/\[(\w+)\]\([^)]*\)/g, '$1');
  }
  return [schema.type ?? 'any JSON'].flat().join(' or ');
}
