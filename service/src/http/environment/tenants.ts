import * as z from 'zod';
import { writeAudit } from '../../audit/entries.ts';
import { auditStamp } from '../audit-stamp.ts';
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
  checkLimits,
  limitChangesSchema,
  tenantNotFound,
  tenantSchema,
  toTenantDetails,
  usageOf,
} from './tenant-details.ts';
import { stopRolloutsOf } from './rollouts.ts';
import { lockTenant } from '../../storage/db.ts';

const path = '/api/v1/tenant/:ident';

const changesSchema = z
  .object({
    description: descriptionSchema.optional(),
    suspended: z.boolean().optional().meta({
      description: '`true`: the service refuses its tokens, gives it no new ones, and starts no runs.',
    }),
    limits: limitChangesSchema.optional(),
  })
  .meta({ id: 'TenantDetails' });

const body = { description: 'The fields to set; `PATCH` leaves the others as they are.' };

const pageOf = pagingBy('text');

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
      scope: 'read',
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
        const page = pageOf({ operation: 'listTenants', filter: { environment } }, query);
        const found = await listTenants(storage.db, environment, {
          after: page.after?.[0],
          limit: page.limit,
        });
        const { items, next } = page.of(
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
      scope: 'read',
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
      scope: 'manage',
      body: optionalJsonBody(changesSchema, body),
      responses: { 201: json(tenantSchema, { description: 'The new tenant.' }) },
      errors: { 409: ['tenant-exists'] },
      handle: async ({ c, target, caller, body: asked = {} }, context) => {
        const { storage, now } = context;
        const changes = toChanges(asked, context);
        const stamp = auditStamp(c, caller, context);
        const tenant = await storage.transaction(async (db) => {
          const created = await createTenant(db, target, changes, now(), caller.actor);
          if (!created) return undefined;
          await writeAudit(db, { ...stamp, action: 'tenant.created', target, details: { ...asked } });
          return created;
        });
        if (!tenant)
          throw new ServiceError(
            409,
            'tenant-exists',
            `There is a tenant "${target.tenant}" already; PATCH changes it.`,
          );
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
      scope: 'manage',
      body: jsonBody(changesSchema, body),
      responses: { 200: json(tenantSchema, { description: 'The tenant as it is now.' }) },
      errors: { 404: ['tenant-not-found'] },
      handle: async ({ c, target, caller, body: asked }, context) => {
        const changes = toChanges(asked, context);
        const stamp = auditStamp(c, caller, context);
        const tenant = await context.storage.transaction(async (db) => {
          const changed = await updateTenant(db, target, changes, caller.actor);
          if (!changed) return undefined;
          const { before, after } = changed;
          const { suspended: _, ...details } = asked;
          if (Object.keys(details).length)
            await writeAudit(db, { ...stamp, action: 'tenant.changed', target, details });
          if (before.isSuspended !== after.isSuspended) {
            const action = after.isSuspended ? 'tenant.suspended' : 'tenant.resumed';
            await writeAudit(db, { ...stamp, action, target });
          }
          return after;
        }, target);
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
      scope: 'manage',
      responses: { 204: empty({ description: 'The tenant was deleted.' }) },
      errors: { 404: ['tenant-not-found'] },
      handle: async ({ c, target, caller }, context) => {
        const { storage, now, eraser } = context;
        const stamp = auditStamp(c, caller, context);
        const isDeleted = await storage.transaction(async (db) => {
          await lockTenant(db, target);
          await stopRolloutsOf(db, target, stamp);
          const wasThere = await deleteTenant(db, target, now());
          if (wasThere) await writeAudit(db, { ...stamp, action: 'tenant.deleted', target });
          return wasThere;
        }, target);
        if (!isDeleted) throw tenantNotFound();
        eraser.wake();
        return { status: 204 };
      },
    }),
  ],
};

function toChanges(
  { description, suspended, limits }: z.output<typeof changesSchema>,
  context: ServiceContext,
): TenantChanges {
  checkStorable({ description });
  if (limits) checkLimits(limits, context);
  return {
    ...(description !== undefined && { description }),
    ...(suspended !== undefined && { isSuspended: suspended }),
    ...(limits && { limits }),
  };
}

async function toDetails(context: ServiceContext, tenant: Tenant | undefined) {
  if (!tenant) throw tenantNotFound();
  const plugins = await countPlugins(context.storage.db, tenant);
  return { ...toTenantDetails(tenant, plugins), usage: await usageOf(context, tenant) };
}
