import { accessSync, constants } from 'node:fs';

/**
 * V8's option for how large each half of its young generation may become, in MiB. By itself V8 takes up to 64 where the machine has
 * much memory, which holds 100 MB more and makes a run no cheaper (`npm run bench -- executions growth`).
 */
const [option, size] = ['--max-semi-space-size', 16];

/**
 * Starts this program anew in the same process with that option, which V8 reads only at its start, and does not return. Does nothing
 * where the program was started with a size, on Windows, where Node cannot do so, and where the parent has a channel to this process,
 * which would be closed.
 */
export function limitYoungGeneration(): void {
  const given = [...process.execArgv, process.env['NODE_OPTIONS'] ?? ''];
  if (given.some((one) => one.replaceAll('_', '-').includes(option))) return;
  if (process.platform === 'win32' || process.send) return;
  const { execPath, execArgv, argv, env } = process;
  try {
    // Node aborts where the system cannot execute it.
    accessSync(execPath, constants.X_OK);
    process.execve?.(execPath, [execPath, ...execArgv, `${option}=${size}`, ...argv.slice(1)], env);
  } catch {
    // The service serves as well without.
  }
}
