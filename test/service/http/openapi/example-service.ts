import assert from 'node:assert/strict';
import { permissions } from '../../../../service/src/plugins/permissions.ts';
import { bearer } from '../../harness.ts';
import type { listen } from '../../harness.ts';
import { build, deploy } from '../../storage/plugins.ts';
import { exampleOf } from './arbitraries.ts';
import { operationsOf } from './openapi.ts';
import type { DocumentedOperation, OpenApi } from './openapi.ts';
import { ofKind } from './requests.ts';
import type { PathValues } from './requests.ts';

/** A header with each of the tokens that an operation takes; one empty header where it takes none. */
export type Tokens = readonly Readonly<Record<string, string>>[];

/**
 * What paths are about, for each operation: by the document's own examples, in an environment that the operation has for itself,
 * so that no other touches what it is tried with.
 */
export function valuesOfOperations(document: OpenApi): Map<DocumentedOperation, PathValues> {
  const operations = operationsOf(document);
  const examples = Object.fromEntries(
    operations.flatMap((one) => ofKind(one, 'path').map((each) => [each.name, exampleOf(document, each)])),
  );
  const tenant = examples['identifier']?.split('.').at(-1) ?? assert.fail();
  return new Map(
    operations.map((operation) => {
      const environment = `com.example.${operation.operationId.toLowerCase()}`;
      const ident = `${environment}.${tenant}`;
      return [operation, { ...examples, environment, identifier: ident, ident }];
    }),
  );
}

/**
 * Makes what paths of these values are about, with a deployed plugin, also where it was there and was deleted since. Resolves with
 * the tokens that the operation takes.
 */
export async function startExample(
  { send, storage, environmentToken }: Pick<Running, 'send' | 'storage' | 'environmentToken'>,
  { security }: DocumentedOperation,
  values: PathValues,
): Promise<Tokens> {
  const of = (name: string) => values[name] ?? assert.fail(name);
  const key = {
    environment: of('environment'),
    tenant: of('ident').slice(of('environment').length + 1),
    namespace: of('namespace'),
    pluginName: of('pluginName'),
  };
  const environment = await environmentToken(key.environment);
  // What was tried before may have deleted or suspended it.
  const tenant = `/api/v1/tenant/${encodeURIComponent(of('ident'))}`;
  await send('POST', tenant, bearer(environment));
  const json = { ...bearer(environment), 'content-type': 'application/json' };
  await send('PATCH', tenant, json, JSON.stringify({ suspended: false }));
  const source = 'export function run(input) { return input; }';
  await build(storage, source, key);
  await deploy(storage, source, key);
  // With all that a token can permit, so that what is asked for is looked at.
  const plugin = [of('ident'), key.namespace, key.pluginName].map(encodeURIComponent).join('/');
  const access = `/auth/v2/access/${plugin}?permissions=${permissions.join(',')}`;
  const { status, body } = await send('GET', access, bearer(environment));
  assert.equal(status, 200, body);
  const { token: editor } = JSON.parse(body) as { token: string };
  const schemes = security.flatMap((one) => Object.keys(one));
  const tokens = schemes.map((one) => bearer(one === 'editorToken' ? editor : environment));
  return tokens.length ? tokens : [{}];
}

type Running = Awaited<ReturnType<typeof listen>>;

/** Each of these with one of those, and by and by all of them. */
export const inTurns = <A, B>(these: readonly A[], those: readonly B[]): [A, B][] =>
  these.flatMap((one, i) => {
    const other = those[i % those.length];
    return other === undefined ? [] : [[one, other] as [A, B]];
  });
