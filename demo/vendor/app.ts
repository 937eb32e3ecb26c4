import { Hono } from 'hono';
import type { Context, MiddlewareHandler } from 'hono';
import {
  AccessClient,
  createTokenEndpoint,
  EnvironmentClient,
  ExecutionClient,
} from 'plugin-editor/server.js';
import type { Assets } from '../page-files.ts';
import { identOf, permissions } from './accounts.ts';
import type { User } from './accounts.ts';
import { receiveUnreadBodies } from './body.ts';
import { createCustomers, serveCustomers } from './customers.ts';
import { checkHost, pageHeaders, servePage } from './page.ts';
import { servePlugins } from './plugin-routes.ts';
import { createPlugins } from './plugins.ts';
import { customerDeleted, Refusal, refusalResponse, signedOut } from './refusals.ts';
import { createPluginRuns } from './runs.ts';
import { createGuards, createSignIns, describeUser, serveSignIn } from './sign-in.ts';
import { serveStock } from './stock.ts';
import type { VendorStore } from './store.ts';
import { receiveWebhooks, serveWebhooks, Webhooks } from './webhooks.ts';

export interface VendorOptions {
  store: VendorStore;
  assets: Assets;
  /** The `Host` values to answer to. Read at every request. */
  hosts: readonly string[];
  servicePort: number;
  /** The environment token. The back end sends it to the plugin service alone. */
  environmentToken: () => string;
  /** What the plugin service tells (default: nothing yet). */
  webhooks?: Webhooks;
}

export interface VendorApp {
  fetch: (request: Request, env?: object) => Response | Promise<Response>;
  refuse: (error: unknown) => Response;
}

/** The back end of Larder, a vendor's app whose customers write plugins. */
export function createVendorApp(options: VendorOptions): VendorApp {
  const { store, servicePort, webhooks = new Webhooks() } = options;
  const signIns = createSignIns(store.cookieSecret);

  // The service gets another host name than the page, as if it had a domain: browsers send a cookie to all ports of a host, and
  // the service must not get this app's.
  const serviceFor = (c: Context) =>
    `http://${new URL(c.req.url).hostname === 'localhost' ? '127.0.0.1' : 'localhost'}:${servicePort}`;

  const describe = (c: Context, user: User) => describeUser(user, store, serviceFor(c));

  const { environmentToken } = options;
  const builderUrl = `http://127.0.0.1:${servicePort}`;
  const service = new EnvironmentClient({ builderUrl, environmentToken });
  const execution = new ExecutionClient({ executionUrl: `${builderUrl}/exec`, environmentToken });
  const guards = createGuards(signIns, store);

  const tokenEndpoint = createTokenEndpoint<Context>({
    access: new AccessClient({ builderUrl, environmentToken }),
    async authorize(_request, { ident }, c) {
      const user = await signIns.findUser(c);
      if (!user) return refusalResponse(signedOut());
      if (user.kind === 'staff') return false;
      if (user.tenants.map(identOf).includes(ident) && store.isDeleted(ident))
        return refusalResponse(customerDeleted());
      return { ident: user.tenants.map(identOf), permissions: permissions[user.kind], actor: user.id };
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

  // For plugins, which send neither cookies nor the headers of browsers.
  serveStock(app, builderUrl);
  receiveWebhooks(app, webhooks);

  app.use(ownPagesOnly);

  serveSignIn(app, { signIns, describe });
  servePlugins(app, {
    guards,
    store,
    plugins: createPlugins(service, builderUrl),
    runs: createPluginRuns(service, execution),
    describe,
  });
  serveCustomers(app, guards, createCustomers(service, store));
  serveWebhooks(app, guards, webhooks);

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
