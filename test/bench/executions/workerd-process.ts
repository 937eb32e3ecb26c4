import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { workerd } from './tools.ts';

export interface WorkerdProcess extends AsyncDisposable {
  pid: number;
  port: number;
}

// Does with a plugin what the service does: text comes in by POST, whatever the path and the token are, and text goes out.
const worker = `import { run } from 'plugin.js';
export default {
  async fetch(request) {
    const output = await run(await request.text());
    return new Response(output, { headers: { 'content-type': 'text/plain; charset=utf-8' } });
  },
};
`;

/** Serves a plugin in JavaScript by a separate `workerd` on loopback. It keeps its state between requests. */
export async function startWorkerd(plugin: string): Promise<WorkerdProcess> {
  const { program, compatibilityDate } = workerd();
  const directory = mkdtempSync(join(tmpdir(), 'workerd-bench-'));
  const write = (name: string, text: string) => writeFileSync(join(directory, name), text);
  write('plugin.js', plugin);
  write('worker.js', worker);
  write(
    'config.capnp',
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .worker)],
  sockets = [(name = "http", http = (), service = "main")],
);
const worker :Workerd.Worker = (
  modules = [
    (name = "worker.js", esModule = embed "worker.js"),
    (name = "plugin.js", esModule = embed "plugin.js"),
  ],
  compatibilityDate = "${compatibilityDate}",
);
`,
  );
  const child = spawn(
    program,
    ['serve', join(directory, 'config.capnp'), '--socket-addr=http=127.0.0.1:0', '--control-fd=3'],
    { cwd: directory, stdio: ['ignore', 'inherit', 'inherit', 'pipe'] },
  );
  const ended = once(child, 'exit');
  const port = await new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`workerd ended with ${code}; what it printed is above.`)));
    createInterface(child.stdio[3] as NodeJS.ReadableStream).on('line', (line) => {
      const { event, port: chosen } = JSON.parse(line) as { event: string; port: number };
      if (event === 'listen') resolve(chosen);
    });
  });
  return {
    pid: child.pid ?? 0,
    port,
    [Symbol.asyncDispose]: async () => {
      child.kill();
      await ended;
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
