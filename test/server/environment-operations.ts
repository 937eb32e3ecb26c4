import { EnvironmentClient, type EnvironmentClientOptions } from '../../src/server.ts';
import { type Operation, pluginOperations } from '../core/client/plugin-operations.ts';
import { PLUGIN } from '../core/client/records.ts';
import type { Rule } from '../support/scripted-server-rules.ts';
import { startScriptedServer } from '../support/scripted-server-node.ts';
import { ENVIRONMENT_TOKEN, IDENT } from './endpoint-fixture.ts';

export const HERE = { environment: 'com.acme' };
export const TENANT = { identifier: IDENT };
export const LOCATION = { identifier: IDENT, pluginName: 'add-record' };

export const TENANT_RECORD = {
  environment: 'com.acme',
  tenant: 'customer-7',
  ident: IDENT,
  description: 'Seven',
  suspended: false,
  createdAt: '2031-01-02T03:04:05Z',
  plugins: 2,
  limits: { plugins: 10 },
  more: { kept: true },
};
const DAY = {
  day: '2031-01-02',
  tenant: 'customer-7',
  runs: 3,
  failures: 1,
  milliseconds: 4.5,
  builds: 0,
};
export const CREATED = {
  token: 'editor-1',
  expires_in: 900,
  permissions: ['read', 'write', 'deploy'],
  more: 1,
};
const WEBHOOK = { ...HERE, webhook: '1' };
const WEBHOOK_RECORD = {
  id: '1',
  url: 'https://a.example/',
  events: ['plugin.live'],
  enabled: false,
  disabledReason: 'gone',
  createdAt: '2031-01-02T03:04:05Z',
};
const DELIVERY = {
  id: 'msg_2',
  type: 'plugin.live',
  createdAt: '2031-01-02T03:04:05Z',
  status: 'pending',
  attempts: [{ at: '2031-01-02T03:04:05Z', error: 'refused', took: 1 }],
  nextAt: '2031-01-02T03:04:10Z',
};
const LIBRARY = { name: 'rates', version: '1.0.0', bytes: 9, createdAt: '2031-01-02T03:04:05Z' };
const VALUES = {
  connections: [{ namespace: 'default', connection: 'rates', updatedAt: '2031-01-02T03:04:05Z' }],
};
const TYPES = {
  description: 'Prices',
  input: { type: 'object' },
  output: true,
  samples: [{ name: 'a', input: {}, output: 1 }],
  templates: { javascript: '' },
};

export async function start(options: Partial<EnvironmentClientOptions>, ...rules: Omit<Rule, 'path'>[]) {
  const service = await startScriptedServer(...rules.map((rule) => ({ path: '*', ...rule })));
  const client = new EnvironmentClient({
    builderUrl: service.url(),
    environmentToken: ENVIRONMENT_TOKEN,
    ...options,
  });
  return { service, client, [Symbol.asyncDispose]: () => service[Symbol.asyncDispose]() };
}

