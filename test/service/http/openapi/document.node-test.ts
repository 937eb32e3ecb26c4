import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { SmartRouter } from 'hono/router/smart-router';
import * as z from 'zod';
import { openApiDocument } from '../../../../service/src/http/openapi/document.ts';
import { empty, respond } from '../../../../service/src/http/operations/responses.ts';
import { operation } from '../../../../service/src/http/operations/operation.ts';
import { pageQuery } from '../../../../service/src/http/paging.ts';
import { listen, startService } from '../../harness.ts';
import { codesOf, operationsOf, resolved } from './openapi.ts';
import type { OpenApi } from './openapi.ts';

const documentOf = async (fetch: (path: string) => Promise<Response>) =>
  (await (await fetch('/openapi.json')).json()) as OpenApi;

describe('/openapi.json', () => {
  test('has every mounted route with every method, and no other, except for the editor’s page', async (t) => {
    const added = t.mock.method(SmartRouter.prototype, 'add');
    const { send } = await listen(t);
    const document = JSON.parse((await send('GET', '/openapi.json')).body) as OpenApi;
    // What is mounted in another way than operations are answers to one method, about which OPTIONS would not tell.
    const direct = added.mock.calls.filter(({ arguments: [method] }) => method !== 'ALL');
    assert.deepEqual(
      direct.map(({ arguments: [method, path] }) => `${method} ${path}`),
      [],
    );
    const routed = new Set(added.mock.calls.map(({ arguments: [, path] }) => path));
    const mounted: string[] = [];
    for (const path of routed) {
      // What goes before other paths answers at none by itself.
      if (['/*', '/api/*', '/editor', '/editor/*'].includes(path)) continue;
      const { status, headers } = await send('OPTIONS', path.replaceAll(/:\w+/g, 'x.x'));
      assert.equal(status, 204, path);
      const methods = String(headers.allow).split(', ');
      for (const method of methods.filter((name) => name !== 'HEAD' && name !== 'OPTIONS')) {
        mounted.push(`${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`);
      }
    }
    const documented = operationsOf(document).map(({ method, path }) => `${method} ${path}`);
    assert.deepEqual(mounted.toSorted(), documented.toSorted());
    assert.ok(documented.length > 15);
  });

  test('may be read by pages of any origin, without a token', async (t) => {
    const { fetch } = await startService(t);
    const response = await fetch('/openapi.json', { headers: { origin: 'https://tools.example' } });
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('access-control-allow-origin'), '*');
    assert.match(response.headers.get('content-type') ?? '', /^application\/json/);
  });

  test('states the release of the service', async (t) => {
    const { info } = await documentOf((await startService(t)).fetch);
    const manifest = new URL('../../../../service/package.json', import.meta.url);
    assert.equal(info.version, (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version);
  });

  test('lists streams as contents of a response, and no header parameter that OpenAPI ignores', async (t) => {
    const operations = operationsOf(await documentOf((await startService(t)).fetch));
    const names = operations.flatMap(({ parameters = [] }) =>
      parameters.map(({ name }) => name.toLowerCase()),
    );
    assert.deepEqual(
      names.filter((name) => ['accept', 'content-type', 'authorization'].includes(name)),
      [],
    );
    const typesOf = (id: string) =>
      Object.keys(
        operations.find(({ operationId }) => operationId === id)?.responses['200']?.content ??
          assert.fail(id),
      );
    assert.deepEqual(typesOf('buildDraft'), ['application/json', 'text/event-stream']);
    assert.deepEqual(typesOf('getUsage'), ['application/json', 'text/csv']);
    assert.deepEqual(typesOf('listAudit'), ['application/json', 'application/x-ndjson']);
  });

  test('names for each operation the token that it needs, and the status codes that it can be refused with', async (t) => {
    const document = await documentOf((await startService(t)).fetch);
    const find = (id: string) =>
      operationsOf(document).find(({ operationId }) => operationId === id) ?? assert.fail(id);
    assert.deepEqual(find('getFeatures').security, []);
    assert.deepEqual(find('saveDraft').security, [{ editorToken: [] }]);
    assert.deepEqual(find('runVersion').security, [{ environmentToken: [] }]);
    const codes = (id: string, status: number) => codesOf(document, find(id), status);
    assert.deepEqual(codes('saveDraft', 401), ['token-invalid', 'token-missing']);
    assert.deepEqual(codes('saveDraft', 422), ['invalid-record', 'too-deep', 'unknown-language']);
    assert.deepEqual(codes('runVersion', 504), ['time-limit', 'wait-limit']);
    assert.deepEqual(codes('getTemplate', 404), ['unknown-language']);
    assert.deepEqual(codes('getHealth', 401), []);
    const headers = (id: string, status: number) =>
      Object.keys(resolved(document, find(id).responses[status] ?? assert.fail()).headers ?? {});
    assert.deepEqual(headers('readDraft', 200), ['x-request-id', 'etag']);
    assert.deepEqual(headers('readDraft', 429), [
      'x-request-id',
      'retry-after',
      'ratelimit',
      'ratelimit-policy',
    ]);
    assert.ok(headers('runPlugin', 200).includes('x-plugin-version'));
  });

  test('describes the parameters of a list with their types and limits', () => {
    const list = operation({
      id: 'list',
      method: 'GET',
      path: '/list',
      summary: '…',
      tag: 'service',
      auth: 'monitor',
      query: z.object({
        ...pageQuery(),
        success: z
          .enum(['true', 'false'])
          .transform((text) => text === 'true')
          .meta({ override: { type: 'boolean' } }),
      }),
      responses: { 204: empty({ description: '…' }) },
      handle: () => respond(204, undefined),
    });
    const document = openApiDocument([list], '1.0.0') as OpenApi;
    const [listed = assert.fail()] = operationsOf(document);
    const { parameters = [] } = listed;
    assert.deepEqual(codesOf(document, listed, 400), ['invalid-cursor', 'invalid-query']);
    const schemas = parameters.map(({ name, schema }) => {
      const { type, minimum, maximum, pattern, enum: values } = schema;
      return { name, type, minimum, maximum, pattern, values };
    });
    const none = { minimum: undefined, maximum: undefined, pattern: undefined, values: undefined };
    assert.deepEqual(schemas, [
      { ...none, name: 'limit', type: 'integer', minimum: 1, maximum: 200 },
      { ...none, name: 'after', type: 'string' },
      { ...none, name: 'success', type: 'boolean' },
    ]);
  });
});
