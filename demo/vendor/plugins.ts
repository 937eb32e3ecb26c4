import { BuilderClient } from 'plugin-editor/client.js';
import { eachPage, parseIdent } from 'plugin-editor/server.js';
import type { EnvironmentClient, PluginRun, Rollout } from 'plugin-editor/server.js';
import { nameOfActor } from './accounts.ts';
import { namespaceOf } from './places/places.ts';
import { callService, undefinedIfNotFound } from './refusals.ts';
import type { Overview, PluginDetails, RolloutView, RunView } from './wire.ts';

/** What names a plugin at the plugin service. */
export interface Plugin {
  identifier: string;
  namespace: string;
  pluginName: string;
}

export interface Plugins {
  /**
   * What is live of a customer's plugins.
   * @param actor who reads it, for the audit log of the plugin service
   */
  overview(identifier: string, actor: string): Promise<Overview>;
  /** @param showsTexts whether messages and logs of runs are among it, which may hold other people's data */
  details(plugin: Plugin, showsTexts: boolean, actor: string): Promise<PluginDetails>;
  /**
   * @param version `null` for the newest, now and after each deploy
   * @param actor who chose it, which the plugin service keeps
   */
  setLive(plugin: Plugin, version: string | null, actor: string): Promise<void>;
}

/** How many versions and runs are shown. */
const MAX_VERSIONS = 20;
const MAX_RUNS = 10;

/** Of how many plugins in a list the latest failure is looked up. */
const MAX_FAILURES = 20;

/** Reads plugins and sets what is live, with the environment token, which permits everything: callers check the user before. */
export function createPlugins(service: EnvironmentClient, builderUrl: string): Plugins {
  const isSuspended = async (identifier: string) =>
    (await undefinedIfNotFound(service.getTenant({ identifier })))?.suspended ?? false;

  return {
    overview: (identifier, actor) =>
      callService('Reading the plugins', async () => {
        const plugins: Overview['plugins'] = [];
        const list = (after: string | undefined) =>
          service.listPlugins({ identifier }, { limit: 200, after });
        for await (const page of eachPage(list)) {
          // A plugin of the same name in another namespace is not used by the app.
          const own = page.plugins.filter(({ namespace, name }) => namespace === namespaceOf(name));
          plugins.push(...own.map(({ name, lang, live, latest }) => ({ name, lang, live, latest })));
        }
        await Promise.all(
          plugins.slice(0, MAX_FAILURES).map(async (plugin) => {
            const location = { identifier, namespace: namespaceOf(plugin.name), pluginName: plugin.name };
            const found = await undefinedIfNotFound(
              service.listRuns(location, { success: false, limit: 1, actor }),
            );
            const [run] = found?.runs ?? [];
            if (run) plugin.lastFailure = { at: run.timestamp, code: run.error?.code ?? 'failed' };
          }),
        );
        return { suspended: await isSuspended(identifier), plugins };
      }),

    details: (plugin, showsTexts, actor) =>
      callService('Reading a plugin', async () => {
        const [suspended, found, rollout, listed, ran] = await Promise.all([
          isSuspended(plugin.identifier),
          undefinedIfNotFound(service.getPlugin(plugin)),
          undefinedIfNotFound(service.getRollout(plugin)),
          undefinedIfNotFound(service.listVersions(plugin, { limit: MAX_VERSIONS })),
          undefinedIfNotFound(service.listRuns(plugin, { limit: MAX_RUNS, actor })),
        ]);
        return {
          suspended,
          live: found?.live ?? null,
          pinned: found?.pinned ? { at: found.pinned.at, by: nameOfActor(found.pinned.actor) } : undefined,
          ...(rollout && !rollout.stopped && { rollout: rolloutView(rollout) }),
          versions: (listed?.versions ?? []).map(({ version, deployedAt, actor: by, message, live }) => ({
            version,
            at: deployedAt,
            by: nameOfActor(by),
            message,
            live,
          })),
          more: listed?.next !== undefined,
          runs: (ran?.runs ?? []).map((run) => runView(run, showsTexts)),
        };
      }),

    setLive: ({ identifier, namespace, pluginName }, version, actor) =>
      callService('Choosing what is live', async () => {
        // The service records the actor of an editor token; the environment token has none.
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
          // Where this fails, the token ends within a minute.
          await builder.endSession().catch(() => undefined);
        }
      }),
  };
}

const rolloutView = ({ version, percent, runs, failures, live }: Rollout): RolloutView => ({
  version,
  percent,
  runs,
  failures,
  live: { version: live.version, runs: live.runs, failures: live.failures },
});

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
