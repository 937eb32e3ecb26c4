import { joinIdent } from 'plugin-editor/server.js';
import type { Permission } from 'plugin-editor/server.js';

/** The vendor's environment at the plugin service. */
export const ENVIRONMENT = 'com.example';

/** One of the vendor's customers. */
export interface Tenant {
  /** The tenant part of its ident. */
  id: string;
  name: string;
}

/** An author writes and deploys plugins, a reader only reads them, and the vendor's staff manage its customers. */
export type AccountKind = 'author' | 'reader' | 'staff';

/** The permissions of the editor tokens of users. `runs` shows messages and logs, which may hold other people's data. */
export const permissions: Readonly<Record<Exclude<AccountKind, 'staff'>, readonly Permission[]>> = {
  author: ['read', 'write', 'deploy', 'runs'],
  reader: ['read'],
};

/** Somebody who can sign in. */
export interface User {
  id: string;
  name: string;
  role: string;
  kind: AccountKind;
  /** The ids of the tenants whose plugins this user works with. */
  tenants: readonly string[];
}

export const tenants: readonly Tenant[] = [
  { id: 'customer-7', name: 'Juniper Bakery' },
  { id: 'customer-8', name: 'Saltmarsh Oysters' },
  { id: 'customer-9', name: 'Kettle & Cress' },
];

export const users: readonly User[] = [
  { id: 'ada', name: 'Ada Lindqvist', role: 'Runs the bakery', kind: 'author', tenants: ['customer-7'] },
  {
    id: 'bram',
    name: 'Bram Okafor',
    role: 'Keeps the books of two',
    kind: 'author',
    tenants: ['customer-7', 'customer-8'],
  },
  { id: 'cleo', name: 'Cleo Marsh', role: 'Ships oysters by six', kind: 'author', tenants: ['customer-8'] },
  {
    id: 'dan',
    name: 'Dan Birch',
    role: 'Bakes; may read plugins, not deploy them',
    kind: 'reader',
    tenants: ['customer-7'],
  },
  { id: 'mia', name: 'Mia Holt', role: 'Looks after Larder’s customers', kind: 'staff', tenants: [] },
];

export const identOf = (tenant: string): string => joinIdent({ environment: ENVIRONMENT, tenant });

export const findUser = (id: string): User | undefined => users.find((user) => user.id === id);

/** The tenants that a user works for. */
export const tenantsOf = (user: User): Tenant[] => tenants.filter(({ id }) => user.tenants.includes(id));

/** A customer that this user does not work for. */
export const strangerTo = (user: User): Tenant | undefined =>
  user.kind === 'staff' ? undefined : tenants.find(({ id }) => !user.tenants.includes(id));

export const findTenant = (ident: string): Tenant | undefined =>
  tenants.find(({ id }) => identOf(id) === ident);

/** The name of an actor of the plugin service, which is the id of a user. */
export const nameOfActor = (actor: string | undefined): string | undefined =>
  actor === undefined ? undefined : (findUser(actor)?.name ?? actor);
