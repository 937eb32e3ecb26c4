import { RunError } from 'plugin-editor/server.js';
import type { EnvironmentClient, ExecutionClient, ExecutionLocation } from 'plugin-editor/server.js';
import type { Case } from './places/place.ts';
import type { Plugin } from './plugins.ts';
import { askService, whereFound } from './service-errors.ts';
import type { CaseView, VersionRun, VersionRuns, WorkView } from './wire.ts';

export interface PluginRuns {
  /** Runs what is live, as the app does when the plugin's turn comes: no version is named. */
  runLive(plugin: Plugin, input: string, signal?: AbortSignal): Promise<VersionRuns>;
  /** Runs the latest versions with the same input, to compare them. */
  runVersions(plugin: Plugin, input: string, signal?: AbortSignal): Promise<VersionRuns>;
  /** Runs what is live with values of the app's own. */
  runCases(plugin: Plugin, cases: readonly Case[], signal?: AbortSignal): Promise<WorkView>;
}

/** The most versions that are run at once asking, and how many at a time. */
const MOST = 30;
const AT_A_TIME = 4;

/** Runs of plugins by the vendor's back end. */
export function createPluginRuns(service: EnvironmentClient, execution: ExecutionClient): PluginRuns {
  return {
    runLive: (plugin, input, signal) =>
      askService('Running a plugin', async () => {
        const found = await whereFound(service.getPlugin(plugin, { signal }));
        if (!found || found.live === null) return { runs: [], more: false };
        const run = await runOne(execution, plugin, found.live, input, signal);
        return { runs: run ? [run] : [], more: false };
      }),

    runVersions: (plugin, input, signal) =>
      askService('Running versions', async () => {
        const listed = await whereFound(service.listVersions(plugin, { limit: MOST, signal }));
        const versions = (listed?.versions ?? []).map(({ version }) => version);
        const runs: VersionRun[] = [];
        for (let at = 0; at < versions.length; at += AT_A_TIME) {
          const some = versions.slice(at, at + AT_A_TIME);
          const done = await Promise.all(
            some.map((version) => runOne(execution, { ...plugin, version }, version, input, signal)),
          );
          runs.push(...done.filter((one) => one !== undefined));
        }
        return { runs, more: listed?.next !== undefined };
      }),

    runCases: (plugin, cases, signal) =>
      askService('Running a plugin with the app’s values', async () => {
        const found = await whereFound(service.getPlugin(plugin, { signal }));
        if (!found || found.live === null) return { cases: [] };
        const live = found.live;
        const runCase = async ({ input, what, without, show }: Case): Promise<CaseView> => {
          const run = await runOne(execution, plugin, live, JSON.stringify(input), signal);
          if (run?.output === undefined) return { what, without, failure: run?.failure };
          // It fits the namespace's schema: a run whose output does not is an error, `invalid-output`.
          return { what, without, shown: show(JSON.parse(run.output)) };
        };
        return { cases: await Promise.all(cases.map(runCase)) };
      }),
  };
}

/** With these statuses the service refused to run anything: they say nothing of the plugin. */
const NOT_RUN = [400, 401, 403];

/**
 * One run; `undefined` when the version is gone.
 * @param label the version that is shown where the answer names none
 */
async function runOne(
  execution: ExecutionClient,
  location: ExecutionLocation,
  label: string,
  input: string,
  signal: AbortSignal | undefined,
): Promise<VersionRun | undefined> {
  const started = performance.now();
  const passed = () => Math.round((performance.now() - started) * 10) / 10;
  try {
    const {
      output,
      version = label,
      took = passed(),
    } = await execution.runWithDetails(location, input, {
      signal,
    });
    return { version, output, took };
  } catch (error) {
    if (!(error instanceof RunError) || NOT_RUN.includes(error.status)) throw error;
    if (error.status === 404) return undefined;
    const { code, message, path, logs } = error;
    return { version: label, failure: { code, message, path, logs }, took: passed() };
  }
}
