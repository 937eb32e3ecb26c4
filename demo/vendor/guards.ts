import type { Context } from 'hono';
import { identOf } from './accounts.ts';
import type { User } from './accounts.ts';
import { Refusal } from './refusals.ts';
import type { Sessions } from './session.ts';
import type { VendorStore } from './store.ts';

/** Checks of who may do what. Each resolves with the user that is signed in, or throws a {@link Refusal}. */
export interface Guards {
  /** The user works for this customer. */
  member(c: Context, ident: string): Promise<User>;
  /** The user works for this customer, and may write and deploy. */
  author(c: Context, ident: string): Promise<User>;
  /** The user is one of the vendor's own staff. */
  staff(c: Context): Promise<User>;
}

export const signedOut = () => new Refusal(401, 'signed-out', 'Sign in first.');

export const customerDeleted = () =>
  new Refusal(
    403,
    'customer-deleted',
    'This customer was deleted: its plugins, their versions and records of runs are gone.',
  );

export function createGuards(sessions: Sessions, store: VendorStore): Guards {
  const signedIn = async (c: Context) => {
    const user = await sessions.user(c);
    if (!user) throw signedOut();
    return user;
  };
  const member = async (c: Context, ident: string) => {
    const user = await signedIn(c);
    if (!user.tenants.map(identOf).includes(ident))
      throw new Refusal(403, 'forbidden', 'You do not work for this customer.');
    if (store.isDeleted(ident)) throw customerDeleted();
    return user;
  };
  return {
    member,
    async author(c, ident) {
      const user = await member(c, ident);
      if (user.access !== 'author')
        throw new Refusal(403, 'read-only', 'You may read these plugins, and change nothing of them.');
      return user;
    },
    async staff(c) {
      const user = await signedIn(c);
      if (user.access !== 'staff') throw new Refusal(403, 'forbidden', 'This is for Larder’s own staff.');
      return user;
    },
  };
}
