import { closeToolProcesses, createToolProcesses } from '../../service/src/http/create-service.ts';
import type { ToolProcesses } from '../../service/src/http/create-service.ts';
import { loadLanguages } from '../../service/src/toolchains/languages.ts';
import { mebibyte } from '../../service/src/units.ts';

let shared: ToolProcesses | undefined;

/** Time enough for any run on a busy machine. A test of the limit gives its tenant a shorter one: `limitRuns` of `harness.ts`. */
export const patientRuns = { time: 20_000, memory: 32 * mebibyte };

/**
 * The compilers and runners of all services in a process of tests: to start them for each takes longer than most tests. They end
 * with the process.
 */
export function sharedToolProcesses(): ToolProcesses {
  if (!shared) {
    const processes = (shared = createToolProcesses(loadLanguages(), { runLimits: patientRuns }));
    process.once('exit', () => void closeToolProcesses(processes));
  }
  return shared;
}
