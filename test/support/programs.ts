import { execFile, type ExecFileOptions } from 'node:child_process';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/** What a program printed. */
export interface Output {
  stdout: string;
  stderr: string;
}

/** Runs a program without input. Rejects with everything that it printed unless it exits with 0. */
export async function run(
  program: string,
  args: readonly string[],
  options: ExecFileOptions = {},
): Promise<Output> {
  const running = execute(program, args, { maxBuffer: 2 ** 26, ...options, encoding: 'utf8' });
  running.child.stdin?.end();
  return running.catch((error: Error & Output) => {
    // Node adds only the error output to the message.
    error.message += `\n${error.stdout}`;
    throw error;
  });
}

/** Runs npm with the user's settings, and without the variables that an npm around this process has set. */
export function npm(cwd: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Output> {
  // On Windows npm is a batch file.
  return run('npm', args, { cwd, env: { ...ownVariables(), ...env }, shell: process.platform === 'win32' });
}

/**
 * Runs a script of the package in a folder, in the same environment as `npm` above. Node runs it instead of npm, whose own
 * start takes longer than many a script.
 */
export function runScript(cwd: string, script: string, env: NodeJS.ProcessEnv = {}): Promise<Output> {
  return run(process.execPath, ['--run', script], { cwd, env: { ...ownVariables(), ...env } });
}

/** The cache of compiled modules stays: only the time that programs take depends on it. */
function ownVariables(): NodeJS.ProcessEnv {
  const foreign = /^npm_(?!config_)|^NODE_(?!EXTRA_|COMPILE_CACHE$)/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !foreign.test(name)));
}
