import { closeToolProcesses, createToolProcesses } from '../../service/src/http/create-service.ts';
import type { ServiceOptions, ToolProcesses } from '../../service/src/http/create-service.ts';
import { defaultLimits } from '../../service/src/sandbox/run-limits.ts';
import { Sandbox } from '../../service/src/sandbox/sandbox.ts';
import { defaultWaiting } from '../../service/src/sandbox/waiting-runs.ts';
import { loadLanguages } from '../../service/src/toolchains/languages.ts';

/** Time enough for any run on a busy machine. A test of the limit gives its tenant a shorter one: `limitRuns` of `harness.ts`. */
export const patientLimits = { ...defaultLimits, time: 20_000 };

let shared: ToolProcesses | undefined;

/**
 * The compilers and runners of all services in a process of tests: to start them for each takes longer than most tests. They end
 * with the process.
 */
export function sharedToolProcesses(): ToolProcesses {
  if (!shared) {
    const waiting = { ...defaultWaiting, time: 60_000 };
    const processes = (shared = createToolProcesses(loadLanguages(), { runLimits: patientLimits, waiting }));
    process.once('exit', () => void closeToolProcesses(processes));
  }
  return shared;
}

/** Those, with a new sandbox that has these limits, which the caller closes. */
export const withOwnSandbox = ({
  runLimits,
  waiting,
}: Pick<ServiceOptions, 'runLimits' | 'waiting'>): ToolProcesses => ({
  ...sharedToolProcesses(),
  sandbox: new Sandbox({ ...(runLimits && { limits: runLimits }), ...(waiting && { waiting }) }),
});
