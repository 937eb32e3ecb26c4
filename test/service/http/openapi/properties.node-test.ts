import assert from 'node:assert/strict';
import type { IncomingHttpHeaders } from 'node:http';
import { before, describe, test } from 'node:test';
import type { TestContext } from 'node:test';
import * as fc from 'fast-check';
import { health } from '../../../../service/src/http/health.ts';
import { interfaces } from '../../../../service/src/http/interfaces.ts';
import { openApiDocument } from '../../../../service/src/http/openapi/document.ts';
import { permissions } from '../../../../service/src/plugins/permissions.ts';
import { bearer, listen } from '../../harness.ts';
import { allowedBy, changed, exampleOf } from './arbitraries.ts';
import { codesOf, operationsOf, resolved } from './openapi.ts';
import type { DocumentedOperation, OpenApi, Parameter } from './openapi.ts';
import { schemaValidator } from './tools.ts';
import type { SchemaValidator } from './tools.ts';

/*
 * Every operation of the document, with what its schemas allow and with what they forbid. Nothing here knows the operations:
 * what is declared is tried. All paths are about the plugin that the first examples of their parameters name, unless a case
 * says otherwise.
 */

const document = openApiDocument(
  [...health.operations, ...interfaces.flatMap(({ operations }) => operations)],
  '1.0.0',
) as OpenApi;

const cases = 40;

interface Case {
  readonly target: string;
  readonly headers: Record<string, string>;
  readonly body: string | undefined;
}

/** The parts of a request to an operation. */
interface Parts {
  readonly path: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

function caseOf({ path, requestBody }: DocumentedOperation, parts: Parts): Case {
  const segments = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(parts.path[name] ?? ''),
  );
  const query = new URLSearchParams(parts.query).toString();
  const [type] = Object.keys(requestBody?.content ?? {});
  return {
    target: query ? `${segments}?${query}` : segments,
    headers: {
      ...(parts.body !== undefined && type !== undefined && { 'content-type': type }),
      ...parts.headers,
    },
    body: parts.body,
  };
}

const ofKind = ({ parameters = [] }: DocumentedOperation, kind: Parameter['in']) =>
  parameters.filter((one) => one.in === kind);

const texts = (parameters: readonly Parameter[], valueOf: (one: Parameter) => fc.Arbitrary<unknown>) =>
  fc
    .record(Object.fromEntries(parameters.map((one) => [one.name, valueOf(one).map(String)])), {
      requiredKeys: parameters.filter(({ required }) => required).map(({ name }) => name),
    })
    .map((found) => ({ ...found }));

const allowedValue = ({ schema }: Parameter) => allowedBy(document, schema);

/** Requests that the document allows. */
function allowedParts(operation: DocumentedOperation, ofPath: 'examples' | 'any'): fc.Arbitrary<Parts> {
  const json = operation.requestBody?.content['application/json'];
  const text = fc.string({ unit: 'grapheme' });
  const body = json
    ? allowedBy(document, json.schema).map((value) => JSON.stringify(value))
    : fc.constant(undefined);
  return fc.record({
    path: texts(ofKind(operation, 'path'), (one) =>
      fc.oneof(
        { weight: 3, arbitrary: fc.constant(exampleOf(document, one)) },
        {
          weight: ofPath === 'any' ? 1 : 0,
          arbitrary: allowedValue(one).filter((value) => String(value).isWellFormed()),
        },
      ),
    ),
    query: texts(ofKind(operation, 'query'), allowedValue),
    // Node sends no others.
    headers: texts(ofKind(operation, 'header'), () =>
      fc.constantFrom('*', '"x"', 'W/"x"', 'text/event-stream'),
    ),
    body: operation.requestBody && !json ? text : body,
  });
}

/** Requests of which one part is forbidden by the document; `undefined` where it forbids none. */
function forbiddenParts(
  operation: DocumentedOperation,
  validator: SchemaValidator,
): fc.Arbitrary<Parts> | undefined {
  const allowed = allowedParts(operation, 'examples');
  const ways: fc.Arbitrary<Parts>[] = [];
  for (const one of operation.parameters ?? []) {
    const place = one.in === 'header' ? undefined : one.in;
    const fits = validator.ofParameter(operation, one);
    const wrong = candidates.filter(
      (value) => !readings(value).some(fits) && (place !== 'path' || isSegment(value)),
    );
    if (!place || !wrong.length) continue;
    ways.push(
      fc.tuple(allowed, fc.constantFrom(...wrong)).map(([parts, value]) => ({
        ...parts,
        [place]: { ...parts[place], [one.name]: value },
      })),
    );
  }
  const json = operation.requestBody?.content['application/json'];
  if (json) {
    const fits = validator.ofBody(operation);
    const wrong = changed(allowedBy(document, json.schema)).filter((value) => !fits(value));
    ways.push(
      fc.tuple(allowed, wrong).map(([parts, value]) => ({ ...parts, body: JSON.stringify(value) })),
      // No JSON at all, and none by its type.
      allowed.map((parts) => ({ ...parts, body: '{' })),
      allowed.map((parts) => ({
        ...parts,
        body: parts.body ?? 'x',
        headers: { ...parts.headers, 'content-type': 'text/html' },
      })),
    );
  }
  return ways.length ? fc.oneof(...ways) : undefined;
}

/** What parameters of all kinds forbid, some by each. */
const candidates = ['', 'x', '-1', '0', '1.5', '1e9', 'null', 'maybe', 'x'.repeat(13_000), 'v1', '.x', 'x.'];

