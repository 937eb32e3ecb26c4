import { eachPage, HttpError } from 'plugin-editor/server.js';
import type { EnvironmentClient, Tenant } from 'plugin-editor/server.js';
import type { Hono } from 'hono';
import * as z from 'zod/mini';
import { ENVIRONMENT, findTenant, identOf, nameOfActor, tenants } from './accounts.ts';
import { readBody } from './body.ts';
import { callService, Refusal } from './refusals.ts';
import type { Guards } from './sign-in.ts';
import type { VendorStore } from './store.ts';
import type { AuditView, CustomerList, CustomerView } from './wire.ts';

export interface Customers {
  list(): Promise<CustomerView[]>;
  /** The latest of what was done. */
  entries(): Promise<AuditView[]>;
  setSuspended(ident: string, suspended: boolean, actor: string): Promise<void>;
  /** Deletes a customer with all that it has, at the plugin service and here. */
  remove(ident: string, actor: string): Promise<void>;
  /** Makes a deleted customer a customer again, without any plugins. */
  restore(ident: string, actor: string): Promise<void>;
}

/** Manages the vendor's customers, each of which is a tenant at the plugin service. */
export function createCustomers(service: EnvironmentClient, store: VendorStore): Customers {
  const requireTenant = (ident: string) => {
    const tenant = findTenant(ident);
    if (!tenant) throw new Refusal(404, 'unknown-customer', 'There is no such customer.');
    return tenant;
  };

  return {
    list: () =>
      callService('Reading the customers', async () => {
        const found = new Map<string, Tenant>();
        const list = (after: string | undefined) =>
          service.listTenants({ environment: ENVIRONMENT }, { limit: 200, after });
        for await (const page of eachPage(list)) {
          for (const tenant of page.tenants) found.set(tenant.ident, tenant);
        }
        return tenants.map(({ id, name }) => {
          const ident = identOf(id);
          const tenant = found.get(ident);
          const state = store.isDeleted(ident) ? 'deleted' : tenant?.suspended ? 'suspended' : 'active';
          return { ident, name, state, plugins: state === 'deleted' ? 0 : (tenant?.plugins ?? 0) };
        });
      }),

    entries: () =>
      callService('Reading the audit log', async () => {
        const { entries } = await service.listAudit({ environment: ENVIRONMENT }, { limit: MAX_ENTRIES });
        return entries.map(({ id, at, action, by, ident, name, version }) => ({
          id,
          at,
          action,
          by: nameOfActor(by.actor) ?? by.holder ?? by.kind,
          about: [nameOfCustomer(ident), name, version].filter(Boolean).join(', '),
        }));
      }),

    setSuspended: (ident, suspended, actor) =>
      callService('Suspending or resuming a customer', async () => {
        const { name } = requireTenant(ident);
        if (store.isDeleted(ident)) throw new Refusal(409, 'customer-deleted', 'This customer was deleted.');
        try {
          await service.updateTenant({ identifier: ident }, { suspended }, { actor });
        } catch (error) {
          // The plugin service creates a tenant with its first token, so it may not exist yet.
          if (!isNotFound(error)) throw error;
          await service.createTenant({ identifier: ident }, { description: name, suspended }, { actor });
        }
      }),

    remove: (ident, actor) =>
      callService('Deleting a customer', async () => {
        requireTenant(ident);
        try {
          await service.deleteTenant({ identifier: ident }, { actor });
        } catch (error) {
          // A former request deleted it, or it never had a plugin.
          if (!isNotFound(error)) throw error;
        }
        // This comes second: a customer whose deletion failed stays in the list, where it can be deleted again.
        store.deleteCustomer(ident);
      }),

    restore: (ident, actor) =>
      callService('Taking on a customer again', async () => {
        const { name } = requireTenant(ident);
        try {
          await service.createTenant({ identifier: ident }, { description: name }, { actor });
        } catch (error) {
          // A former request created it, and its response was lost.
          if (!(error instanceof HttpError && error.status === 409)) throw error;
        }
        store.restoreCustomer(ident);
      }),
  };
}

/** How many entries of the audit log are shown. */
const MAX_ENTRIES = 20;

const nameOfCustomer = (ident: string | undefined) =>
  tenants.find(({ id }) => identOf(id) === ident)?.name ?? ident;

const isNotFound = (error: unknown) => error instanceof HttpError && error.status === 404;

const customerSchema = z.object({ ident: z.string() });
const changeSchema = z.object({ ident: z.string(), suspended: z.boolean() });

/** The largest body of these operations, in bytes. */
const BODY_LIMIT = 4096;

/** The operations on customers, for the vendor's staff. Each responds with the new list. */
export function serveCustomers(app: Hono, guards: Guards, customers: Customers): void {
  const list = async (): Promise<CustomerList> => {
    const [found, entries] = await Promise.all([customers.list(), customers.entries()]);
    return { customers: found, entries };
  };

  app.get('/customers', async (c) => {
    await guards.requireStaff(c);
    c.header('cache-control', 'no-store');
    return c.json(await list());
  });
  app.patch('/customers', async (c) => {
    const { id } = await guards.requireStaff(c);
    const { ident, suspended } = await readBody(c, changeSchema, BODY_LIMIT);
    await customers.setSuspended(ident, suspended, id);
    return c.json(await list());
  });
  app.delete('/customers', async (c) => {
    const { id } = await guards.requireStaff(c);
    const { ident } = await readBody(c, customerSchema, BODY_LIMIT);
    await customers.remove(ident, id);
    return c.json(await list());
  });
  app.post('/customers', async (c) => {
    const { id } = await guards.requireStaff(c);
    const { ident } = await readBody(c, customerSchema, BODY_LIMIT);
    await customers.restore(ident, id);
    return c.json(await list(), 201);
  });
}
