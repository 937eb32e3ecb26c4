import type { Context, Hono } from 'hono';
import * as z from 'zod/mini';
import type { User } from './accounts.ts';
import { readBody } from './body.ts';
import { findPlace, namespaceOf, standardPlugins } from './places/places.ts';
import type { Plugin, Plugins } from './plugins.ts';
import { Refusal } from './refusals.ts';
import type { PluginRuns } from './runs.ts';
import type { Guards } from './sign-in.ts';
import type { VendorStore } from './store.ts';
import type { Overview, PluginDetails, SignedIn, VersionRuns, WorkView } from './wire.ts';

const pluginSchema = z.object({ ident: z.string(), name: z.string() });
const liveSchema = z.object({ ident: z.string(), name: z.string(), version: z.nullable(z.string()) });
const runSchema = z.object({
  ident: z.string(),
  name: z.string(),
  input: z.string(),
  which: z.optional(z.enum(['live', 'all'])),
});

/** The largest body of the other operations, in bytes. */
const BODY_LIMIT = 4096;

/** The largest body that asks for runs, in bytes: the input of a plugin, and what names it. */
const RUN_LIMIT = 64 * 1024;

export interface PluginRoutesOptions {
  guards: Guards;
  store: VendorStore;
  plugins: Plugins;
  runs: PluginRuns;
  /** The user that is signed in, and what the user works with, as the page gets it. */
  describe: (c: Context, user: User) => SignedIn;
}

/** The operations on plugins, for users who work for the customer. */
export function servePlugins(
  app: Hono,
  { guards, store, plugins, runs, describe }: PluginRoutesOptions,
): void {
  app.get('/plugins', async (c) => {
    const ident = c.req.query('ident') ?? '';
    const name = c.req.query('name');
    const user = await guards.requireMember(c, ident);
    c.header('cache-control', 'no-store');
    if (name === undefined) return c.json((await plugins.overview(ident, user.id)) satisfies Overview);
    const plugin = pluginOf(ident, name);
    const details = await plugins.details(plugin, user.kind === 'author', user.id);
    return c.json(details satisfies PluginDetails);
  });

  app.post('/plugins', async (c) => {
    const { ident, name } = await readBody(c, pluginSchema, BODY_LIMIT);
    const user = await guards.requireAuthor(c, ident);
    if (!/^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/.test(name) || name.length > 40) {
      throw new Refusal(
        400,
        'invalid-name',
        'A name is made of lower-case letters and digits in parts joined by hyphens, at most 40 in all, such as add-record.',
      );
    }
    if (standardPlugins.some((one) => one.name === name) || !store.addPlugin(ident, name)) {
      throw new Refusal(409, 'name-taken', `There is a plugin "${name}" already.`);
    }
    return c.json(describe(c, user), 201);
  });

  app.put('/plugins/live', async (c) => {
    const { ident, name, version } = await readBody(c, liveSchema, BODY_LIMIT);
    const user = await guards.requireAuthor(c, ident);
    const plugin = pluginOf(ident, name);
    await plugins.setLive(plugin, version, user.id);
    return c.json((await plugins.details(plugin, true, user.id)) satisfies PluginDetails);
  });

  app.post('/plugins/runs', async (c) => {
    const { ident, name, input, which = 'all' } = await readBody(c, runSchema, RUN_LIMIT);
    await guards.requireAuthor(c, ident);
    c.header('cache-control', 'no-store');
    const plugin = pluginOf(ident, name);
    const { signal } = c.req.raw;
    const ran =
      which === 'live' ? runs.runLive(plugin, input, signal) : runs.runVersions(plugin, input, signal);
    return c.json((await ran) satisfies VersionRuns);
  });

  app.post('/plugins/work', async (c) => {
    const { ident, name } = await readBody(c, pluginSchema, BODY_LIMIT);
    await guards.requireAuthor(c, ident);
    c.header('cache-control', 'no-store');
    const cases = findPlace(name)?.cases ?? [];
    const plugin = pluginOf(ident, name);
    return c.json((await runs.runCases(plugin, cases, c.req.raw.signal)) satisfies WorkView);
  });
}

const pluginOf = (identifier: string, pluginName: string): Plugin => ({
  identifier,
  namespace: namespaceOf(pluginName),
  pluginName,
});
