import type { Context } from 'hono';
import type { ServiceBindings } from './http-server.ts';

/** Node's own objects of a request; empty for one that did not come by a connection. */
export const bindingsOf = (c: Context): Partial<ServiceBindings> =>
  (c.env as Partial<ServiceBindings> | undefined) ?? {};
