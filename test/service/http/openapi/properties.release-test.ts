import assert from 'node:assert/strict';
import type { IncomingHttpHeaders } from 'node:http';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { health } from '../../../../service/src/http/health.ts';
import { interfaces } from '../../../../service/src/http/interfaces.ts';
import { openApiDocument } from '../../../../service/src/http/openapi/document.ts';
import { bearer, listen } from '../../harness.ts';
import { engineUnderTest, freshStorage } from '../../storage/databases.ts';
import { inTurns, startExample, valuesOfOperations } from './example-service.ts';
import type { Tokens } from './example-service.ts';
import { codesOf, resolved } from './openapi.ts';
import type { DocumentedOperation, OpenApi } from './openapi.ts';
import { caseOf, Requests } from './requests.ts';
import type { Parts } from './requests.ts';
import { schemaValidator } from './tools.ts';
import type { SchemaValidator } from './tools.ts';

/*
 * Every operation of the document, with what its schemas allow and with what they forbid. Nothing here knows the operations:
 * what is declared is tried, on one service, where each operation has an environment of its own.
 */

const document = openApiDocument(
  [...health.operations, ...interfaces.flatMap(({ operations }) => operations)],
  '1.0.0',
) as OpenApi;

/**
 * How many random requests each operation gets of each kind, besides those that are written down. They are the same in each run,
 * so that one that fails was broken by a change; with more of them, these are the first.
 */
const cases = Number(process.env['PROPERTY_CASES'] ?? (engineUnderTest() === 'postgres' ? 3 : 1));

/** How many operations are tried at once: some wait for compilers, whose processes are few. */
const atOnce = 8;

/** A busy machine is no reason to think that the database is lost. */
const minute = 60_000;
const patient = {
  acquireTimeout: minute,
  statementTimeout: minute,
  holdTimeout: 2 * minute,
  monitorTimeout: minute,
  monitorConnectTimeout: minute,
};

const wrongTokens = [
  {},
  bearer(''),
  bearer('pe_edit_x'),
  bearer('pe_env_x'),
  { authorization: 'Basic eDp5' },
];

type Token = Tokens[number];

/** Tries requests: first those that are written down, then random ones, which are the same in each run. */
async function tryAll(
  fixed: readonly (readonly [Parts, Token])[],
  random: readonly [fc.Arbitrary<Parts>, readonly Token[]],
  check: (parts: Parts, token: Token) => Promise<void>,
): Promise<void> {
  const property = fc.asyncProperty(random[0], fc.constantFrom(...random[1]), check);
  const examples = fixed.map(([parts, token]): [Parts, Token] => [parts, token]);
  await fc.assert(property, { examples, numRuns: examples.length + cases, seed: 1 });
}

/** Makes sure that a response is one that the document has for the operation. Returns its status. */
function checkResponse(
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

test(
  'every operation answers generated requests as the document says',
  { concurrency: atOnce },
  async (t) => {
    const validator = await schemaValidator(document);
    // All that takes the processor for long comes before the service, whose database waits for nobody.
    const plans = [...valuesOfOperations(document)].map(([operation, values]) => {
      const requests = new Requests(document, operation, values);
      return {
        operation,
        values,
        edges: requests.atTheEdges(),
        allowed: requests.allowed('any'),
        usual: requests.allowed('usual'),
        forbidden: requests.forbidden(validator),
      };
    });
    const storage = await freshStorage(t, engineUnderTest(), { postgresLimits: patient });
    const { errors, environmentToken, send } = await listen(t, { storage });

    const tried = plans.map(({ operation, values, edges, allowed, usual, forbidden }) =>
      t.test(operation.operationId, async (one) => {
        const { method } = operation;
        const start = () => startExample({ send, storage, environmentToken }, operation, values);
        const tokens = await start();

        await one.test('answers what the document allows as the document says, and never with a fault', () =>
          tryAll(inTurns(edges, tokens), [allowed, tokens], async (parts, token) => {
            const { target, headers, body } = caseOf(operation, parts);
            const response = await send(method, target, { ...token, ...headers }, body);
            const status = checkResponse(operation, validator, response, `${method} ${target}`);
            assert.ok(status !== 500, response.body);
          }),
        );

        const checkRefused = async (parts: Parts, token: Token, statuses: readonly number[]) => {
          const { target, headers, body } = caseOf(operation, parts);
          const response = await send(method, target, { ...headers, ...token }, body);
          const status = checkResponse(operation, validator, response, `${method} ${target}`);
          assert.ok(statuses.includes(status), `${method} ${target} ${body?.slice(0, 500)}: ${status}`);
          const { error } = JSON.parse(response.body) as { error: { code: string } };
          assert.ok(codesOf(document, operation, status).includes(error.code), error.code);
        };
        if (forbidden) {
          await one.test('refuses what the document forbids, with a code that it names', async () => {
            // What was allowed may have ended the tokens, or deleted what they were for.
            const fresh = await start();
            await tryAll(inTurns(forbidden.fixed, fresh), [forbidden.random, fresh], (parts, token) =>
              checkRefused(parts, token, [400, 413, 415, 422]),
            );
          });
        }
        if (!operation.security.length) return;
        await one.test('refuses every invalid token', async () => {
          const [simple] = edges;
          assert.ok(simple);
          // Where a token may be left out, one that is not good is refused all the same.
          const isOptional = operation.security.some((alternative) => !Object.keys(alternative).length);
          const wrong = isOptional ? wrongTokens.filter((token) => Object.keys(token).length) : wrongTokens;
          const fixed = wrong.map((token) => [simple, token] as const);
          await tryAll(fixed, [usual, wrong], (parts, token) => checkRefused(parts, token, [401]));
        });
      }),
    );
    await Promise.all(tried);
    assert.deepEqual(errors, [], 'No request was a fault of the service.');
  },
);
