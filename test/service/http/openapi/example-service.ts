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

/** What one operation is tried with. */
export interface OperationWorld {
  /** What paths are about: a plugin that is there, which no other operation touches. */
  readonly values: PathValues;
  /** A header with each of the tokens that the operation takes; one empty header where it takes none. */
  readonly tokens: readonly Readonly<Record<string, string>>[];
}

/** What the paths of the document are about by its own examples, in an environment that the operation has for itself. */
function valuesFor(document: OpenApi, { operationId }: DocumentedOperation): PathValues {
  const examples = Object.fromEntries(
    operationsOf(document).flatMap((one) =>
      ofKind(one, 'path').map((each) => [each.name, exampleOf(document, each)]),
    ),
  );
  const environment = `com.example.${operationId.toLowerCase()}`;
  const tenant = examples['identifier']?.split('.').at(-1) ?? assert.fail();
  const ident = `${environment}.${tenant}`;
  return { ...examples, environment, identifier: ident, ident };
}

/**
 * Makes an environment for an operation, with a deployed plugin and a token of each kind, so that operations can be tried on one
 * service at once, those that delete things included.
 */
export async function worldFor(
  { send, storage, environmentToken }: Pick<Running, 'send' | 'storage' | 'environmentToken'>,
  document: OpenApi,
  operation: DocumentedOperation,
): Promise<OperationWorld> {
  const values = valuesFor(document, operation);
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
  const schemes = operation.security.flatMap((one) => Object.keys(one));
  const tokens = schemes.map((one) => bearer(one === 'editorToken' ? editor : environment));
  return { values, tokens: tokens.length ? tokens : [{}] };
}

type Running = Awaited<ReturnType<typeof listen>>;

/** Each of these with one of those, and by and by all of them. */
export const inTurns = <A, B>(these: readonly A[], those: readonly B[]): [A, B][] =>
  these.flatMap((one, i) => {
    const other = those[i % those.length];
    return other === undefined ? [] : [[one, other] as [A, B]];
  });
