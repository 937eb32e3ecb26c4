import { Hono } from 'hono';
import type { Context, MiddlewareHandler } from 'hono';
import * as z from 'zod/mini';
import { AccessClient, createTokenEndpoint, ExecutionClient } from 'plugin-editor/server.js';
import type { Assets } from '../build.ts';
import { findUser, identOf, standardPlugins, strangerTo, tenantsOf, users } from './accounts.ts';
import type { User } from './accounts.ts';
import { readBody, receiveUnreadBodies } from './body.ts';
import { checkHost } from './hosts.ts';
import { pageHeaders, servePage } from './page.ts';
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
  /** The token that only this back end holds; it never leaves it but for the access interface. */
  environmentToken: () => string;
}

export interface VendorApp {
  fetch: (request: Request, env?: object) => Response | Promise<Response>;
  refuse: (error: unknown) => Response;
}

const signInSchema = z.object({ user: z.string() });
const newPluginSchema = z.object({ ident: z.string(), name: z.string() });
const runSchema = z.object({ ident: z.string(), name: z.string(), input: z.string() });

/** The largest body of the other operations, in bytes. */
const BODY_LIMIT = 4096;

/** The largest body that asks for runs, in bytes: the input of a plugin, and what names it. */
const RUN_LIMIT = 64 * 1024;

/** The back end of Larder, a vendor's app whose customers write plugins. */
export function createVendorApp(options: VendorOptions): VendorApp {
  const { store, servicePort } = options;
  const sessions = createSessions(store.cookieSecret);

  // Another host name than the page's, as with two domains: browsers keep cookies by host alone, and the session's
  // is not for the service.
  const serviceFor = (c: Context) =>
    `http://${new URL(c.req.url).hostname === 'localhost' ? '127.0.0.1' : 'localhost'}:${servicePort}`;

  const describe = (c: Context, user: User): Session => {
    const service = serviceFor(c);
    const stranger = strangerTo(user);
    return {
      user: { name: user.name, role: user.role },
      tenants: tenantsOf(user).map(({ id, name }) => ({
        ident: identOf(id),
        name,
        plugins: [
          ...standardPlugins,
          ...store
            .pluginsOf(identOf(id))
            .map((plugin) => ({ name: plugin, runs: 'When you call it by name', sample: 'Ada' })),
        ],
      })),
      stranger: stranger && { ident: identOf(stranger.id), name: stranger.name, fn: 'price-rule' },
      service: { editorUrl: `${service}/editor/`, builder: service },
    };
  };

  const tokenEndpoint = createTokenEndpoint<Context>({
    access: new AccessClient({
      builderUrl: `http://127.0.0.1:${servicePort}`,
      environmentToken: options.environmentToken,
    }),
    async authorize(_request, _target, c) {
      const user = await sessions.user(c);
      return user ? user.tenants.map(identOf) : refusalResponse(signedOut());
    },
    onError: (error) => console.error('No editor token:', error),
  });

  const runVersions = createPluginRuns(
    new ExecutionClient({
      executionUrl: `http://127.0.0.1:${servicePort}/exec`,
      environmentToken: options.environmentToken,
    }),
  );

  const app = new Hono();
  app.use(receiveUnreadBodies);
  app.use(pageHeaders(serviceFor));
  app.use(checkHost(options.hosts));
  servePage(app, options.assets);

  // Its own rules on origins and sizes come with it.
  app.all('/plugins/editor-token', (c) => tokenEndpoint(c.req.raw, c));

  app.use(ownPagesOnly);

  app.get('/session', async (c) => {
    const user = await sessions.user(c);
    c.header('cache-control', 'no-store');
    return c.json(user ? describe(c, user) : { users: users.map(publicFace) });
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

  const memberOf = async (c: Context, ident: string): Promise<User> => {
    const user = await sessions.user(c);
    if (!user) throw signedOut();
    if (!user.tenants.map(identOf).includes(ident))
      throw new Refusal(403, 'forbidden', 'You do not work for this customer.');
    return user;
  };

  app.post('/plugins', async (c) => {
    const { ident, name } = await readBody(c, newPluginSchema, BODY_LIMIT);
    const user = await memberOf(c, ident);
    if (!/^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/.test(name) || name.length > 40) {
      throw new Refusal(
        400,
        'invalid-name',
        'A name is made of lower-case letters and digits in parts joined by hyphens, at most 40 in all, such as add-record.',
      );
    }
    if (standardPlugins.some((plugin) => plugin.name === name) || !store.addPlugin(ident, name)) {
      throw new Refusal(409, 'name-taken', `There is a plugin "${name}" already.`);
    }
    return c.json(describe(c, user), 201);
  });

  app.post('/plugins/runs', async (c) => {
    const { ident, name, input } = await readBody(c, runSchema, RUN_LIMIT);
    await memberOf(c, ident);
    c.header('cache-control', 'no-store');
    return c.json(await runVersions({ identifier: ident, pluginName: name }, input, c.req.raw.signal));
  });

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

/** Lets no other site change anything: what a browser says of a request's source must say that it is ours. */
const ownPagesOnly: MiddlewareHandler = async (c, next) => {
  if (!['GET', 'HEAD'].includes(c.req.method)) {
    const site = c.req.header('sec-fetch-site');
    const own = site ? site === 'same-origin' : c.req.header('origin') === new URL(c.req.url).origin;
    if (!own) throw new Refusal(403, 'forbidden', 'Only this app’s own pages may ask for that.');
  }
  await next();
};

const signedOut = () => new Refusal(401, 'signed-out', 'Sign in first.');

const publicFace = (user: User) => ({
  id: user.id,
  name: user.name,
  role: user.role,
  tenants: tenantsOf(user).map(({ name }) => name),
});
