import type { Context } from 'hono';
import { deleteCookie, getSignedCookie, setSignedCookie } from 'hono/cookie';
import { findUser } from './accounts.ts';
import type { User } from './accounts.ts';

/** How long one stays signed in, in seconds. */
const LIFETIME = 12 * 60 * 60;

export interface Sessions {
  /** Who sent this request, when it carries a cookie that we signed and that has not ended. */
  user(c: Context): Promise<User | undefined>;
  signIn(c: Context, user: User): Promise<void>;
  signOut(c: Context): void;
}

/** Who is signed in, kept in a signed cookie that no script can read and no other site can send along. */
export function createSessions(secret: string): Sessions {
  return {
    async user(c) {
      const value = await getSignedCookie(c, secret, cookieName(c));
      const [, id, ends] = /^([\w-]+)\.(\d+)$/.exec(value || '') ?? [];
      return id !== undefined && Number(ends) > Date.now() ? findUser(id) : undefined;
    },
    signIn: (c, user) =>
      // The end is signed too: a browser's word on when a cookie ends is not ours.
      setSignedCookie(c, cookieName(c), `${user.id}.${Date.now() + LIFETIME * 1000}`, secret, {
        path: '/',
        httpOnly: true,
        sameSite: 'Lax',
        maxAge: LIFETIME,
      }),
    signOut: (c) => void deleteCookie(c, cookieName(c), { path: '/' }),
  };
}

// Cookies are kept by host alone; with the port in its name, two demos at once do not sign each other out.
const cookieName = (c: Context) => `larder-session-${new URL(c.req.url).port}`;
