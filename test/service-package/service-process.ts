import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { consumer, node22Program } from './fixture.ts';

/** The environment of a command: the oldest Node as `node`, and state in a folder of the test. */
const environment = (dataDirectory: string) => ({
  ...Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^npm_(?!config_)|^NODE_(?!EXTRA_)/.test(name)),
  ),
  PATH: [dirname(node22Program), process.env['PATH']].join(delimiter),
  DATA_DIR: dataDirectory,
  SERVICE_PORT: '0',
  // No run of these tests loops, and a busy machine may need more than the default of a second.
  RUN_TIMEOUT_MS: '20000',
});

export async function temporaryDataDirectory() {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'plugin-service-data-')));
  return { folder, remove: () => rm(folder, { recursive: true, force: true, maxRetries: 3 }) };
}

/** Runs `npx plugin-editor-service` of the installed package, without requests to the registry. */
export function runCommand(dataDirectory: string, ...args: string[]) {
  const child = spawn('npx', ['--no', '--offline', 'plugin-editor-service', ...args], {
    cwd: consumer,
    env: environment(dataDirectory),
    shell: process.platform === 'win32',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [out, err] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
  const closed = once(child, 'close') as Promise<[code: number | null]>;
  return { child, output: () => out, errors: () => err, closed };
}

/** Starts the service; resolves once it has printed its address. */
export async function startInstalled(dataDirectory: string) {
  const { child, output, errors, closed } = runCommand(dataDirectory, 'serve');
  const address = () => /"The plugin service is at (http:\/\/localhost:\d+)\/"/.exec(output())?.[1];
  let hasEnded = false;
  void closed.then(() => (hasEnded = true));
  while (address() === undefined) {
    await Promise.race([once(child.stdout, 'data'), closed]);
    if (hasEnded) throw new Error(`The service ended: ${output()}${errors()}`);
  }
  return {
    origin: address() ?? '',
    pid: child.pid ?? 0,
    errors,
    /** Ends it as a process manager does; resolves when no process of it holds its output any more. */
    stop: async () => {
      child.kill('SIGTERM');
      await closed;
    },
  };
}
