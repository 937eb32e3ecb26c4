import type { Hono } from 'hono';
import * as z from 'zod/mini';
import { readBody } from './body.ts';
import type { Customers } from './customers.ts';
import type { Guards } from './guards.ts';
import type { CustomerList } from './wire.ts';

const customerSchema = z.object({ ident: z.string() });
const changeSchema = z.object({ ident: z.string(), suspended: z.boolean() });

/** The largest body of these operations, in bytes. */
const BODY_LIMIT = 4096;

/** The operations on customers, for the vendor's staff. Each responds with the new list. */
export function serveCustomers(app: Hono, guards: Guards, customers: Customers): void {
  const list = async (): Promise<CustomerList> => ({ customers: await customers.list() });

  app.get('/customers', async (c) => {
    await guards.requireStaff(c);
    c.header('cache-control', 'no-store');
    return c.json(await list());
  });
  app.patch('/customers', async (c) => {
    await guards.requireStaff(c);
    const { ident, suspended } = await readBody(c, changeSchema, BODY_LIMIT);
    await customers.setSuspended(ident, suspended);
    return c.json(await list());
  });
  app.delete('/customers', async (c) => {
    await guards.requireStaff(c);
    const { ident } = await readBody(c, customerSchema, BODY_LIMIT);
    await customers.remove(ident);
    return c.json(await list());
  });
  app.post('/customers', async (c) => {
    await guards.requireStaff(c);
    const { ident } = await readBody(c, customerSchema, BODY_LIMIT);
    await customers.restore(ident);
    return c.json(await list(), 201);
  });
}
