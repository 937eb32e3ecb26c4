import { readFileSync } from 'node:fs';
import * as z from 'zod';
import type { ServiceInterface } from './context.ts';
import { openApiDocument } from './openapi/document.ts';
import { json, JsonFile } from './operations/responses.ts';
import { operation } from './operations/operation.ts';
import type { Operation } from './operations/operation.ts';

const documentSchema = z.looseObject({
  openapi: z.string(),
  info: z.looseObject({ title: z.string(), version: z.string() }),
  paths: z.looseObject({}),
});

/** The OpenAPI document of all operations, this one included. */
export const openApi: ServiceInterface = {
  operations: [
    operation({
      id: 'getOpenApi',
      method: 'GET',
      path: '/openapi.json',
      summary: 'Read the OpenAPI document',
      tag: 'service',
      auth: 'none',
      responses: { 200: json(documentSchema, { description: 'An OpenAPI document.' }) },
      handle: (_, { operations }) => ({ status: 200, body: openApiFile(operations) }),
    }),
  ],
};

const files = new WeakMap<readonly Operation[], JsonFile>();

/** The document as it is sent. To make it takes a tenth of a second, so that a service makes it as soon as it has started. */
export function openApiFile(operations: readonly Operation[]): JsonFile {
  const known = files.get(operations);
  if (known) return known;
  const made = new JsonFile(JSON.stringify(openApiDocument(operations, serviceVersion())));
  files.set(operations, made);
  return made;
}

function serviceVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
