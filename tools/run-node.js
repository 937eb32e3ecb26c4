import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { execPath } from 'node:process';
import { fileURLToPath } from 'node:url';

// Runs before anything is installed: plain JavaScript, no dependencies.

/** The folder of the repository, without a slash at its end. */
export const root = fileURLToPath(new URL('..', import.meta.url)).replace(/[\\/]$/, '');

/**
 * Runs a program in Node, in the folder of the repository and with this process's terminal. A request to end goes on to it,
 * so that nothing runs on when its starter is gone.
 *
 * @param {readonly string[]} args arguments of Node: options, the program's file relative to the folder, its arguments
 * @param {string} [node] the Node that runs it; by default the one of this process
 * @param {(chunk: Buffer) => unknown} [onOutput] gets what it prints, errors included, which then does not go to the terminal
 * @returns {Promise<number>} its exit code; where a signal ended it, 128 and the signal's number, as in a shell; and 130
 *   where it was interrupted and ended with 0, so that what waits for it does not go on
 */
export function runNode(args, node = execPath, onOutput) {
  // SQLite in Node 24 calls itself experimental at each start.
  const child = spawn(node, ['--disable-warning=ExperimentalWarning', ...args], {
    cwd: root,
    stdio: onOutput ? ['inherit', 'pipe', 'pipe'] : 'inherit',
  });
  if (onOutput) for (const stream of [child.stdout, child.stderr]) stream?.on('data', onOutput);
  // A terminal sends its interrupt to both, and the program decides how it ends. The others reach this process alone.
  let interrupted = false;
  const noteInterrupt = () => {
    interrupted = true;
  };
  /** @param {NodeJS.Signals} signal */
  const forward = (signal) => child.kill(signal);
  process.on('SIGINT', noteInterrupt).on('SIGTERM', forward).on('SIGHUP', forward);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      process.off('SIGINT', noteInterrupt).off('SIGTERM', forward).off('SIGHUP', forward);
      const result = signal ? 128 + constants.signals[signal] : (code ?? 1);
      resolve(interrupted && result === 0 ? 128 + constants.signals.SIGINT : result);
    });
  });
}
