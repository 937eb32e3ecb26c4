/**
 * V8's option for how large each half of its young generation may become, in MiB. By itself V8 takes up to 64 where the machine has
 * much memory, which holds 100 MB more and makes a run no cheaper (`npm run bench -- executions growth`).
 */
const [option, size] = ['--max-semi-space-size', 16];

/**
 * Starts this program anew in the same process with that option, which V8 reads at its start alone, and does not return. Does nothing
 * where it was started with a size, and where the system or the parent allows no such start.
 */
export function limitYoungGeneration(): void {
  const given = [...process.execArgv, process.env['NODE_OPTIONS'] ?? ''];
  if (given.some((one) => one.replaceAll('_', '-').includes(option))) return;
  // A channel to the parent would not outlast it.
  if (process.platform === 'win32' || process.send) return;
  const { execPath, execArgv, argv, env } = process;
  process.execve?.(execPath, [execPath, ...execArgv, `${option}=${size}`, ...argv.slice(1)], env);
}
