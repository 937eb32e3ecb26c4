import * as z from 'zod';
import { writeAudit } from '../../audit/entries.ts';
import type { AuditStamp } from '../../audit/entries.ts';
import { isWildcard } from '../../plugins/connections.ts';
import type { Connection } from '../../plugins/connections.ts';
import { valueContext } from '../../outbound/calls.ts';
import { isCovered } from '../../outbound/grants.ts';
import { isHeaderValue } from '../../outbound/headers.ts';
import type { Db, Transaction } from '../../storage/db.ts';
import {
  deleteConnectionValue,
  findOwnerId,
  listConnectionValues,
  lockNamespace,
  setConnectionValue,
} from '../../storage/tables/connection-values.ts';
import type { ValueOwner } from '../../storage/tables/connection-values.ts';
import { findNamespace } from '../../storage/tables/namespaces.ts';
import type { NamespaceKey } from '../../storage/tables/namespaces.ts';
import { auditStamp } from '../audit-stamp.ts';
import type { ServiceContext, ServiceInterface } from '../context.ts';
import type { ErrorList } from '../error-codes.ts';
import { notFound, ServiceError } from '../errors.ts';
import { jsonBody } from '../operations/bodies.ts';
import { operation } from '../operations/operation.ts';
import { empty, json } from '../operations/responses.ts';
import { pageQuery, pagingBy } from '../paging.ts';
import { maxValueBytes } from './connection-details.ts';
import { timeSchema, toTime } from './plugin-details.ts';
import { tenantNotFound } from './tenant-details.ts';

const ofTenant = '/api/v1/tenant/:ident/connections';
const ofEnvironment = '/api/v1/environment/:environment/connections';

const valueSchema = z
  .object({
    value: z
      .string()
      .min(1)
      .refine(
        (value) => Buffer.byteLength(value) <= maxValueBytes,
        `must have at most ${maxValueBytes} bytes`,
      )
      .refine(isHeaderValue, 'must be what a header may hold, without white space at its ends')
      .optional()
      .meta({ description: 'The secret: what the header holds after the prefix. At most 8 KiB.' }),
    origin: z.string().max(300).optional().meta({
      description: 'The origin of this tenant, for a connection with a wildcard.',
    }),
  })
  .meta({ id: 'ConnectionValue', examples: [{ value: 'a-key-of-the-tenant' }] });

const body = jsonBody(valueSchema, { description: 'The fields to set; a missing one stays as it is.' });

const listSchema = z
  .object({
    connections: z.array(
      z.object({
        namespace: z.string(),
        connection: z.string(),
        origin: z.string().optional(),
        updatedAt: timeSchema,
      }),
    ),
    next: z.string().optional(),
  })
  .meta({ id: 'ConnectionValueList' });

const list = json(listSchema, { description: 'A page of the connections that have a value or an origin.' });

const writeErrors: ErrorList = {
  404: ['connection-not-found', 'tenant-not-found'],
  503: ['secrets-unavailable'],
};
const deleteErrors: ErrorList = { 404: ['connection-not-found', 'tenant-not-found'] };

const pageOf = pagingBy('text', 'text');

/** The values for what plugins may reach: credentials, and the origins of tenants. */
export const connections: ServiceInterface = {
  operations: [
    operation({
      id: 'listTenantConnectionValues',
      method: 'GET',
      path: ofTenant,
      summary: 'List the connections for which a tenant has a value',
      description: 'Sorted by namespace and connection. No response holds a value.',
      tag: 'connections',
      auth: 'environment',
      scope: 'read',
      query: z.object(pageQuery()),
      responses: { 200: list },
      errors: { 404: ['tenant-not-found'] },
      handle: async ({ target, query }, context) => ({
        status: 200,
        body: await listValues(context, 'listTenantConnectionValues', target, query),
      }),
    }),
    operation({
      id: 'setTenantConnectionValue',
      method: 'PUT',
      path: `${ofTenant}/:namespace/:connection`,
      summary: 'Set the value of a tenant for a connection',
      description: 'The value is stored encrypted, and never returned.',
      tag: 'connections',
      auth: 'environment',
      scope: 'manage',
      body,
      responses: {
        204: empty({ description: 'The value is set, from the next request of every plugin on.' }),
      },
      errors: writeErrors,
      handle: ({ c, caller, target, path, body: given }, context) =>
        changeValue(context, target, path, auditStamp(c, caller, context), given),
    }),
    operation({
      id: 'deleteTenantConnectionValue',
      method: 'DELETE',
      path: `${ofTenant}/:namespace/:connection`,
      summary: 'Delete the value of a tenant for a connection',
      description: 'The tenant then uses the value of the environment, if there is one.',
      tag: 'connections',
      auth: 'environment',
      scope: 'manage',
      responses: { 204: empty({ description: 'The value was deleted.' }) },
      errors: deleteErrors,
      handle: ({ c, caller, target, path }, context) =>
        changeValue(context, target, path, auditStamp(c, caller, context)),
    }),
    operation({
      id: 'listEnvironmentConnectionValues',
      method: 'GET',
      path: ofEnvironment,
      summary: 'List the connections for which the environment has a value',
      description: 'Sorted by namespace and connection. No response holds a value.',
      tag: 'connections',
      auth: 'environment',
      scope: 'read',
      query: z.object(pageQuery()),
      responses: { 200: list },
      handle: async ({ target, query }, context) => ({
        status: 200,
        body: await listValues(context, 'listEnvironmentConnectionValues', target, query),
      }),
    }),
    operation({
      id: 'setEnvironmentConnectionValue',
      method: 'PUT',
      path: `${ofEnvironment}/:namespace/:connection`,
      summary: 'Set the value of the environment for a connection',
      description:
        'Tenants without a value of their own use it. It is stored encrypted, and never returned. A connection with a wildcard cannot have one.',
      tag: 'connections',
      auth: 'environment',
      scope: 'manage',
      body,
      responses: {
        204: empty({ description: 'The value is set, from the next request of every plugin on.' }),
      },
      errors: { 404: ['connection-not-found'], 503: ['secrets-unavailable'] },
      handle: ({ c, caller, target, path, body: given }, context) =>
        changeValue(context, target, path, auditStamp(c, caller, context), given),
    }),
    operation({
      id: 'deleteEnvironmentConnectionValue',
      method: 'DELETE',
      path: `${ofEnvironment}/:namespace/:connection`,
      summary: 'Delete the value of the environment for a connection',
      tag: 'connections',
      auth: 'environment',
      scope: 'manage',
      responses: { 204: empty({ description: 'The value was deleted.' }) },
      errors: { 404: ['connection-not-found'] },
      handle: ({ c, caller, target, path }, context) =>
        changeValue(context, target, path, auditStamp(c, caller, context)),
    }),
    operation({
      id: 'getKeySet',
      method: 'GET',
      path: '/.well-known/jwks.json',
      summary: 'The keys that verify the identities of plugins',
      description:
        'A JSON Web Key Set. A key is published an hour before its first use, and for an hour after its last.',
      tag: 'connections',
      auth: 'none',
      responses: {
        200: json(
          z
            .object({ keys: z.array(z.looseObject({ kty: z.string(), kid: z.string() })) })
            .meta({ id: 'KeySet' }),
          {
            description: 'The public keys.',
          },
        ),
      },
      handle: async (_, { identity }) => ({ status: 200, body: await identity.keySet() }),
    }),
  ],
};

