import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { execPath } from 'node:process';
import { fileURLToPath } from 'node:url';

// Runs before anything is installed: plain JavaScript, no dependencies.

/** The folder of the repository, without a slash at its end. */
export const root = fileURLToPath(new URL('..', import.meta.url)).replace(/[\\/]$/, '');

/** How long a signal may take to be reported, in ms. */
const SIGNAL_DELAY = 20;

/**
 * Runs a program in Node, in the folder of the repository and with this process's terminal. Signals to end are passed on to it,
 * so that it does not outlive this process.
 *
 * @param {readonly string[]} args arguments of Node: options, the program's file relative to the folder, its arguments
 * @param {string} [node] the Node that runs it; by default the one of this process
 * @param {(chunk: Buffer) => unknown} [onOutput] called with its output and errors, which then do not go to the terminal
 * @returns {Promise<number>} its exit code; where a signal ended it, 128 plus the signal's number, as in a shell; and 130 where
 *   it was interrupted and ended with 0, so that callers do not continue
 */
export function runNode(args, node = execPath, onOutput) {
  // Node 24 warns at each start that SQLite is experimental.
  const child = spawn(node, ['--disable-warning=ExperimentalWarning', ...args], {
    cwd: root,
    stdio: onOutput ? ['inherit', 'pipe', 'pipe'] : 'inherit',
  });
  if (onOutput) for (const stream of [child.stdout, child.stderr]) stream?.on('data', onOutput);
  // A terminal sends SIGINT to both processes, and the program decides how it ends. The other signals reach only this process.
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
      const result = signal ? 128 + constants.signals[signal] : (code ?? 1);
      // The system may report the interrupt, which both processes got, after the end that it caused.
      setTimeout(() => {
        process.off('SIGINT', noteInterrupt).off('SIGTERM', forward).off('SIGHUP', forward);
        resolve(interrupted && result === 0 ? 128 + constants.signals.SIGINT : result);
      }, SIGNAL_DELAY);
    });
  });
}
