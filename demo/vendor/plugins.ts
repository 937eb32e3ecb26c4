import { BuilderClient } from 'plugin-editor/client.js';
import { eachPage, parseIdent } from 'plugin-editor/server.js';
import type { EnvironmentClient, PluginRun } from 'plugin-editor/server.js';
import { nameOfActor } from './accounts.ts';
import { namespaceOf } from './places/places.ts';
import { askService, whereFound } from './service-errors.ts';
import type { Overview, PluginDetails, RunView } from './wire.ts';

/** Where a plugin is at the plugin service. */
export interface Plugin {
  identifier: string;
  namespace: string;
  pluginName: string;
}

export interface Plugins {
  /** What is live of a customer's plugins. */
  overview(identifier: string): Promise<Overview>;
  /** @param showsTexts whether messages and logs of runs are among it, which may hold other people's data */
  details(plugin: Plugin, showsTexts: boolean): Promise<PluginDetails>;
  /**
   * @param version `null` for the newest, now and after each deploy
   * @param actor who chose it, which the plugin service keeps
   */
  setLive(plugin: Plugin, version: string | null, actor: string): Promise<void>;
}

/** How many versions and runs are shown. */
const MOST_VERSIONS = 20;
const MOST_RUNS = 10;

/** What the vendor's back end tells of plugins. The environment token may do everything: ask who asks before. */
export function createPlugins(service: EnvironmentClient, builderUrl: string): Plugins {
  const isSuspended = async (identifier: string) =>
    (await whereFound(service.getTenant({ identifier })))?.suspended ?? false;

  return {
    overview: (identifier) =>
      askService('Reading the plugins', async () => {
        const plugins: Overview['plugins'] = [];
        const list = (after: string | undefined) =>
          service.listPlugins({ identifier }, { limit: 200, after });
        for await (const page of eachPage(list)) {
          // One of the same name in another namespace is not the app's.
          const own = page.plugins.filter(({ namespace, name }) => namespace === namespaceOf(name));
          plugins.push(...own.map(({ name, live, latest }) => ({ name, live, latest })));
        }
        return { suspended: await isSuspended(identifier), plugins };
      }),

    details: (plugin, showsTexts) =>
      askService('Reading a plugin', async () => {
        const [suspended, found, listed, ran] = await Promise.all([
          isSuspended(plugin.identifier),
          whereFound(service.getPlugin(plugin)),
          whereFound(service.listVersions(plugin, { limit: MOST_VERSIONS })),
          whereFound(service.listRuns(plugin, { limit: MOST_RUNS })),
        ]);
        return {
          suspended,
          live: found?.live ?? null,
          pinned: found?.pinned ? { at: found.pinned.at, by: nameOfActor(found.pinned.actor) } : undefined,
          versions: (listed?.versions ?? []).map(({ version, deployedAt, actor, message, live }) => ({
            version,
            at: deployedAt,
            by: nameOfActor(actor),
            message,
            live,
          })),
          more: listed?.next !== undefined,
          runs: (ran?.runs ?? []).map((run) => runView(run, showsTexts)),
        };
      }),

    setLive: ({ identifier, namespace, pluginName }, version, actor) =>
      askService('Choosing what is live', async () => {
        // The environment token is nobody in particular: with an editor token the service keeps who it was.
        const { token } = await service.createSession(
          { identifier },
          {
            scope: 'plugin',
            namespace,
            fn: pluginName,
            permissions: ['read', 'deploy'],
            actor,
            expires_in: 60,
          },
        );
        const builder = new BuilderClient({ baseUrl: builderUrl, token });
        const { environment, tenant: userID } = parseIdent(identifier);
        try {
          await builder.setLive({ environment, userID, namespace, pluginName }, version);
        } finally {
          // It ends within a minute where this fails.
          await builder.endSession().catch(() => undefined);
        }
      }),
  };
}

function runView({ uuid, timestamp, version, took, error, logs }: PluginRun, showsTexts: boolean): RunView {
  const { code, message, path } = error ?? {};
  return {
    id: uuid,
    at: timestamp,
    version,
    took,
    ...(code !== undefined && { failure: { code, path, ...(showsTexts && { message }) } }),
    ...(showsTexts && { logs }),
  };
}
