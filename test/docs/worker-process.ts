import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { requireTestPackage } from '../packages/packages.ts';

/** The package has no types: where the binary for this machine is, and the newest date that it knows. */
const workerd = () => requireTestPackage('workerd') as Record<'default' | 'compatibilityDate', string>;

export const newestDate = (): string => workerd().compatibilityDate;

export interface WorkerProcess extends AsyncDisposable {
  port: number;
}

/** Runs a worker in a `workerd` of its own, on loopback. The bundle is `worker.js` in `directory`. */
export async function startWorker(
  directory: string,
  write: (name: string, text: string) => Promise<string>,
  { date, bindings }: { date: string; bindings: Record<string, string> },
): Promise<WorkerProcess> {
  const file = await write(
    `${date}.capnp`,
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .worker),
    (name = "internet", network = (allow = ["local"])),
  ],
  sockets = [(name = "http", http = (), service = "main")],
);
const worker :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = embed "worker.js")],
  compatibilityDate = "${date}",
  bindings = [${Object.entries(bindings)
    .map(([name, text]) => `(name = ${JSON.stringify(name)}, text = ${JSON.stringify(text)})`)
    .join()}],
);
`,
  );
  const child = spawn(
    workerd().default,
    ['serve', file, '--socket-addr=http=127.0.0.1:0', '--control-fd=3'],
    {
      cwd: directory,
      stdio: ['ignore', 'inherit', 'inherit', 'pipe'],
    },
  );
  const ended = once(child, 'exit');
  const port = await new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`workerd ended with ${code}`)));
    createInterface(child.stdio[3] as NodeJS.ReadableStream).on('line', (line) => {
      const { event, port: chosen } = JSON.parse(line) as { event: string; port: number };
      if (event === 'listen') resolve(chosen);
    });
  });
  return {
    port,
    [Symbol.asyncDispose]: async () => {
      child.kill();
      await ended;
    },
  };
}
