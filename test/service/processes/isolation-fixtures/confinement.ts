import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { availableParallelism } from 'node:os';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { isolationReport } from '../../../../service/src/processes/isolation-report.ts';
import { systemTools } from '../../../../service/src/processes/system-tools.ts';
import { startNative } from '../../../../service/src/processes/isolated-process.ts';
import { RunnerProcess } from '../../../../service/src/sandbox/runner-process.ts';

// Stands for the service in tests of its isolation: says what it reports, and what its processes really are and can do. The
// test starts it as different users and with different rights.

// A runner that waits for work is no reason for its service to go on.
const held = setInterval(() => {}, 60_000);
const runner = new RunnerProcess();
await runner.ready;
const status = readFileSync(`/proc/${runner.pid}/status`, 'utf8');
const limits = readFileSync(`/proc/${runner.pid}/limits`, 'utf8');
await runner.close();

const field = (name: string) => new RegExp(`^${name}:\\s+(\\S+)`, 'm').exec(status)?.[1] ?? '';
const limit = (name: string) => new RegExp(`^${name}\\s+\\S+\\s+(\\S+)`, 'm').exec(limits)?.[1] ?? '';

const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
await once(server, 'listening');
const { port } = server.address() as AddressInfo;

// A socket that anybody may use, as databases and agents have them.
const folder = mkdtempSync('/tmp/plugin-service-');
chmodSync(folder, 0o755);
const socketPath = join(folder, 'socket');
const socketServer = createServer((socket) => socket.destroy()).listen(socketPath);
await once(socketServer, 'listening');
chmodSync(socketPath, 0o777);

/** Another confined process, and its id for the whole machine. */
const neighbour = startNative({
  command: '/bin/sh',
  args: ['-c', 'echo started; read -r line'],
  visible: [],
  memoryLimit: 2 ** 30,
  stdio: ['pipe', 'pipe', 'ignore'],
});
await once(neighbour.child.stdout as Readable, 'data');

/** Node without its permission model and without the lockdown: as a confined process that was taken over. */
const intruder = startNative({
  command: process.execPath,
  args: [
    `${import.meta.dirname}/intruder.ts`,
    String(port),
    String(process.pid),
    String(neighbour.pid()),
    socketPath,
  ],
  visible: [dirname(process.execPath), `${import.meta.dirname}/intruder.ts`],
  memoryLimit: 2 ** 30,
  stdio: ['ignore', 'pipe', 'ignore'],
});
const found = JSON.parse(await text(intruder.child.stdout as Readable)) as object;
const isNeighbourAlive = neighbour.child.exitCode === null && neighbour.child.signalCode === null;
neighbour.kill();
server.close();
socketServer.close();
rmSync(folder, { recursive: true });

/** More than any limit there is. */
const attempts = 600 + 32 * availableParallelism();
const forking = startNative({
  command: '/bin/sh',
  args: ['-c', `i=0; while [ $i -lt ${attempts} ]; do sleep 600 >/dev/null & i=$((i+1)); done; echo all`],
  visible: [],
  memoryLimit: 2 ** 30,
  stdio: ['ignore', 'pipe', 'ignore'],
});
const started = await text(forking.child.stdout as Readable);
forking.kill();

process.stdout.write(
  JSON.stringify({
    report: isolationReport(),
    runner: {
      user: Number(field('Uid')),
      capabilities: field('CapEff'),
      cannotGain: field('NoNewPrivs') === '1',
      data: limit('Max data size'),
      fileSize: limit('Max file size'),
      core: limit('Max core file size'),
      files: limit('Max open files'),
    },
    separation: systemTools().separation,
    hasOwnUsers: systemTools().users !== undefined,
    intruder: found,
    isNeighbourAlive,
    startsAll: started === 'all\n',
  }),
);
clearInterval(held);
