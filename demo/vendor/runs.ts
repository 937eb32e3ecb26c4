import { RunError } from 'plugin-editor/server.js';
import type { EnvironmentClient, ExecutionClient, ExecutionLocation } from 'plugin-editor/server.js';
import type { Case } from './places/place.ts';
import type { Plugin } from './plugins.ts';
import { callService, undefinedIfNotFound } from './refusals.ts';
import type { CaseView, VersionRun, VersionRuns, WorkView } from './wire.ts';

export interface PluginRuns {
  /** Runs the live version, as the app itself does: it names no version. */
  runLive(plugin: Plugin, input: string, signal?: AbortSignal): Promise<VersionRuns>;
  /** Runs the latest versions with the same input, to compare them. */
  runVersions(plugin: Plugin, input: string, signal?: AbortSignal): Promise<VersionRuns>;
  /** Runs the live version with the app's own data. */
  runCases(plugin: Plugin, cases: readonly Case[], signal?: AbortSignal): Promise<WorkView>;
}

/** How many versions one request runs at most, and how many at a time. */
const MAX_VERSIONS = 30;
const AT_A_TIME = 4;

/** Runs of plugins by the vendor's back end. */
export function createPluginRuns(service: EnvironmentClient, execution: ExecutionClient): PluginRuns {
  return {
    runLive: (plugin, input, signal) =>
      callService('Running a plugin', async () => {
        const found = await undefinedIfNotFound(service.getPlugin(plugin, { signal }));
        if (!found || found.live === null) return { runs: [], more: false };
        const run = await runOne(execution, plugin, found.live, input, signal);
        return { runs: run ? [run] : [], more: false };
      }),

    runVersions: (plugin, input, signal) =>
      callService('Running versions', async () => {
        const listed = await undefinedIfNotFound(
          service.listVersions(plugin, { limit: MAX_VERSIONS, signal }),
        );
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
      callService('Running a plugin with the app’s values', async () => {
        const found = await undefinedIfNotFound(service.getPlugin(plugin, { signal }));
        const live = found?.live ?? null;
        const runCase = async ({ input, what, detail, without, show }: Case): Promise<CaseView> => {
          if (live === null) return { what, detail, without };
          // By its version: without one, the service would choose another for some of the runs during a rollout.
          const run = await runOne(
            execution,
            { ...plugin, version: live },
            live,
            JSON.stringify(input),
            signal,
          );
          if (run?.output === undefined) return { what, detail, without, failure: run?.failure };
          // The output fits the schema that the live version was built with: otherwise the run would be an error, `invalid-output`.
          // An app that changes its types has to expect the former ones of versions that are outdated.
          return { what, detail, without, shown: show(JSON.parse(run.output)) };
        };
        return { live, cases: await Promise.all(cases.map(runCase)) };
      }),
  };
}

/** The statuses with which the service refuses to run anything, whatever the plugin does. */
const NOT_RUN = [400, 401, 403];

/**
 * One run; `undefined` when the version is gone.
 * @param label the version that is shown where the response names none
 */
async function runOne(
  execution: ExecutionClient,
  location: ExecutionLocation,
  label: string,
  input: string,
  signal: AbortSignal | undefined,
): Promise<VersionRun | undefined> {
  const started = performance.now();
  const elapsed = () => Math.round((performance.now() - started) * 10) / 10;
  try {
    const {
      output,
      version = label,
      took = elapsed(),
    } = await execution.runWithDetails(location, input, {
      signal,
    });
    return { version, output, took };
  } catch (error) {
    if (!(error instanceof RunError) || NOT_RUN.includes(error.status)) throw error;
    if (error.status === 404) return undefined;
    const { code, message, path, logs } = error;
    return { version: label, failure: { code, message, path, logs }, took: elapsed() };
  }
}
