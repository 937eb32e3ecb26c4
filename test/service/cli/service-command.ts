import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { checkConfiguration, lineOf } from '../../../service/src/cli/check.ts';
import { cleanUpFirst, databaseUrl } from '../storage/databases.ts';
import type { Cleanup } from '../storage/databases.ts';
import type { DatabaseAddress } from '../../../service/src/storage/database-url.ts';

const main = join(import.meta.dirname, '../../../service/src/cli/main.ts');
const coldCompilers = `--import=${new URL('../../support/cold-compilers.ts', import.meta.url).href}`;

/**
 * What a run of the tests sets for all of its processes: what was compiled for one serves the next, and the service comes from
 * where the run takes it.
 */
const { NODE_COMPILE_CACHE, NODE_OPTIONS } = process.env;

/** A line of the service's log. */
export interface LogLine {
  readonly level: string;
  readonly msg: string;
  readonly [field: string]: unknown;
}

/** Runs the command on a database, with settings that no variable of this machine changes. `cwd`: its folder (default: that of the tests). */
export function runCommand(
  t: Cleanup,
  address: DatabaseAddress | undefined,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  cwd?: string,
) {
  return runProgram(t, process.execPath, nodeArguments(args), address, env, cwd);
}

/** What Node is given to run the command. */
export const nodeArguments = (args: readonly string[]) => [
  '--disable-warning=ExperimentalWarning',
  ...(args[0] === undefined || args[0] === 'serve' ? [coldCompilers] : []),
  main,
  ...args,
];

/** The same with a program that runs the command. */
export function runProgram(
  t: Cleanup,
  program: string,
  args: readonly string[],
  address: DatabaseAddress | undefined,
  env: Readonly<Record<string, string>>,
  cwd?: string,
) {
  const child = spawn(program, args, {
    env: {
      PATH: process.env['PATH'],
      ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }),
      ...(NODE_OPTIONS && { NODE_OPTIONS }),
      SERVICE_PORT: '0',
      ...(address && { DATABASE_URL: databaseUrl(address) }),
      ...env,
    },
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  cleanUpFirst(t, () => child.kill('SIGKILL'));
  let [out, err] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (part: string) => (out += part));
  child.stderr.setEncoding('utf8').on('data', (part: string) => (err += part));
  const closed = once(child, 'close') as Promise<[code: number | null]>;
  return {
    pid: child.pid ?? NaN,
    /** Closes its standard output, as `head` does once it has seen enough. */
    stopReading: () => child.stdout.destroy(),
    kill: (signal: NodeJS.Signals) => child.kill(signal),
    done: async () => ({ status: (await closed)[0], out, err }),
    /** Resolves with what it has printed once a line begins in this way. */
    async printed(beginning: RegExp): Promise<string> {
      while (!beginning.test(out)) {
        const end = await Promise.race([once(child.stdout, 'data').then(() => undefined), closed]);
        if (end && !beginning.test(out)) throw new Error(`It ended with ${end[0]}: ${out}${err}`);
      }
      return out;
    },
    /**
     * The same, and ends it. For a test that asks about the first things that a command does, and not for those that take long.
     */
    async until(beginning: RegExp): Promise<string> {
      await this.printed(beginning);
      child.kill('SIGKILL');
      await closed;
      return out;
    },
    /** What it has logged so far. */
    logged: () =>
      out
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line) as LogLine),
    /** Resolves once there is such a line. */
    async line(isMeant: (line: LogLine) => boolean): Promise<LogLine> {
      for (;;) {
        const found = this.logged().find(isMeant);
        if (found) return found;
        const end = await Promise.race([once(child.stdout, 'data').then(() => undefined), closed]);
        if (end && !this.logged().some(isMeant)) throw new Error(`It ended with ${end[0]}: ${out}${err}`);
      }
    },
    /** Resolves with the ports once it serves. */
    async serving(): Promise<{ port: number; metricsPort: number; base: string }> {
      const line = await this.line(({ msg }) => msg.startsWith('The plugin service is at'));
      const port = Number(line['port']);
      return { port, metricsPort: Number(line['metricsPort']), base: `http://127.0.0.1:${port}` };
    },
  };
}

/**
 * Runs a command in this process, and resolves with what it prints and the exit code that it sets. How a command's error is printed,
 * and the exit code of that, are the same for all, and need a process.
 */
export async function runHere(
  t: TestContext,
  command: (args: string[]) => Promise<void>,
  address: DatabaseAddress | undefined,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
) {
  let [out, err] = ['', ''];
  const printing = [
    t.mock.method(console, 'log', (line: string) => (out += `${line}\n`)),
    t.mock.method(console, 'error', (line: string) => (err += `${line}\n`)),
  ];
  const { env: own, exitCode: ownExitCode, stdout } = process;
  const ownListeners = stdout.listeners('error');
  process.exitCode = undefined;
  process.env = { ...(address && { DATABASE_URL: databaseUrl(address) }), ...env };
  try {
    await command([...args]);
    return { out, err, exitCode: process.exitCode };
  } finally {
    process.env = own;
    process.exitCode = ownExitCode;
    // Such a listener ends the process where its output is closed.
    for (const listener of stdout.listeners('error'))
      if (!ownListeners.includes(listener)) stdout.off('error', listener as () => void);
    for (const { mock } of printing) mock.restore();
  }
}

/**
 * What `check` says of the settings, the database, its schema and its secrets. Its exit code and its
 * slow parts, the sandbox and the toolchains, need a process.
 */
export async function checkDatabase(
  address?: DatabaseAddress,
  env?: Readonly<Record<string, string>>,
): Promise<string> {
  const lines: string[] = [];
  await checkConfiguration(
    { SERVICE_PORT: '0', ...(address && { DATABASE_URL: databaseUrl(address) }), ...env },
    (part, finding) => lines.push(`${lineOf(part, finding)}\n`),
  );
  return lines.join('');
}
