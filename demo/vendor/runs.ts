import { HttpError, RequestError } from 'plugin-editor/server.js';
import type { ExecutionClient } from 'plugin-editor/server.js';
import { Refusal } from './refusals.ts';
import type { VersionRun, VersionRuns } from './wire.ts';

interface Plugin {
  identifier: string;
  pluginName: string;
}

type Execution = Pick<ExecutionClient, 'run'>;

/** The most versions that are run at once asking, and how many at a time. */
const MOST = 30;
const AT_A_TIME = 4;

const nameOf = (patch: number) => `v1.0.${patch}`;

/**
 * Runs what is deployed of a plugin. No operation lists versions, and a page that says what was deployed could say
 * anything, or miss what was deployed from elsewhere; but versions are numbered without gaps, and the execution
 * interface answers 404 for one that is not there. So it is asked: what is shown is what it runs.
 */
export function createPluginRuns(
  execution: Execution,
): (plugin: Plugin, input: string, signal?: AbortSignal) => Promise<VersionRuns> {
  // Versions never go away: a search need not begin before the newest that was found.
  const newest = new Map<string, number>();

  return async (plugin, input, signal) => {
    const runs = new Map<number, Promise<VersionRun | undefined>>();
    const run = (patch: number) => {
      const known = runs.get(patch) ?? runVersion(execution, plugin, nameOf(patch), input, signal);
      runs.set(patch, known);
      return known;
    };
    const key = JSON.stringify(plugin);
    const last = await findLast(newest.get(key) ?? -1, async (patch) => (await run(patch)) !== undefined);
    newest.set(key, last);
    const shown = Array.from({ length: Math.min(last + 1, MOST) }, (_, index) => last - index);
    const done: VersionRun[] = [];
    for (let at = 0; at < shown.length; at += AT_A_TIME) {
      const some = await Promise.all(shown.slice(at, at + AT_A_TIME).map(run));
      done.push(...some.filter((one) => one !== undefined));
    }
    return { runs: done, older: last + 1 - shown.length };
  };
}

/**
 * The last number for which `exists` holds, when it holds for all up to there and for none after; -1 for none. It is
 * known to hold up to `known`. Asks as often as the number has binary digits, twice over.
 */
export async function findLast(known: number, exists: (n: number) => Promise<boolean>): Promise<number> {
  let yes = known;
  let step = 1;
  while (await exists(yes + step)) {
    yes += step;
    step *= 2;
  }
  for (let no = yes + step; no - yes > 1;) {
    const middle = Math.floor((yes + no) / 2);
    if (await exists(middle)) yes = middle;
    else no = middle;
  }
  return yes;
}

/** One run; `undefined` when there is no such version. */
async function runVersion(
  execution: Execution,
  plugin: Plugin,
  version: string,
  input: string,
  signal: AbortSignal | undefined,
): Promise<VersionRun | undefined> {
  const started = performance.now();
  const took = () => Math.round((performance.now() - started) * 10) / 10;
  try {
    const output = await execution.run({ ...plugin, version }, input, { signal });
    return { version, output, took: took() };
  } catch (error) {
    if (error instanceof HttpError) {
      if (error.status === 404) return undefined;
      const problem = problems[error.status];
      if (problem) return { version, problem, took: took() };
    }
    if (error instanceof TypeError) throw new Refusal(400, 'invalid-run', `${error.message}.`);
    if (!(error instanceof RequestError)) throw error;
    // The error has the address, and so the name as a path holds it: as it is, it could forge a line of this log.
    console.error(`${version} was not run:`, error);
    throw new Refusal(502, 'no-run', 'The plugin service gave no usable answer.');
  }
}

/** Why a version that is there gave no output; its own words stay with the plugin service. */
const problems: Readonly<Record<number, string>> = {
  413: 'The input is larger than a plugin may be given.',
  422: 'The plugin failed: it threw an error, or met a limit.',
  429: 'Too much was running at once; try again.',
  503: 'The plugin service was busy; try again.',
  504: 'The plugin ran out of time.',
};
