import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { installPackages, packagesOf } from '../../../support/install.ts';
import { temporaryDirectory } from '../../harness.ts';

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
  const error = schema && resolved(document, schema).properties?.['error'];
  return (error && resolved(document, error).properties?.['code']?.enum) ?? [];
}

const client = fileURLToPath(new URL('client/', import.meta.url));

/** A folder with a document, the program that uses it, and the tools for both. */
export async function toolsFor(t: TestContext, document: unknown) {
  await installPackages(client);
  const folder = temporaryDirectory(t);
  for (const name of ['package.json', 'redocly.yaml', 'scenario.ts', 'tsconfig.json']) {
    cpSync(join(client, name), join(folder, name));
  }
  symlinkSync(join(client, 'node_modules'), join(folder, 'node_modules'), 'dir');
  writeFileSync(join(folder, 'openapi.json'), JSON.stringify(document));
  /** Runs a tool of these packages; resolves with its output, or with its exit code and output where it fails. */
  const run = async (script: string, ...args: string[]) => {
    const env = {
      ...process.env,
      REDOCLY_TELEMETRY: 'off',
      REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
      NO_COLOR: '1',
    };
    const file = join(folder, 'node_modules', script);
    return promisify(execFile)(process.execPath, [file, ...args], { cwd: folder, env }).then(
      ({ stdout }) => ({ code: 0, output: stdout }),
      (error: { code?: number; stdout?: string; stderr?: string }) => ({
        code: error.code ?? 1,
        output: `${error.stdout ?? ''}${error.stderr ?? ''}`,
      }),
    );
  };
  return { folder, run };
}

/** Tells by Ajv what the schemas of a document allow. */
export interface SchemaValidator {
  ofBody(operation: DocumentedOperation): (value: unknown) => boolean;
  ofParameter(operation: DocumentedOperation, parameter: Parameter): (value: unknown) => boolean;
  /** What is wrong with the JSON of an answer; `undefined` where nothing is. */
  problemOf(operation: DocumentedOperation, status: number, value: unknown): string | undefined;
}

interface Ajv {
  addSchema(schema: object, key: string): void;
  compile(schema: object): ((value: unknown) => boolean) & { errors?: object[] | null };
  errorsText(errors?: object[] | null): string;
}

export async function schemaValidator(document: OpenApi): Promise<SchemaValidator> {
  const load = await packagesOf(client);
  const { default: Ajv2020 } = load('ajv/dist/2020.js') as { default: new (options: object) => Ajv };
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema(document, 'openapi');
  const compiled = new Map<string, ReturnType<Ajv['compile']>>();
  const at = (...keys: readonly (string | number)[]) => {
    const steps = keys.map((key) =>
      encodeURIComponent(String(key).replaceAll('~', '~0').replaceAll('/', '~1')),
    );
    const $ref = `openapi#/${steps.join('/')}`;
    const known = compiled.get($ref) ?? ajv.compile({ $ref });
    compiled.set($ref, known);
    return known;
  };
  const json = ['content', 'application/json', 'schema'] as const;
  const whereIs = ({ path, method }: DocumentedOperation) => ['paths', path, method.toLowerCase()] as const;
  return {
    ofBody: (operation) => at(...whereIs(operation), 'requestBody', ...json),
    ofParameter: (operation, parameter) =>
      at(...whereIs(operation), 'parameters', operation.parameters?.indexOf(parameter) ?? 0, 'schema'),
    problemOf(operation, status, value) {
      const { $ref } = operation.responses[status] ?? {};
      const response =
        $ref === undefined ? [...whereIs(operation), 'responses', status] : $ref.split('/').slice(1);
      const validate = at(...response, ...json);
      return validate(value) ? undefined : ajv.errorsText(validate.errors);
    },
  };
}
