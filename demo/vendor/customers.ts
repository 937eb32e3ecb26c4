import { eachPage, HttpError } from 'plugin-editor/server.js';
import type { EnvironmentClient, Tenant } from 'plugin-editor/server.js';
import { ENVIRONMENT, findTenant, identOf, tenants } from './accounts.ts';
import { Refusal } from './refusals.ts';
import { askService } from './service-errors.ts';
import type { VendorStore } from './store.ts';
import type { CustomerView } from './wire.ts';

export interface Customers {
  list(): Promise<CustomerView[]>;
  setSuspended(ident: string, suspended: boolean): Promise<void>;
  /** Deletes a customer with all that it has, at the plugin service and here. */
  remove(ident: string): Promise<void>;
  /** Takes on a customer again that was deleted; it begins with nothing. */
  restore(ident: string): Promise<void>;
}

/** What the vendor's staff do for customers: a customer of the vendor is a tenant at the plugin service. */
export function createCustomers(service: EnvironmentClient, store: VendorStore): Customers {
  const known = (ident: string) => {
    const tenant = findTenant(ident);
    if (!tenant) throw new Refusal(404, 'unknown-customer', 'There is no such customer.');
    return tenant;
  };

  return {
    list: () =>
      askService('Reading the customers', async () => {
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
      askService('Suspending or resuming a customer', async () => {
        const { name } = known(ident);
        if (store.isDeleted(ident)) throw new Refusal(409, 'customer-deleted', 'This customer was deleted.');
        try {
          await service.updateTenant({ identifier: ident }, { suspended });
        } catch (error) {
          // The plugin service makes a tenant with its first token: there may have been none.
          if (!isNotFound(error)) throw error;
          await service.createTenant({ identifier: ident }, { description: name, suspended });
        }
      }),

    remove: (ident) =>
      askService('Deleting a customer', async () => {
        known(ident);
        try {
          await service.deleteTenant({ identifier: ident });
        } catch (error) {
          // It was deleted when this was asked for before, or never had a plugin.
          if (!isNotFound(error)) throw error;
        }
        // Only now: until the plugin service has deleted it, it stays in the list, and can be deleted there.
        store.deleteCustomer(ident);
      }),

    restore: (ident) =>
      askService('Taking on a customer again', async () => {
        const { name } = known(ident);
        try {
          await service.createTenant({ identifier: ident }, { description: name });
        } catch (error) {
          // It was made when this was asked for before, and the answer was lost.
          if (!(error instanceof HttpError && error.status === 409)) throw error;
        }
        store.restoreCustomer(ident);
      }),
  };
}

const isNotFound = (error: unknown) => error instanceof HttpError && error.status === 404;
