import { eachPage, HttpError } from 'plugin-editor/server.js';
import type { EnvironmentClient, Tenant } from 'plugin-editor/server.js';
import { ENVIRONMENT, findTenant, identOf, tenants } from './accounts.ts';
import { Refusal } from './refusals.ts';
import { callService } from './service-errors.ts';
import type { VendorStore } from './store.ts';
import type { CustomerView } from './wire.ts';

export interface Customers {
  list(): Promise<CustomerView[]>;
  setSuspended(ident: string, suspended: boolean): Promise<void>;
  /** Deletes a customer with all that it has, at the plugin service and here. */
  remove(ident: string): Promise<void>;
  /** Makes a deleted customer a customer again, without any plugins. */
  restore(ident: string): Promise<void>;
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

    setSuspended: (ident, suspended) =>
      callService('Suspending or resuming a customer', async () => {
        const { name } = requireTenant(ident);
        if (store.isDeleted(ident)) throw new Refusal(409, 'customer-deleted', 'This customer was deleted.');
        try {
          await service.updateTenant({ identifier: ident }, { suspended });
        } catch (error) {
          // The plugin service creates a tenant with its first token, so it may not exist yet.
          if (!isNotFound(error)) throw error;
          await service.createTenant({ identifier: ident }, { description: name, suspended });
        }
      }),

    remove: (ident) =>
      callService('Deleting a customer', async () => {
        requireTenant(ident);
        try {
          await service.deleteTenant({ identifier: ident });
        } catch (error) {
          // A former request deleted it, or it never had a plugin.
          if (!isNotFound(error)) throw error;
        }
        // This comes second: a customer whose deletion failed stays in the list, where it can be deleted again.
        store.deleteCustomer(ident);
      }),

    restore: (ident) =>
      callService('Taking on a customer again', async () => {
        const { name } = requireTenant(ident);
        try {
          await service.createTenant({ identifier: ident }, { description: name });
        } catch (error) {
          // A former request created it, and its response was lost.
          if (!(error instanceof HttpError && error.status === 409)) throw error;
        }
        store.restoreCustomer(ident);
      }),
  };
}

const isNotFound = (error: unknown) => error instanceof HttpError && error.status === 404;
