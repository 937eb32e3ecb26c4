import assert from 'node:assert/strict';

/*
 * An OpenAPI document as its tests look at it.
 */

export type Schema = Readonly<{
  $ref?: string;
  type?: string;
  enum?: readonly unknown[];
  const?: unknown;
  pattern?: string;
  format?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  properties?: Readonly<Record<string, Schema>>;
  required?: readonly string[];
  additionalProperties?: Schema | boolean;
  items?: Schema;
  minItems?: number;
  maxItems?: number;
  anyOf?: readonly Schema[];
  oneOf?: readonly Schema[];
  examples?: readonly unknown[];
  example?: unknown;
}>;

export interface Parameter {
  readonly in: 'path' | 'query' | 'header';
  readonly name: string;
  readonly required?: boolean;
  readonly schema: Schema;
}

export interface ResponseObject {
  readonly $ref?: string;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
}

export interface OperationObject {
  readonly operationId: string;
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: {
    readonly required?: boolean;
    readonly content: Readonly<Record<string, { readonly schema: Schema }>>;
  };
  readonly responses: Readonly<Record<string, ResponseObject>>;
}

export interface OpenApi {
  readonly openapi: string;
  readonly info: { readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** One operation of a document, with where it is. */
export interface DocumentedOperation extends OperationObject {
  readonly method: string;
  /** Such as `/api/v1/template/{language}`. */
  readonly path: string;
}

/** All operations of a document. */
export const operationsOf = ({ paths }: OpenApi): DocumentedOperation[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, one]) => ({ ...one, method: method.toUpperCase(), path })),
  );

/** What a reference of a document leads to; anything else is what it is. */
export function resolved<T extends { readonly $ref?: string }>(document: OpenApi, value: T): T {
  if (value.$ref === undefined) return value;
  const [, , kind = '', name = ''] = value.$ref.split('/');
  const found = document.components[kind]?.[name];
  assert.ok(found, value.$ref);
  return resolved(document, found as T);
}

/** The codes that an operation names for a status. */
export function codesOf(
  document: OpenApi,
  { responses }: OperationObject,
  status: number,
): readonly unknown[] {
  const response = responses[status];
  const schema = response && resolved(document, response).content?.['application/json']?.schema;
  // An operation may have errors of a protocol besides those of the service.
  return [schema ?? {}, ...(schema?.anyOf ?? [])].flatMap((one) => {
    const error = resolved(document, one).properties?.['error'];
    return (error && resolved(document, error).properties?.['code']?.enum) ?? [];
  });
}
