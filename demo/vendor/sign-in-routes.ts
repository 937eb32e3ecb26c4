import type { Context, Hono } from 'hono';
import * as z from 'zod/mini';
import { findUser, tenantsOf, users } from './accounts.ts';
import type { User } from './accounts.ts';
import { readBody } from './body.ts';
import { Refusal } from './refusals.ts';
import type { SignIns } from './sign-ins.ts';
import type { SignedIn, SignedOut } from './wire.ts';

const signInSchema = z.object({ user: z.string() });

/** The largest body of these operations, in bytes. */
const BODY_LIMIT = 4096;

export interface SignInRoutesOptions {
  signIns: SignIns;
  /** The user that is signed in, and what the user works with, as the page gets it. */
  describe: (c: Context, user: User) => SignedIn;
}

/** The operations that sign in and out, and that say who is signed in. */
export function serveSignIn(app: Hono, { signIns, describe }: SignInRoutesOptions): void {
  app.get('/session', async (c) => {
    const user = await signIns.findUser(c);
    c.header('cache-control', 'no-store');
    return c.json(user ? describe(c, user) : ({ users: users.map(toPublicUser) } satisfies SignedOut));
  });
  app.post('/session', async (c) => {
    const user = findUser((await readBody(c, signInSchema, BODY_LIMIT)).user);
    if (!user) throw new Refusal(400, 'unknown-user', 'There is nobody of that name.');
    await signIns.signIn(c, user);
    return c.json(describe(c, user));
  });
  app.delete('/session', (c) => {
    signIns.signOut(c);
    return c.body(null, 204);
  });
}

const toPublicUser = (user: User) => ({
  id: user.id,
  name: user.name,
  role: user.role,
  tenants: tenantsOf(user).map(({ name }) => name),
});
