/*
 * What a program does that has nothing but the document: its types are generated from /openapi.json into `schema.d.ts`, beside
 * which a test puts this file.
 */
import createClient from 'openapi-fetch';
import type { components, paths } from './schema.d.ts';

const text = {
  bodySerializer: (body: unknown) => body as string | undefined,
  headers: { 'content-type': 'text/plain; charset=utf-8' },
} as const;

type PluginSource = components['schemas']['PluginSource'];

/**
 * Writes a plugin, builds it, tests it, deploys it and runs it; looks after it as a vendor does, and deletes its tenant in the end.
 * Returns what came of it.
 */
export async function scenario(baseUrl: string, environmentToken: string) {
  const anonymous = createClient<paths>({ baseUrl });
  const features = await anonymous.GET('/api/v1/features');
  const language = features.data?.languages.find(({ identifier }) => identifier === 'javascript')?.pretty;

  const vendor = createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${environmentToken}` } });
  const { identifier, namespace, pluginName } = {
    identifier: 'com.acme.t1',
    namespace: 'default',
    pluginName: 'say hello/twice',
  };
  const issued = await vendor.GET('/auth/v2/access/{identifier}/{namespace}/{ext}', {
    params: { path: { identifier, namespace, ext: pluginName } },
  });
  if (!issued.data) throw new Error(issued.error.error.code);
  const editor = createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${issued.data.token}` } });

  const params = { path: { identifier, namespace, pluginName } };
  const missing = await editor.GET('/api/v1/draft/{identifier}/{namespace}/{pluginName}', { params });
  // The codes are typed: a misspelt one would not compile.
  const isNew = missing.response.status === 404 && missing.error?.error.code === 'draft-not-found';

  const body: PluginSource = {
    contents: 'export const run = (input) => `Hello, ${input}!`;\n',
    lang: 'javascript',
    tests: [{ name: 'greets', payload: 'Ada' }],
  };
  const saved = await editor.POST('/api/v1/draft/{identifier}/{namespace}/{pluginName}', { params, body });
  const etag = saved.response.headers.get('etag');
  const refused = await editor.POST('/api/v1/draft/{identifier}/{namespace}/{pluginName}', {
    params: { ...params, header: { 'if-match': '"other"' } },
    body,
  });
  const built = await editor.POST('/api/v1/build/{language}/{identifier}/{namespace}/{pluginName}', {
    params: { path: { ...params.path, language: 'javascript' } },
    body: body.contents,
    ...text,
  });
  const tested = await editor.POST('/api/v1/test/{identifier}/{namespace}/{pluginName}', {
    params,
    body: 'Ada',
    ...text,
  });
  const deployed = await editor.POST('/api/v1/draft/{identifier}/{namespace}/{pluginName}/promote', {
    params,
  });
  if (!deployed.data) throw new Error(deployed.error.error.code);
  const run = await vendor.POST('/exec/{identifier}/{namespace}/{pluginName}/{version}', {
    params: { path: { ...params.path, version: deployed.data.version } },
    body: 'Grace',
    parseAs: 'text',
    ...text,
  });
  const withPlugin = { params: { path: { ident: identifier, namespace, name: pluginName } } };
  const listed = await vendor.GET('/api/v1/tenant/{ident}/plugins', {
    params: { path: { ident: identifier }, query: { limit: 10 } },
  });
  const pinned = await vendor.PUT('/api/v1/plugin/{ident}/{namespace}/{name}/live', {
    ...withPlugin,
    body: { version: deployed.data.version },
  });
  const runs = await untilRecorded(async () => {
    const { data } = await vendor.GET('/api/v1/plugin/{ident}/{namespace}/{name}/runs', {
      params: { ...withPlugin.params, query: { success: true } },
    });
    return data?.runs.map(({ version, success }) => ({ version, success })) ?? [];
  });

  const tenant = { params: { path: { ident: identifier } } };
  const suspended = await vendor.PATCH('/api/v1/tenant/{ident}', { ...tenant, body: { suspended: true } });
  const withoutToken = await vendor.POST('/api/v1/tenant/{ident}/session', { ...tenant, body: {} });
  const deleted = await vendor.DELETE('/api/v1/tenant/{ident}', tenant);
  const tenants = await vendor.GET('/api/v1/environment/{environment}', {
    params: { path: { environment: 'com.acme' } },
  });
  return {
    language,
    isNew,
    hasTag: etag !== null,
    refused: refused.error?.error.code,
    built: built.data && typeof built.data === 'object' && built.data.succeeded,
    tested: tested.data?.result,
    deployed: deployed.data.version,
    output: run.data,
    listed: listed.data?.plugins.map(({ name, live }) => `${name} ${live}`),
    pinned: pinned.data?.pinned?.version,
    runs,
    suspended: suspended.data?.suspended,
    withoutToken: withoutToken.error?.error.code,
    deleted: deleted.response.status,
    tenants: tenants.data?.tenants,
  };
}

/** Lists until there is something: a run is recorded some time after its response. */
async function untilRecorded<T>(list: () => Promise<T[]>): Promise<T[]> {
  const deadline = Date.now() + 60_000;
  for (;;) {
    const found = await list();
    if (found.length || Date.now() > deadline) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
