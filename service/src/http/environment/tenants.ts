import * as z from 'zod';
import type { ServiceContext, ServiceInterface } from '../context.ts';
import { ServiceError } from '../errors.ts';
import { empty, json } from '../operations/responses.ts';
import { jsonBody, optionalJsonBody } from '../operations/bodies.ts';
import { operation } from '../operations/operation.ts';
import { pageQuery, pagingBy, rowsForOldClients } from '../paging.ts';
import { checkStorable } from '../grant-schemas.ts';
import {
  countPlugins,
  createTenant,
  deleteTenant,
  findTenant,
  listTenants,
  updateTenant,
} from '../../storage/tables/tenants.ts';
import type { Tenant, TenantChanges } from '../../storage/tables/tenants.ts';
import {
  descriptionSchema,
  limitSchema,
  tenantNotFound,
  tenantSchema,
  toTenantDetails,
  usageOf,
} from './tenant-details.ts';
import { lockTenant } from '../../storage/db.ts';

const path = '/api/v1/tenant/:ident';

const changesSchema = z.object({
  description: descriptionSchema.optional(),
  suspended: z.boolean().optional(),
  limits: z
    .object({ plugins: limitSchema.nullable().optional(), runsPerMinute: limitSchema.nullable().optional() })
    .optional()
    .meta({
      description:
        'How many plugins, and runs a minute, the tenant may have; `null` for what the settings of the service say.',
    }),
});

const body = { description: 'What is to be set; what is not named stays as it is.' };

const paging = pagingBy('text');

/** A vendor's tenants. */
export const tenants: ServiceInterface = {
  operations: [
    operation({
      id: 'listTenants',
      method: 'GET',
      path: '/api/v1/environment/:environment',
      summary: 'List the tenants',
      description: 'In the order of the bytes of their names.',
      tag: 'environment',
      auth: 'environment',
      query: z.object(pageQuery(rowsForOldClients)),
      responses: {
        200: json(
          z
            .object({
              environment: z.string(),
              tenants: z.array(tenantSchema),
              next: z.string().optional().meta({ description: '`after` of the next page.' }),
            })
            .meta({ id: 'TenantList' }),
          { description: 'The tenants.' },
        ),
      },
      handle: async ({ target: { environment }, query }, { storage }) => {
        const list = { operation: 'listTenants', filter: { environment } };
        const request = paging.readRequest(list, query);
        const found = await listTenants(storage.db, environment, {
          after: request.after?.[0],
          limit: request.limit + 1,
        });
        const { items, next } = paging.toPage(
          list,
          request,
          found,
          ({ tenant }) => [tenant],
          (row) => toTenantDetails(row, row.plugins),
        );
        return { status: 200, body: { environment, tenants: items, ...next } };
      },
    }),

    operation({
      id: 'getTenant',
      method: 'GET',
      path,
      summary: 'One tenant',
      tag: 'environment',
      auth: 'environment',
      responses: { 200: json(tenantSchema, { description: 'The tenant.' }) },
      errors: { 404: ['tenant-not-found'] },
      handle: async ({ target }, context) => {
        const tenant = await findTenant(context.storage.db, target);
        return { status: 200, body: await toDetails(context, tenant) };
      },
    }),

    operation({
      id: 'createTenant',
      method: 'POST',
      path,
      summary: 'Create a tenant',
      description: 'A tenant that was deleted is created anew, without anything that it had before.',
      tag: 'environment',
      auth: 'environment',
      body: optionalJsonBody(changesSchema, body),
      responses: { 201: json(tenantSchema, { description: 'The new tenant.' }) },
      errors: { 409: ['tenant-exists'] },
      handle: async ({ target, body: asked = {} }, context) => {
        const { storage, now } = context;
        const changes = toChanges(asked);
        const tenant = await storage.transaction((db) => createTenant(db, target, changes, now()));
        if (!tenant) throw new ServiceError(409, 'tenant-exists', 'There is such a tenant already.');
        return {
          status: 201,
          body: { ...toTenantDetails(tenant, 0), usage: await usageOf(context, target) },
        };
      },
    }),

    operation({
      id: 'updateTenant',
      method: 'PATCH',
      path,
      summary: 'Change a tenant',
      tag: 'environment',
      auth: 'environment',
      body: jsonBody(changesSchema, body),
      responses: { 200: json(tenantSchema, { description: 'The tenant as it is now.' }) },
      errors: { 404: ['tenant-not-found'] },
      handle: async ({ target, body: asked }, context) => {
        const changes = toChanges(asked);
        const tenant = await context.storage.transaction((db) => updateTenant(db, target, changes));
        return { status: 200, body: await toDetails(context, tenant) };
      },
    }),

    operation({
      id: 'deleteTenant',
      method: 'DELETE',
      path,
      summary: 'Delete a tenant with all that it has',
      description:
        'From the response on nothing of it can be read, and it gets no tokens unless it is created anew. It is erased within a minute.',
      tag: 'environment',
      auth: 'environment',
      responses: { 204: empty({ description: 'The tenant was deleted.' }) },
      errors: { 404: ['tenant-not-found'] },
      handle: async ({ target }, { storage, now, eraser }) => {
        const isDeleted = await storage.transaction(async (db) => {
          await lockTenant(db, target);
          return deleteTenant(db, target, now());
        }, target);
        if (!isDeleted) throw tenantNotFound();
        eraser.wake();
        return { status: 204 };
      },
    }),
  ],
};

function toChanges({ description, suspended, limits }: z.output<typeof changesSchema>): TenantChanges {
  checkStorable({ description });
  return {
    ...(description !== undefined && { description }),
    ...(suspended !== undefined && { isSuspended: suspended }),
    ...(limits && {
      limits: {
        ...(limits.plugins !== undefined && { plugins: limits.plugins }),
        ...(limits.runsPerMinute !== undefined && { runsPerMinute: limits.runsPerMinute }),
      },
    }),
  };
}

async function toDetails(context: ServiceContext, tenant: Tenant | undefined) {
  if (!tenant) throw tenantNotFound();
  const plugins = await countPlugins(context.storage.db, tenant);
  return { ...toTenantDetails(tenant, plugins), usage: await usageOf(context, tenant) };
}
