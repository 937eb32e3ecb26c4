import type { Context } from 'hono';
import { deleteCookie, getSignedCookie, setSignedCookie } from 'hono/cookie';
import { findUser } from './accounts.ts';
import type { User } from './accounts.ts';

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
        sameSite: 'Lax',
        maxAge: LIFETIME,
      }),
    signOut: (c) => void deleteCookie(c, cookieName(c), { path: '/' }),
  };
}

// Browsers keep cookies by host, not by port. The port in the name lets two demos run at once.
const cookieName = (c: Context) => `larder-session-${new URL(c.req.url).port}`;
