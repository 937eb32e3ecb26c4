import * as z from 'zod';
import { createDocument } from 'zod-openapi';
import type {
  ZodOpenApiOperationObject,
  ZodOpenApiPathsObject,
  ZodOpenApiRequestBodyObject,
  ZodOpenApiResponseObject,
} from 'zod-openapi';
import type { Auth } from '../auth.ts';
import type { DeclaredResponse } from '../operations/responses.ts';
import type { Body } from '../operations/bodies.ts';
import type { ErrorCode } from '../error-codes.ts';
import { errorsOf } from '../operations/errors-of.ts';
import type { Operation } from '../operations/operation.ts';
import { namesIn, pathParameter } from '../operations/path-parameters.ts';
import { requestHeaders } from '../operations/request-headers.ts';
import { bytesInWords } from '../../units.ts';
import { errorBody, ErrorResponses } from './error-responses.ts';
import { headersOf, headerComponents } from './headers.ts';
import { documentDescription, securitySchemes, tagDescriptions } from './texts.ts';

/** The OpenAPI version of the document. */
const openApiVersion = '3.1.1';

/**
 * Makes the OpenAPI document of operations, from the very schemas that check their requests and responses.
 * @param version that of the service
 */
export function openApiDocument(operations: readonly Operation[], version: string): object {
  const errors = new ErrorResponses();
  const paths: ZodOpenApiPathsObject = {};
  for (const one of operations) {
    const path = one.path.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [one.method.toLowerCase()]: describe(one, errors) };
  }
  const tags = new Set(operations.map(({ tag }) => tag));
  const document = createDocument(
    {
      openapi: openApiVersion,
      info: {
        title: 'Plugin service',
        version,
        description: documentDescription,
        license: { name: 'MIT', identifier: 'MIT' },
      },
      // Relative to where the document is.
      servers: [{ url: '/' }],
      tags: [...tags].map((name) => ({ name, description: tagDescriptions[name] })),
      paths,
      components: { securitySchemes, headers: headerComponents, responses: errors.components },
    },
    {
      override: ({ jsonSchema, io }) => {
        // A later release may add fields to a response, so its schema must not forbid further ones.
        if (io === 'output' && jsonSchema.additionalProperties === false)
          delete jsonSchema.additionalProperties;
      },
    },
  );
  for (const methods of Object.values(document.paths ?? {})) {
    for (const { parameters = [] } of Object.values(methods) as OperationParameters[]) {
      for (const { schema } of parameters) if (schema) showParsedType(schema);
    }
  }
  return document;
}

interface OperationParameters {
  readonly parameters?: readonly { readonly schema?: ParameterSchema }[];
}

interface ParameterSchema {
  type?: string;
  enum?: unknown;
  pattern?: unknown;
}

/**
 * Describes a parameter by the type that its text is parsed to, without the pattern of the text, which would only repeat that.
 */
function showParsedType(schema: ParameterSchema): void {
  if (schema.type === 'boolean') delete schema.enum;
  if (schema.type === 'integer') delete schema.pattern;
}

function describe(operation: Operation, errors: ErrorResponses): ZodOpenApiOperationObject {
  const { id, summary, tag, auth, query, body, responses: declared } = operation;
  const headers = [...(operation.headers ?? []), ...(takesEnvironmentToken(auth) ? actorHeader : [])];
  const names = namesIn(operation.path);
  const responses: Record<`${number}`, ZodOpenApiResponseObject | { $ref: string }> = {};
  const codesOf = errorsOf(operation);
  for (const [status, codes] of codesOf) responses[`${status}`] = errors.add(status, codes);
  for (const [status, one] of Object.entries(declared)) {
    responses[status as `${number}`] = describeResponse(one, codesOf.get(Number(status)));
  }
  const description = [operation.description ?? [], permissionNeeded(operation), scopeNeeded(operation)]
    .flat()
    .join('\n\n');
  return {
    operationId: id,
    summary,
    ...(description && { description }),
    tags: [tag],
    security: security[auth],
    requestParams: {
      ...(names.length && { path: z.object(byName(names, (name) => pathParameter(name).schema)) }),
      ...(query && { query }),
      ...(headers.length && { header: z.object(byName(headers, headerParameter)) }),
    },
    ...(body && { requestBody: describeBody(body) }),
    responses,
  };
}

const actorHeader = ['x-actor'] as const;

const takesEnvironmentToken = (auth: Auth) =>
  security[auth].some((one) => Object.hasOwn(one, 'environmentToken'));

/** A sentence on the permission that an editor token needs, unless it is `read`, which every token has. */
const permissionNeeded = ({ permission }: Operation) =>
  permission === undefined || permission === 'read'
    ? []
    : `An editor token needs the permission \`${permission}\`.`;

const scopeNeeded = ({ scope }: Operation) =>
  scope === undefined || scope === 'any'
    ? []
    : `An environment token needs the scope${Array.isArray(scope) ? 's' : ''} ${[scope]
        .flat()
        .map((one) => `\`${one}\``)
        .join(' and ')}.`;

const byName = <Name extends string, T>(names: readonly Name[], make: (name: Name) => T) =>
  Object.fromEntries(names.map((name) => [name, make(name)])) as Record<Name, T>;

const headerParameter = (name: keyof typeof requestHeaders) =>
  z.string().optional().meta({ description: requestHeaders[name] });

const security = {
  none: [],
  monitor: [],
  editor: [{ editorToken: [] }],
  environment: [{ environmentToken: [] }],
  run: [{ environmentToken: [] }],
  'editor-or-environment': [{ editorToken: [] }, { environmentToken: [] }],
  optional: [{}, { editorToken: [] }, { environmentToken: [] }],
} satisfies Record<Auth, Record<string, string[]>[]>;

function describeBody(body: Body): ZodOpenApiRequestBodyObject {
  const { description, limit } = body;
  const inFull = `${description} At most ${bytesInWords(limit)}.`;
  if (body.kind === 'text') {
    const { example, json } = body;
    const schema = { type: 'string', ...(example !== undefined && { examples: [example] }) } as const;
    // Not `required`: an empty text is sent as no body at all.
    return {
      description: json ? `${inFull} As \`${json.type}\` at most ${bytesInWords(json.limit)}.` : inFull,
      content: { 'text/plain': { schema }, ...(json && { [json.type]: { schema: json.schema } }) },
    };
  }
  return {
    description: inFull,
    required: !body.optional,
    content: { 'application/json': { schema: body.schema } },
  };
}

/** @param codes those of the service's errors that have the same status code */
function describeResponse(
  response: DeclaredResponse,
  codes: readonly ErrorCode[] = [],
): ZodOpenApiResponseObject {
  const { description, headers = [] } = response;
  const base = { description, headers: headersOf('x-request-id', ...headers) };
  if (response.kind === 'empty') return base;
  if (response.kind === 'text') {
    const text = { 'text/plain': { schema: { type: 'string' } } } as const;
    return { ...base, content: { ...text, ...(response.orJson && { 'application/json': { schema: {} } }) } };
  }
  const { events, rows } = response;
  const schema = codes.length ? z.union([response.schema, errorBody(codes)]) : response.schema;
  return {
    ...base,
    content: {
      'application/json': { schema },
      ...(events !== undefined && {
        'text/event-stream': { schema: { type: 'string', description: events } },
      }),
      ...(rows && { [rows.type]: { schema: { type: 'string', description: rows.description } } }),
    },
  };
}
