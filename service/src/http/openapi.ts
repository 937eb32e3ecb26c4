import { readFileSync } from 'node:fs';
import * as z from 'zod';
import type { ServiceInterface } from './context.ts';
import { openApiDocument } from './openapi/document.ts';
import { json } from './operations/responses.ts';
import { operation } from './operations/operation.ts';
import type { Operation } from './operations/operation.ts';

const documentSchema = z.looseObject({
  openapi: z.string(),
  info: z.looseObject({ title: z.string(), version: z.string() }),
  paths: z.looseObject({}),
});

type OpenApiDocument = z.infer<typeof documentSchema>;

/** The OpenAPI document of all operations, this one included. */
export const openApi: ServiceInterface = {
  operations: [
    operation({
      id: 'getOpenApi',
      method: 'GET',
      path: '/openapi.json',
      summary: 'This document',
      tag: 'service',
      auth: 'none',
      responses: { 200: json(documentSchema, { description: 'An OpenAPI document.' }) },
      handle: (_, { operations }) => ({ status: 200, body: documentOf(operations) }),
    }),
  ],
};

// Made at the first request and then kept: the service starts sooner without it.
const documents = new WeakMap<readonly Operation[], OpenApiDocument>();

function documentOf(operations: readonly Operation[]): OpenApiDocument {
  const known = documents.get(operations);
  if (known) return known;
  const made = openApiDocument(operations, serviceVersion()) as OpenApiDocument;
  documents.set(operations, made);
  return made;
}

function serviceVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
