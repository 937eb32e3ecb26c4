import { BuilderClient, type Draft, eachPage } from '../../src/client.ts';
import {
  AccessClient,
  type Authorize,
  EnvironmentClient,
  ExecutionClient,
  type NodeContext,
  RunError,
  createTokenEndpoint,
  toNodeHandler,
} from '../../src/server.ts';

// Code of vendors with the clients, without the types of Node.

const builder = new BuilderClient({ baseUrl: 'https://b.example', token: () => 't' });
const service = new EnvironmentClient({ builderUrl: 'https://b.example', environmentToken: () => 't' });
const execution = new ExecutionClient({ executionUrl: 'https://b.example', environmentToken: 't' });
const location = { environment: 'com.acme', userID: 'c', pluginName: 'p' };
const tenant = { identifier: 'com.acme.c' };
const { signal } = new AbortController();

export async function pipeline(): Promise<void> {
  const { source, etag }: Draft = await builder.readDraft(location, { signal });
  await builder.saveDraft(location, source, { etag });
  await builder.saveDraft(location, source, { etag: null, signal });
  const { diagnostics, etag: built } = await builder.build({ ...location, language: 'ts' }, 'x', {
    onLog: (line) => void line.length,
    onBusy: (wait) => void wait.toFixed(),
    etag,
    signal,
  });
  diagnostics?.[0]?.line.toFixed();
  built satisfies string | undefined;
  const { result } = await builder.helpWithSource(
    { ...location, language: 'ts' },
    { contents: 'x', request: { method: 'textDocument/hover', params: {} } },
  );
  result satisfies unknown;
  const { version, unchanged } = await builder.deploy(location, { message: 'new', etag: '"e"', signal });
  version satisfies string;
  unchanged satisfies boolean | undefined;
  const plugin = await builder.setLive(location, null, { signal });
  plugin.draft?.revision satisfies string | undefined;
  plugin.live satisfies string | null;
  // Additional fields are kept, and have the type unknown.
  plugin['more'] satisfies unknown;
  for await (const page of eachPage((after) => builder.listRuns(location, { after, success: false })))
    page.runs[0]?.took.toFixed();
  // @ts-expect-error a source is a record
  await builder.saveDraft(location, 'text');
  // @ts-expect-error there is no draft that there is none of to deploy
  await builder.deploy(location, { etag: null });
  // @ts-expect-error which version is to be said
  await builder.setLive(location);
}

export async function namespaces(): Promise<void> {
  const { templates } = await service.getNamespace({ environment: 'com.acme', namespace: 'n' });
  templates satisfies Record<string, string> | undefined;
  templates?.['typescript']?.at(0);
}

export async function sessions(): Promise<void> {
  const { token, permissions } = await service.createSession(tenant, {
    scope: 'plugin',
    fn: 'p',
    permissions: ['read'],
  });
  token satisfies string;
  permissions satisfies string[];
  await service.createSession(tenant, { scope: 'namespace', namespace: 'n' }, { signal });
  await service.createSession(tenant, { scope: 'tenant', actor: 'u', expires_in: 60 });
  const priceRule = { ...tenant, pluginName: 'p' };
  await service.getRollout(priceRule, { actor: 'u' });
  await service.setRollout(priceRule, 'v1.0.1', { percent: 5 }, { actor: 'u' });
  await service.endRollout(priceRule, { actor: 'u' });
  // @ts-expect-error a scope is required
  await service.createSession(tenant, { fn: 'p' });
  // @ts-expect-error a plugin has a name
  await service.createSession(tenant, { scope: 'plugin' });
  // @ts-expect-error a missing name must not make it a token for more
  await service.createSession(tenant, { scope: 'plugin', fn: undefined });
  // @ts-expect-error a namespace has a name
  await service.createSession(tenant, { scope: 'namespace' });
  // @ts-expect-error all of a tenant is no plugin
  await service.createSession(tenant, { scope: 'tenant', fn: 'p' });
  // @ts-expect-error there is no such permission
  await service.createSession(tenant, { scope: 'tenant', permissions: ['admin'] });
  // @ts-expect-error an actor that is missing is not everyone
  await service.endSessions(tenant, { actor: undefined });
  // @ts-expect-error a tenant is suspended or not
  await service.updateTenant(tenant, { suspended: undefined });
}

export async function runs(): Promise<void> {
  const { output, took } = await execution.runWithDetails({ ...tenant, pluginName: 'p' }, 'in', { signal });
  output satisfies string;
  took satisfies number | undefined;
  await execution.run({ ...tenant, pluginName: 'p', version: '1.0.0' }, 'in').catch((error: unknown) => {
    if (!(error instanceof RunError)) throw error;
    error.code satisfies string;
    error.logs satisfies readonly string[] | undefined;
  });
}

export const authorize: Authorize<NodeContext> = (_, target, { req }) =>
  req.headers.cookie ? { ident: [target.ident], permissions: ['read'], actor: 'u' } : false;
const access = new AccessClient({ builderUrl: 'https://b.example', environmentToken: 't' });
export const handler = toNodeHandler(createTokenEndpoint({ access, authorize }));
createTokenEndpoint({
  access,
  // @ts-expect-error a permission that is undefined is none
  authorize: () => ({ ident: 'com.acme.c', permissions: undefined }),
});
createTokenEndpoint({
  access,
  // @ts-expect-error there is no such permission
  authorize: () => ({ ident: 'com.acme.c', permissions: ['all'] }),
});