type Value = z.output<typeof valueSchema>;

/** Sets a value, or without one deletes what there is. */
async function changeValue(
  { storage, secrets, guard, now }: ServiceContext,
  owner: ValueOwner,
  { namespace, connection: name }: { readonly namespace: string; readonly connection: string },
  stamp: AuditStamp,
  given?: Value,
): Promise<{ status: 204 }> {
  const key = { environment: owner.environment, namespace };
  await storage.transaction(async (db) => {
    await lockNamespace(db, key);
    const connection = await requireConnection(db, key, name);
    const ownerId = await requireOwner(db, owner, true);
    const row = { ...key, ownerId, connection: name };
    if (given) {
      const { value, origin } = given;
      checkValue(connection, owner, given);
      const refusal = origin === undefined ? undefined : guard.refusal(origin);
      if (refusal !== undefined) throw invalidValue('origin', refusal);
      const sealed =
        value === undefined ? undefined : secrets.seal(value, valueContext(key, { tenantId: ownerId }, name));
      await setConnectionValue(db, row, { sealed, origin }, now());
    } else {
      await deleteConnectionValue(db, row);
    }
    await writeAudit(db, {
      ...stamp,
      action: given ? 'connection-value.set' : 'connection-value.deleted',
      target: { ...key, ...(owner.tenant !== undefined && { tenant: owner.tenant }) },
      details: { connection: name, ...(given?.origin !== undefined && { origin: given.origin }) },
    });
  });
  return { status: 204 };
}

/** Throws 422 for what a connection cannot have. */
function checkValue(connection: Connection, { tenant }: ValueOwner, { value, origin }: Value): void {
  const { name, credential } = connection;
  if (value === undefined && origin === undefined) throw invalidValue('value', 'or "origin" must be there');
  if (isWildcard(connection)) {
    if (tenant === undefined)
      throw invalidValue('value', `must be set for each tenant, because "${name}" has a wildcard`);
    if (origin !== undefined && !isCovered(origin, connection.origin))
      throw invalidValue('origin', `must be one that ${connection.origin} covers`);
  } else if (origin !== undefined) {
    throw invalidValue('origin', `must be left out, because "${name}" has no wildcard`);
  }
  if (value !== undefined && credential?.type !== 'header') {
    const why = credential ? 'sends an identity' : 'has no credential';
    throw invalidValue('value', `must be left out, because "${name}" ${why}`);
  }
}

const invalidValue = (field: string, message: string) =>
  new ServiceError(422, 'invalid-body', `${field}: ${message}.`, { path: `/${field}` });

async function requireConnection(db: Transaction, key: NamespaceKey, name: string): Promise<Connection> {
  const record = await findNamespace(db, key);
  const found = record?.details.connections?.find((connection) => connection.name === name);
  if (!found) {
    const message = `The namespace "${key.namespace}" has no connection "${name}".`;
    throw notFound('connection-not-found', message);
  }
  return found;
}

async function requireOwner(db: Db, owner: ValueOwner, isKept: boolean): Promise<number> {
  const found = await findOwnerId(db, owner, isKept);
  if (found === undefined) throw tenantNotFound();
  return found;
}

async function listValues(
  { storage }: ServiceContext,
  operationId: string,
  { environment, tenant }: ValueOwner,
  query: { readonly limit: number; readonly after?: string | undefined },
): Promise<z.input<typeof listSchema>> {
  const page = pageOf({ operation: operationId, filter: { environment, tenant } }, query);
  const ownerId = await requireOwner(storage.db, { environment, tenant }, false);
  const found = await listConnectionValues(storage.db, { environment, ownerId }, page);
  const { items, next } = page.of(
    found,
    ({ namespace, connection }) => [namespace, connection],
    ({ namespace, connection, origin, updated_at: updatedAt }) => ({
      namespace,
      connection,
      ...(origin !== null && { origin }),
      updatedAt: toTime(updatedAt),
    }),
  );
  return { connections: items, ...next };
}