export const OPERATIONS: Operation<EnvironmentClient>[] = [
  [
    'listTenants',
    (c, o) => c.listTenants(HERE, { limit: 2, after: 'c', ...o }),
    'GET /api/v1/environment/com.acme?limit=2&after=c',
    { environment: 'com.acme', tenants: [TENANT_RECORD], next: 'c2' },
  ],
  ['getTenant', (c, o) => c.getTenant(TENANT, o), `GET /api/v1/tenant/${IDENT}`, TENANT_RECORD],
  [
    'createTenant',
    (c, o) => c.createTenant(TENANT, { description: 'Seven', limits: { plugins: 10 } }, o),
    `POST /api/v1/tenant/${IDENT} {"description":"Seven","limits":{"plugins":10}}`,
    TENANT_RECORD,
  ],
  [
    'createTenant without details',
    (c, o) => c.createTenant(TENANT, undefined, o),
    `POST /api/v1/tenant/${IDENT} {}`,
    TENANT_RECORD,
  ],
  [
    'updateTenant',
    (c, o) => c.updateTenant(TENANT, { suspended: true }, o),
    `PATCH /api/v1/tenant/${IDENT} {"suspended":true}`,
    TENANT_RECORD,
  ],
  [
    'updateTenant with a limit that is taken back',
    (c, o) => c.updateTenant(TENANT, { limits: { plugins: null } }, o),
    `PATCH /api/v1/tenant/${IDENT} {"limits":{"plugins":null}}`,
    TENANT_RECORD,
  ],
  ['deleteTenant', (c, o) => c.deleteTenant(TENANT, o), `DELETE /api/v1/tenant/${IDENT}`, undefined],
  [
    'createSession for a plugin',
    (c, o) => c.createSession(TENANT, { scope: 'plugin', fn: 'add-record' }, o),
    `POST /api/v1/tenant/${IDENT}/session {"fn":"add-record"}`,
    CREATED,
  ],
  [
    'createSession for a plugin of a namespace',
    (c, o) => c.createSession(TENANT, { scope: 'plugin', fn: 'a', namespace: 'n', expires_in: 60 }, o),
    `POST /api/v1/tenant/${IDENT}/session {"fn":"a","namespace":"n","expires_in":60}`,
    CREATED,
  ],
  [
    'createSession for a namespace',
    (c, o) => c.createSession(TENANT, { scope: 'namespace', namespace: 'n', permissions: ['read'] }, o),
    `POST /api/v1/tenant/${IDENT}/session {"namespace":"n","permissions":["read"]}`,
    { ...CREATED, permissions: ['read'] },
  ],
  [
    'createSession for a tenant',
    (c, o) => c.createSession(TENANT, { scope: 'tenant', actor: 'u-1' }, o),
    `POST /api/v1/tenant/${IDENT}/session {"actor":"u-1"}`,
    { ...CREATED, actor: 'u-1' },
  ],
  ['endSessions', (c, o) => c.endSessions(TENANT, o), `DELETE /api/v1/tenant/${IDENT}/sessions`, undefined],
  [
    'endSessions of an actor',
    (c, o) => c.endSessions(TENANT, { actor: 'u 1', ...o }),
    `DELETE /api/v1/tenant/${IDENT}/sessions?actor=u+1`,
    undefined,
  ],
  [
    'listPlugins',
    (c, o) => c.listPlugins(TENANT, { namespace: 'n', ...o }),
    `GET /api/v1/tenant/${IDENT}/plugins?namespace=n`,
    { plugins: [PLUGIN] },
  ],
  ...pluginOperations(LOCATION),
  [
    'deletePlugin',
    (c, o) => c.deletePlugin({ ...LOCATION, namespace: 'n' }, o),
    `DELETE /api/v1/plugin/${IDENT}/n/add-record`,
    undefined,
  ],
  [
    'getUsage',
    (c, o) => c.getUsage(HERE, { from: '2031-01-01', to: '2031-01-02', tenant: 't', by: 'plugin', ...o }),
    'GET /api/v1/environment/com.acme/usage?from=2031-01-01&to=2031-01-02&tenant=t&by=plugin',
    { days: [DAY] },
  ],
  [
    'listTokens',
    (c, o) => c.listTokens(HERE, { limit: 3, ...o }),
    'GET /api/v1/environment/com.acme/tokens?limit=3',
    { tokens: [{ id: '1', holder: 'h', createdAt: 'now', endsAt: 'then' }] },
  ],
  [
    'listAudit',
    (c, o) => c.listAudit(HERE, { action: 'plugin.live', actor: 'u 1', ...o }),
    'GET /api/v1/environment/com.acme/audit?action=plugin.live&actor=u+1',
    {
      entries: [{ id: '1', at: 'now', action: 'plugin.live', by: { kind: 'operator' }, requestId: '2' }],
      next: 'a',
    },
  ],
  [
    'createToken',
    (c, o) => c.createToken(HERE, { holder: 'h', overlap: 60, scopes: ['run'] }, o),
    'POST /api/v1/environment/com.acme/tokens {"holder":"h","overlap":60,"scopes":["run"]}',
    { id: '2', token: 'env-2' },
  ],
  [
    'deleteToken',
    (c, o) => c.deleteToken({ ...HERE, id: '2' }, o),
    'DELETE /api/v1/environment/com.acme/tokens/2',
    undefined,
  ],
  [
    'listNamespaces',
    (c, o) => c.listNamespaces(HERE, { limit: 1, ...o }),
    'GET /api/v1/environment/com.acme/namespaces?limit=1',
    { namespaces: [{ namespace: 'n' }] },
  ],
  [
    'getNamespace',
    (c, o) => c.getNamespace({ ...HERE, namespace: 'n' }, o),
    'GET /api/v1/environment/com.acme/namespaces/n',
    TYPES,
  ],
  [
    'setNamespace',
    (c, o) => c.setNamespace({ ...HERE, namespace: 'n' }, TYPES, o),
    `PUT /api/v1/environment/com.acme/namespaces/n ${JSON.stringify(TYPES)}`,
    TYPES,
  ],
  [
    'deleteNamespace',
    (c, o) => c.deleteNamespace({ ...HERE, namespace: 'n' }, o),
    'DELETE /api/v1/environment/com.acme/namespaces/n',
    undefined,
  ],
  [
    'listLibraries',
    (c, o) => c.listLibraries(HERE, { limit: 1, ...o }),
    'GET /api/v1/environment/com.acme/libraries?limit=1',
    { libraries: [LIBRARY] },
  ],
  [
    'getLibrary',
    (c, o) => c.getLibrary({ ...HERE, library: 'rates', version: '1.0.0' }, o),
    'GET /api/v1/environment/com.acme/libraries/rates/1.0.0',
    { ...LIBRARY, contents: 'export {}' },
  ],
  [
    'putLibrary whose name has a scope',
    (c, o) =>
      c.putLibrary({ ...HERE, library: '@acme/rates', version: '1.0.0' }, { contents: 'export {}' }, o),
    'PUT /api/v1/environment/com.acme/libraries/%40acme/rates/1.0.0 {"contents":"export {}"}',
    LIBRARY,
  ],
  [
    'deleteLibrary',
    (c, o) => c.deleteLibrary({ ...HERE, library: 'rates', version: '1.0.0' }, o),
    'DELETE /api/v1/environment/com.acme/libraries/rates/1.0.0',
    undefined,
  ],
  [
    'listConnectionValues of a tenant',
    (c, o) => c.listConnectionValues(TENANT, { limit: 1, ...o }),
    `GET /api/v1/tenant/${IDENT}/connections?limit=1`,
    VALUES,
  ],
  [
    'listConnectionValues of an environment',
    (c, o) => c.listConnectionValues(HERE, o),
    'GET /api/v1/environment/com.acme/connections',
    VALUES,
  ],
  [
    'setConnectionValue of a tenant',
    (c, o) =>
      c.setConnectionValue(
        { ...TENANT, connection: 'rates' },
        { value: 'v', origin: 'https://a.example' },
        o,
      ),
    `PUT /api/v1/tenant/${IDENT}/connections/default/rates {"value":"v","origin":"https://a.example"}`,
    undefined,
  ],
  [
    'setConnectionValue of an environment',
    (c, o) => c.setConnectionValue({ ...HERE, namespace: 'n', connection: 'rates' }, { value: 'v' }, o),
    'PUT /api/v1/environment/com.acme/connections/n/rates {"value":"v"}',
    undefined,
  ],
  [
    'deleteConnectionValue',
    (c, o) => c.deleteConnectionValue({ ...TENANT, connection: 'rates' }, o),
    `DELETE /api/v1/tenant/${IDENT}/connections/default/rates`,
    undefined,
  ],
  [
    'createWebhook',
    (c, o) => c.createWebhook(HERE, { url: WEBHOOK_RECORD.url, events: ['plugin.live'] }, o),
    'POST /api/v1/environment/com.acme/webhooks {"url":"https://a.example/","events":["plugin.live"]}',
    { ...WEBHOOK_RECORD, secret: 'whsec_' },
  ],
  [
    'listWebhooks',
    (c, o) => c.listWebhooks(HERE, { limit: 1, ...o }),
    'GET /api/v1/environment/com.acme/webhooks?limit=1',
    { webhooks: [WEBHOOK_RECORD], next: 'w' },
  ],
  [
    'getWebhook',
    (c, o) => c.getWebhook(WEBHOOK, o),
    'GET /api/v1/environment/com.acme/webhooks/1',
    WEBHOOK_RECORD,
  ],
  [
    'updateWebhook',
    (c, o) => c.updateWebhook(WEBHOOK, { enabled: true }, o),
    'PATCH /api/v1/environment/com.acme/webhooks/1 {"enabled":true}',
    WEBHOOK_RECORD,
  ],
  [
    'deleteWebhook',
    (c, o) => c.deleteWebhook(WEBHOOK, o),
    'DELETE /api/v1/environment/com.acme/webhooks/1',
    undefined,
  ],
  [
    'rotateWebhookSecret',
    (c, o) => c.rotateWebhookSecret(WEBHOOK, o),
    'POST /api/v1/environment/com.acme/webhooks/1/secret',
    { secret: 'whsec_' },
  ],
  [
    'listDeliveries',
    (c, o) => c.listDeliveries(WEBHOOK, { after: 'd', ...o }),
    'GET /api/v1/environment/com.acme/webhooks/1/deliveries?after=d',
    { deliveries: [DELIVERY] },
  ],
  [
    'resendDelivery',
    (c, o) => c.resendDelivery({ ...WEBHOOK, delivery: 'msg_2' }, o),
    'POST /api/v1/environment/com.acme/webhooks/1/deliveries/msg_2/resend',
    undefined,
  ],
];
