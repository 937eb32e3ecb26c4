import type { Context } from 'hono';
import { identOf } from './accounts.ts';
import type { User } from './accounts.ts';
import { Refusal } from './refusals.ts';
import type { SignIns } from './sign-ins.ts';
import type { VendorStore } from './store.ts';

/** Says who may do what. Each method resolves with the user that is signed in, or throws a {@link Refusal}. */
export interface Guards {
  /** The user must work for this customer. */
  requireMember(c: Context, ident: string): Promise<User>;
  /** The user must work for this customer, and may write and deploy. */
  requireAuthor(c: Context, ident: string): Promise<User>;
  /** The user must be one of the vendor's own staff. */
  requireStaff(c: Context): Promise<User>;
}

export const signedOut = () => new Refusal(401, 'signed-out', 'Sign in first.');

export const customerDeleted = () =>
  new Refusal(
    403,
    'customer-deleted',
    'This customer was deleted: its plugins, their versions and records of runs are gone.',
  );

export function createGuards(signIns: SignIns, store: VendorStore): Guards {
  const requireUser = async (c: Context) => {
    const user = await signIns.findUser(c);
    if (!user) throw signedOut();
    return user;
  };
  const requireMember = async (c: Context, ident: string) => {
    const user = await requireUser(c);
    if (!user.tenants.map(identOf).includes(ident))
      throw new Refusal(403, 'forbidden', 'You do not work for this customer.');
    if (store.isDeleted(ident)) throw customerDeleted();
    return user;
  };
  return {
    requireMember,
    async requireAuthor(c, ident) {
      const user = await requireMember(c, ident);
      if (user.kind !== 'author')
        throw new Refusal(403, 'read-only', 'You may read these plugins, and change nothing of them.');
      return user;
    },
    async requireStaff(c) {
      const user = await requireUser(c);
      if (user.kind !== 'staff') throw new Refusal(403, 'forbidden', 'This is for Larder’s own staff.');
      return user;
    },
  };
}
