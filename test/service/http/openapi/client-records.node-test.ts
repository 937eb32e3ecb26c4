import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as z from 'zod';
import * as records from '../../../../src/core/client/records.ts';
import { featuresSchema, pluginSourceSchema } from '../../../../src/core/records.ts';
import * as environment from '../../../../src/server/environment-records.ts';
import * as connections from '../../../../src/server/connection-records.ts';
import * as webhooks from '../../../../src/server/webhook-records.ts';
import { startService } from '../../harness.ts';
import { type OpenApi, type Schema, operationsOf, resolved } from './openapi.ts';

/*
 * The service and the clients each declare the records of responses: neither package imports the other, and a client accepts what
 * it does not know. So the clients' records are compared with the OpenAPI document, which is made of the service's.
 */

/** By `operationId`: the record that the clients read its response with. */
const RECORDS: Readonly<Record<string, z.core.$ZodType>> = {
  getFeatures: featuresSchema,
  readDraft: pluginSourceSchema,
  getTemplate: pluginSourceSchema,
  buildDraft: records.buildResultSchema,
  checkSource: records.checkResultSchema,
  testDraft: records.testResultSchema,
  testSource: records.testResultSchema,
  deployDraft: records.deploymentSchema,
  getProgress: records.progressSchema,
  listRuns: records.runPageSchema,
  replayRuns: records.replaySchema,
  getRun: records.runSchema,
  getUsage: environment.usagePageSchema,
  listAudit: environment.auditPageSchema,
  listTenants: environment.tenantPageSchema,
  getTenant: environment.tenantSchema,
  createSession: environment.createdSessionSchema,
  getSession: records.sessionSchema,
  listTokens: environment.environmentTokensSchema,
  createToken: environment.createdTokenSchema,
  listPlugins: records.pluginPageSchema,
  getPlugin: records.pluginSchema,
  listVersions: records.versionPageSchema,
  getVersion: records.versionSourceSchema,
  getRollout: records.rolloutSchema,
  listNamespaces: environment.namespacePageSchema,
  setNamespace: environment.namespaceSchema,
  getTypes: records.pluginTypesSchema,
  listTenantConnectionValues: connections.connectionValuePageSchema,
  listEnvironmentConnectionValues: connections.connectionValuePageSchema,
  listWebhooks: webhooks.webhookPageSchema,
  createWebhook: webhooks.createdWebhookSchema,
  getWebhook: webhooks.webhookSchema,
  updateWebhook: webhooks.webhookSchema,
  rotateWebhookSecret: webhooks.webhookSecretSchema,
  listDeliveries: webhooks.deliveryPageSchema,
};

/** Fields that only the clients name: tests of former releases are any JSON, and the record of the list is that of `setNamespace`. */
const ONLY_IN_CLIENTS = /^(?:tests\[\]\.\w+|namespaces\[\]\.warnings.*)$/;

/** Each field by its path, such as `plugins[].live`, and whether it is required. */
function fieldsOf(schema: Schema, resolve: (schema: Schema) => Schema, path = ''): Map<string, boolean> {
  const fields = new Map<string, boolean>();
  const visit = (given: Schema, at: string) => {
    const { anyOf = [], oneOf = [], items, properties = {}, required = [] } = resolve(given);
    for (const one of [...anyOf, ...oneOf]) visit(one, at);
    if (items) visit(items, `${at}[]`);
    for (const [name, field] of Object.entries(properties)) {
      const place = at ? `${at}.${name}` : name;
      fields.set(place, required.includes(name));
      visit(field, place);
    }
  };
  visit(schema, path);
  return fields;
}

describe('the records of the clients', () => {
  test('have the fields of the responses of the service, and require none that may be missing', async (t) => {
    const { fetch } = await startService(t);
    const document = (await (await fetch('/openapi.json')).json()) as OpenApi;
    const found: Record<string, unknown> = {};
    for (const { operationId, responses } of operationsOf(document)) {
      const record = RECORDS[operationId];
      if (!record) continue;
      const [, response = assert.fail()] =
        Object.entries(responses).find(([status]) => status.startsWith('2')) ?? [];
      const schema = Object.values(resolved(document, response).content ?? {})[0]?.schema ?? assert.fail();
      const service = fieldsOf(schema, (one) => resolved(document, one));
      const client = fieldsOf(
        z.toJSONSchema(record, { io: 'input', unrepresentable: 'any' }) as Schema,
        (one) => one,
      );
      const onlyService = [...service.keys()].filter((name) => !client.has(name));
      const onlyClient = [...client.keys()].filter(
        (name) => !service.has(name) && !ONLY_IN_CLIENTS.test(name),
      );
      const tooStrict = [...client].filter(([name, isRequired]) => isRequired && service.get(name) === false);
      if (onlyService.length + onlyClient.length + tooStrict.length > 0)
        found[operationId] = { onlyService, onlyClient, tooStrict: tooStrict.map(([name]) => name) };
    }
    assert.deepEqual(found, {});
  });
});
