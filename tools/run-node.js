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
 * The programs that run, and which of them were interrupted.
 *
 * @typedef {{ child: import('node:child_process').ChildProcess, isInterrupted: boolean }} Running
 * @type {Set<Running>}
 */
const running = new Set();

/** @param {NodeJS.Signals} signal */
const forward = (signal) => {
  for (const { child } of running) child.kill(signal);
};
// A terminal sends SIGINT to both processes, and the program decides how it ends. The other signals reach only this process.
const noteInterrupt = () => {
  for (const one of running) one.isInterrupted = true;
};

const parent = process.ppid;
/** @type {NodeJS.Timeout | undefined} */
let orphanWatch;

/** @param {Running} one */
function add(one) {
  running.add(one);
  if (running.size > 1) return;
  process.on('SIGINT', noteInterrupt).on('SIGTERM', forward).on('SIGHUP', forward);
  // npm runs scripts in a shell. A signal to npm ends the shell without reaching this process, which then has another parent.
  if (process.env['npm_lifecycle_event'] === undefined) return;
  orphanWatch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(orphanWatch);
    forward('SIGTERM');
  }, 250);
}

/** @param {Running} one */
function remove(one) {
  running.delete(one);
  if (running.size > 0) return;
  process.off('SIGINT', noteInterrupt).off('SIGTERM', forward).off('SIGHUP', forward);
  clearInterval(orphanWatch);
}

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
  const one = { child, isInterrupted: false };
  add(one);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      const result = signal ? 128 + constants.signals[signal] : (code ?? 1);
      // The system may report the interrupt, which both processes got, after the end that it caused.
      setTimeout(() => {
        remove(one);
        resolve(one.isInterrupted && result === 0 ? 128 + constants.signals.SIGINT : result);
      }, SIGNAL_DELAY);
    });
  });
}
