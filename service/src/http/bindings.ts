import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';

/** Node's own objects of a request; empty for one that did not come by a connection. */
export const bindingsOf = (c: Context): Partial<HttpBindings> =>
  (c.env as Partial<HttpBindings> | undefined) ?? {};
