import { closeToolProcesses, createToolProcesses } from '../../service/src/http/create-service.ts';
import type { ToolProcesses } from '../../service/src/http/create-service.ts';
import { loadLanguages } from '../../service/src/toolchains/languages.ts';

let shared: ToolProcesses | undefined;

/**
 * The compilers and runners of all services in a process of tests: to start them for each takes longer than most tests. They end
 * with the process.
 */
export function sharedToolProcesses(): ToolProcesses {
  if (!shared) {
    const processes = (shared = createToolProcesses(loadLanguages()));
    process.once('exit', () => void closeToolProcesses(processes));
  }
  return shared;
}