/** What a text in a path or a query can stand for. */
const readings = (text: string): unknown[] => [
  text,
  ...(text.trim() ? [Number(text)] : []),
  ...(text === 'true' || text === 'false' ? [text === 'true'] : []),
];

/** Whether a text is a segment of a path that is short enough: another path is another operation. */
const isSegment = (value: string) => value !== '' && value.length < 1000;

/** A service with the plugin that the examples of the document are about, and a token of each kind. */
async function startExample(t: TestContext) {
  const running = await listen(t);
  const { send, environmentToken } = running;
  const examples = new Map(
    operationsOf(document).flatMap((one) =>
      ofKind(one, 'path').map((each) => [each.name, exampleOf(document, each)]),
    ),
  );
  const of = (name: string) => examples.get(name) ?? assert.fail(name);
  const plugin = [of('identifier'), of('namespace'), of('pluginName')].map(encodeURIComponent).join('/');
  const environment = await environmentToken(of('identifier').replace(/\.[^.]*$/, ''));
  const okay = async (...request: Parameters<typeof send>) => {
    const { status, body } = await send(...request);
    assert.equal(status, 200, body);
    return JSON.parse(body) as { token: string; contents: string };
  };
  // With all that a token can permit, so that what is asked for is looked at.
  const everything = permissions.join(',');
  const access = `/auth/v2/access/${plugin}?permissions=${everything}`;
  const { token: editor } = await okay('GET', access, bearer(environment));
  const { contents: source } = await okay('GET', `/api/v1/template/${of('language')}`);
  await okay('POST', `/api/v1/build/${of('language')}/${plugin}`, bearer(editor), source);
  await okay('POST', `/api/v1/draft/${plugin}/promote`, bearer(editor));
  /** A header with each of the tokens that an operation takes. */
  const tokensFor = ({ security }: DocumentedOperation): fc.Arbitrary<Record<string, string>> => {
    const schemes = security.flatMap((one) => Object.keys(one));
    const headers = schemes.map((one) => bearer(one === 'editorToken' ? editor : environment));
    return headers.length ? fc.constantFrom(...headers) : fc.constant({});
  };
  return { ...running, tokensFor };
}

/** Makes sure that an answer is one that the document has for the operation. Returns its status. */
function checkAnswer(
  operation: DocumentedOperation,
  validator: SchemaValidator,
  { status, headers, body }: { status: number; headers: IncomingHttpHeaders; body: string },
  what: string,
): number {
  const response = operation.responses[status];
  assert.ok(response, `${what}: ${status} is not documented: ${body.slice(0, 500)}`);
  const [type = ''] = (headers['content-type'] ?? '').split(';');
  const { content } = resolved(document, response);
  if (body) assert.ok(content?.[type], `${what}: ${status} is ${type}`);
  if (type !== 'application/json') return status;
  const value: unknown = JSON.parse(body);
  const problem = validator.problemOf(operation, status, value);
  assert.equal(problem, undefined, `${what}: ${status} ${body.slice(0, 500)}`);
  return status;
}

describe('every operation of the document', () => {
  let validator: SchemaValidator;
  before(async () => {
    validator = await schemaValidator(document);
  });

  for (const operation of operationsOf(document)) {
    const { operationId, method } = operation;
    test(`${operationId} answers what the document allows as the document says, and never with a fault`, async (t) => {
      const { send, tokensFor, errors } = await startExample(t);
      await fc.assert(
        fc.asyncProperty(allowedParts(operation, 'any'), tokensFor(operation), async (parts, token) => {
          const { target, headers, body } = caseOf(operation, parts);
          const answer = await send(method, target, { ...token, ...headers }, body);
          const status = checkAnswer(operation, validator, answer, `${method} ${target}`);
          assert.ok(status !== 500, answer.body);
          assert.deepEqual(errors, []);
        }),
        { numRuns: cases, seed: 1 },
      );
    });

    test(`${operationId} refuses what the document forbids, with a code that it names`, async (t) => {
      const { send, tokensFor, errors } = await startExample(t);
      const check = async ({ target, headers, body }: Case, statuses: readonly number[]) => {
        const answer = await send(method, target, headers, body);
        const status = checkAnswer(operation, validator, answer, `${method} ${target}`);
        assert.ok(statuses.includes(status), `${method} ${target} ${body?.slice(0, 500)}: ${status}`);
        const { error } = JSON.parse(answer.body) as { error: { code: string } };
        assert.ok(codesOf(document, operation, status).includes(error.code), error.code);
        assert.deepEqual(errors, []);
      };
      const forbidden = forbiddenParts(operation, validator);
      if (forbidden) {
        const property = fc.asyncProperty(forbidden, tokensFor(operation), async (parts, token) => {
          const { headers, ...one } = caseOf(operation, parts);
          await check({ ...one, headers: { ...token, ...headers } }, [400, 413, 415, 422]);
        });
        await fc.assert(property, { numRuns: cases, seed: 1 });
      }
      if (!operation.security.length) return;
      // Where a token may be left out, one that is not good is refused all the same.
      const isOptional = operation.security.some((one) => !Object.keys(one).length);
      const without = isOptional ? [] : [{}];
      const property = fc.asyncProperty(
        allowedParts(operation, 'examples'),
        fc.constantFrom(...without, bearer(''), bearer('pe_edit_x'), bearer('pe_env_x'), {
          authorization: 'Basic eDp5',
        }),
        async (parts, wrong) => {
          const { headers, ...one } = caseOf(operation, parts);
          await check({ ...one, headers: { ...headers, ...wrong } }, [401]);
        },
      );
      await fc.assert(property, { numRuns: cases, seed: 1 });
    });
  }
});
