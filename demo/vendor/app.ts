import { Hono } from 'hono';
import type { Context, MiddlewareHandler } from 'hono';
import * as z from 'zod/mini';
import {
  AccessClient,
  createTokenEndpoint,
  EnvironmentClient,
  ExecutionClient,
} from 'plugin-editor/server.js';
import type { Assets } from '../build.ts';
import { findUser, identOf, permissions, strangerTo, tenantsOf, users } from './accounts.ts';
import type { Tenant, User } from './accounts.ts';
import { readBody, receiveUnreadBodies } from './body.ts';
import { serveCustomers } from './customer-routes.ts';
import { createCustomers } from './customers.ts';
import { createGuards, customerDeleted, signedOut } from './guards.ts';
import { checkHost } from './hosts.ts';
import { pageHeaders, servePage } from './page.ts';
import { addedPlugin, namespaceOf, standardPlugins } from './places/places.ts';
import { servePlugins } from './plugin-routes.ts';
import { createPlugins } from './plugins.ts';
import { Refusal, refusalResponse } from './refusals.ts';
import { createPluginRuns } from './runs.ts';
import { createSessions } from './session.ts';
import type { VendorStore } from './store.ts';
import type { Session } from './wire.ts';

export interface VendorOptions {
  store: VendorStore;
  assets: Assets;
  /** The `Host` values to answer to. Read at every request. */
  hosts: readonly string[];
  servicePort: number;
  /** The environment token. The back end sends it to the plugin service alone. */
  environmentToken: () => string;
}

export interface VendorApp {
  fetch: (request: Request, env?: object) => Response | Promise<Response>;
  refuse: (error: unknown) => Response;
}

const signInSchema = z.object({ user: z.string() });

/** The largest body of these operations, in bytes. */
const BODY_LIMIT = 4096;

/** The back end of Larder, a vendor's app whose customers write plugins. */
export function createVendorApp(options: VendorOptions): VendorApp {
  const { store, servicePort } = options;
  const sessions = createSessions(store.cookieSecret);

  // The service gets another host name than the page, as if it had a domain of its own: browsers send a cookie to all ports of
  // a host, and the service must not get the session's.
  const serviceFor = (c: Context) =>
    `http://${new URL(c.req.url).hostname === 'localhost' ? '127.0.0.1' : 'localhost'}:${servicePort}`;

  const describe = (c: Context, user: User): Session => {
    const service = serviceFor(c);
    const stranger = strangerTo(user);
    const isFormer = ({ id }: Tenant) => store.isDeleted(identOf(id));
    const all = tenantsOf(user);
    return {
      user: {
        name: user.name,
        role: user.role,
        mayDeploy: user.access === 'author',
        isStaff: user.access === 'staff',
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
  };

  const { environmentToken } = options;
  const builderUrl = `http://127.0.0.1:${servicePort}`;
  const service = new EnvironmentClient({ builderUrl, environmentToken });
  const execution = new ExecutionClient({ executionUrl: `${builderUrl}/exec`, environmentToken });
  const guards = createGuards(sessions, store);

  const tokenEndpoint = createTokenEndpoint<Context>({
    access: new AccessClient({ builderUrl, environmentToken }),
    async authorize(_request, { ident }, c) {
      const user = await sessions.user(c);
      if (!user) return refusalResponse(signedOut());
      if (user.access === 'staff') return false;
      if (user.tenants.map(identOf).includes(ident) && store.isDeleted(ident))
        return refusalResponse(customerDeleted());
      return { ident: user.tenants.map(identOf), permissions: permissions[user.access], actor: user.id };
    },
    onError: (error) => console.error('No editor token:', error),
  });

  const app = new Hono();
  app.use(receiveUnreadBodies);
  app.use(pageHeaders(serviceFor));
  app.use(checkHost(options.hosts));
  servePage(app, options.assets);

  // The endpoint checks origins and sizes itself.
  app.all('/plugins/editor-token', (c) => tokenEndpoint(c.req.raw, c));

  app.use(ownPagesOnly);

  app.get('/session', async (c) => {
    const user = await sessions.user(c);
    c.header('cache-control', 'no-store');
    return c.json(user ? describe(c, user) : { users: users.map(toPublicUser) });
  });
  app.post('/session', async (c) => {
    const user = findUser((await readBody(c, signInSchema, BODY_LIMIT)).user);
    if (!user) throw new Refusal(400, 'unknown-user', 'There is nobody of that name.');
    await sessions.signIn(c, user);
    return c.json(describe(c, user));
  });
  app.delete('/session', (c) => {
    sessions.signOut(c);
    return c.body(null, 204);
  });

  servePlugins(app, {
    guards,
    store,
    plugins: createPlugins(service, builderUrl),
    runs: createPluginRuns(service, execution),
    describe,
  });
  serveCustomers(app, guards, createCustomers(service, store));

  app.notFound(() => refusalResponse(new Refusal(404, 'not-found', 'There is nothing at this path.')));
  app.onError((error, c) => {
    if (!(error instanceof Refusal)) console.error(`${c.req.method} ${c.req.path} failed:`, error);
    return refusalResponse(error);
  });
  return {
    fetch: (request, env) => app.fetch(request, env),
    refuse: () =>
      refusalResponse(
        new Refusal(400, 'invalid-request', 'The request line or the Host header is malformed.'),
      ),
  };
}

/** Refuses changes by other sites: the browser's headers must say that a request comes from this app's own page. */
const ownPagesOnly: MiddlewareHandler = async (c, next) => {
  if (!['GET', 'HEAD'].includes(c.req.method)) {
    const site = c.req.header('sec-fetch-site');
    const own = site ? site === 'same-origin' : c.req.header('origin') === new URL(c.req.url).origin;
    if (!own) throw new Refusal(403, 'forbidden', 'Only this app’s own pages may ask for that.');
  }
  await next();
};

const toPublicUser = (user: User) => ({
  id: user.id,
  name: user.name,
  role: user.role,
  tenants: tenantsOf(user).map(({ name }) => name),
});
