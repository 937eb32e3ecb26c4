import type { Context, Hono } from 'hono';
import { deleteCookie, getSignedCookie, setSignedCookie } from 'hono/cookie';
import * as z from 'zod/mini';
import { findUser, identOf, strangerTo, tenantsOf, users } from './accounts.ts';
import type { Tenant, User } from './accounts.ts';
import { readBody } from './body.ts';
import { addedPlugin, namespaceOf, standardPlugins } from './places/places.ts';
import { customerDeleted, Refusal, signedOut } from './refusals.ts';
import type { VendorStore } from './store.ts';
import type { SignedIn, SignedOut } from './wire.ts';

/** How long a user stays signed in, in seconds. */
const LIFETIME = 12 * 60 * 60;

/** Who is signed in. */
export interface SignIns {
  /** The user of a request, if its cookie has a valid signature and has not expired. */
  findUser(c: Context): Promise<User | undefined>;
  signIn(c: Context, user: User): Promise<void>;
  signOut(c: Context): void;
}

/** Keeps who is signed in in a signed cookie, which no script can read and other sites' requests do not have. */
export function createSignIns(secret: string): SignIns {
  return {
    async findUser(c) {
      const value = await getSignedCookie(c, secret, cookieName(c));
      const [, id, ends] = /^([\w-]+)\.(\d+)$/.exec(value || '') ?? [];
      return id !== undefined && Number(ends) > Date.now() ? findUser(id) : undefined;
    },
    signIn: (c, user) =>
      // The expiry is signed, too, because a client can send a cookie after its `Max-Age`.
      setSignedCookie(c, cookieName(c), `${user.id}.${Date.now() + LIFETIME * 1000}`, secret, {
        path: '/',
        httpOnly: true,
        // Loopback is served without TLS. Elsewhere this has `secure: true`, too.
        sameSite: 'Lax',
        maxAge: LIFETIME,
      }),
    signOut: (c) => void deleteCookie(c, cookieName(c), { path: '/' }),
  };
}

// Browsers keep cookies by host, not by port. The port in the name lets two demos run at once.
const cookieName = (c: Context) => `larder-session-${new URL(c.req.url).port}`;

/** Says who may do what. Each method resolves with the user that is signed in, or throws a {@link Refusal}. */
export interface Guards {
  /** Somebody must be signed in. */
  requireUser(c: Context): Promise<User>;
  /** The user must work for this customer. */
  requireMember(c: Context, ident: string): Promise<User>;
  /** The user must work for this customer, and may write and deploy. */
  requireAuthor(c: Context, ident: string): Promise<User>;
  /** The user must be one of the vendor's own staff. */
  requireStaff(c: Context): Promise<User>;
}

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
    requireUser,
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

const signInSchema = z.object({ user: z.string() });

/** The largest body that signs in, in bytes. */
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
    if (!user) throw new Refusal(400, 'unknown-user', 'There is no user of that name.');
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

/**
 * A user that is signed in, with the customers and plugins that the user works with, as the page gets it.
 * @param service the origin of the plugin service
 */
export function describeUser(user: User, store: VendorStore, service: string): SignedIn {
  const stranger = strangerTo(user);
  const isFormer = ({ id }: Tenant) => store.isDeleted(identOf(id));
  const all = tenantsOf(user);
  return {
    user: {
      name: user.name,
      role: user.role,
      mayDeploy: user.kind === 'author',
      isStaff: user.kind === 'staff',
    },
    former: all.filter(isFormer).map(({ id, name }) => ({ ident: identOf(id), name })),
    tenants: all
      .filter((tenant) => !isFormer(tenant))
      .map(({ id, name }) => ({
        ident: identOf(id),
        name,
        plugins: [...standardPlugins, ...store.pluginsOf(identOf(id)).map(addedPlugin)],
      })),
    stranger: stranger && {
      ident: identOf(stranger.id),
      name: stranger.name,
      namespace: namespaceOf('price-rule'),
      fn: 'price-rule',
    },
    service: { editorUrl: `${service}/editor/`, builder: service },
  };
}
