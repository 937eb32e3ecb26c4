import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { memoryFolder } from '../support/memory-folder.ts';
import { until } from '../support/until.ts';

export { launchChromium } from '../support/chromium.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const coldCompilers = `--import=${new URL('../support/cold-compilers.ts', import.meta.url).href}`;

export interface Run {
  pid: number;
  /** Everything printed so far, errors included. */
  output: () => string;
  /** Resolves with the exit code once the process has ended, `null` when a signal killed it. */
  ended: Promise<number | null>;
  kill: (signal: NodeJS.Signals) => void;
}

export interface RunningDemo extends Run {
  /** Address of the vendor's app, as printed: `http://localhost:<port>/`. */
  vendor: string;
  /** Address of the plugin service, as printed. */
  service: string;
  dataDir: string;
  /** Ends it as a terminal would; resolves with the exit code. Deletes the data unless the caller brought it. */
  stop: () => Promise<number | null>;
}

/** Runs what `npm start` runs, in a separate process. Without ports in `env`, on free ones. */
export function runServe(env: Record<string, string>): Run {
  return run(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', coldCompilers, 'demo/serve.ts'],
    env,
  );
}

/** The same in a shell that passes no signal on, as npm does it. Ended once nobody holds its output any longer. */
export function runServeInShell(env: Record<string, string>): Run {
  const script = `"${process.execPath}" tools/run.js demo/serve.ts; exit $?`;
  return run('sh', ['-c', script], { ...env, npm_lifecycle_event: 'start' });
}

function run(command: string, args: string[], env: Record<string, string>): Run {
  const child = spawn(command, args, {
    cwd: root,
    env: { ...process.env, PORT: '0', SERVICE_PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  }
  return {
    pid: child.pid ?? 0,
    output: () => output,
    ended: once(child, 'close').then(([code]) => code as number | null),
    kill: (signal) => child.kill(signal),
  };
}

/** Starts the demo on free ports, with data of its own unless `DATA_DIR` is given, and waits until it serves. */
export async function startDemo(env: Record<string, string> = {}, serve = runServe): Promise<RunningDemo> {
  const givenDataDir = env['DATA_DIR'];
  const dataDir = givenDataDir ?? (await mkdtemp(join(memoryFolder, 'plugin-editor-demo-')));
  // The second that a run has by default is short on a machine with much else to do.
  const demo = serve({ RUN_TIMEOUT_MS: '10000', ...env, DATA_DIR: dataDir });
  const stop = async () => {
    demo.kill('SIGTERM');
    const code = await demo.ended;
    if (givenDataDir === undefined) await rm(dataDir, { recursive: true, force: true });
    return code;
  };
  const addresses = () => demo.output().match(/http:\/\/localhost:\d+\//g) ?? [];
  const exited = demo.ended.then((code) => {
    throw new Error(`The demo ended with exit code ${code}: ${demo.output()}`);
  });
  exited.catch(() => {});
  await Promise.race([
    // A machine with much else to do takes its time for that.
    until('a start of the demo', () => addresses().length >= 2 && demo.output().includes('start afresh')),
    exited,
  ]);
  const [vendor = '', service = ''] = addresses();
  return { ...demo, vendor, service, dataDir, stop };
}

/** Sends the path as it is written: no client tidies it. */
export function get(address: string, path: string, host?: string): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(address);
    const headers = host === undefined ? {} : { host };
    request({ hostname: hostname.replace(/[[\]]/g, ''), port, path, headers, agent: false }, (response) => {
      let body = '';
      response.setEncoding('latin1');
      response.on('data', (text: string) => (body += text));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body }));
    })
      .on('error', reject)
      .end();
  });
}

export const portOf = (address: string): string => new URL(address).port;
