import { closeSync, openSync, readdirSync, readFileSync, unlinkSync } from 'node:fs';
import { connect } from 'node:net';
import type { NetConnectOpts } from 'node:net';
import { fileURLToPath } from 'node:url';

// Runs as a confined process that was taken over: tries to reach a port of this machine, files, sockets, other processes, and the
// service that started it.

const [port = '', service = '', neighbour = '', socketPath = ''] = process.argv.slice(2);

const reads = (path: string): boolean => {
  try {
    readFileSync(path);
    return true;
  } catch {
    return false;
  }
};

const signals = (pid: number, signal: NodeJS.Signals | 0): boolean => {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
};

const connects = (options: NetConnectOpts) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(options);
    socket.on('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });

/** Whether a command line other than its own can be read. */
const seesProcesses = readdirSync('/proc').some(
  (name) => /^\d+$/.test(name) && Number(name) !== process.pid && reads(`/proc/${name}/cmdline`),
);

const leavesFile = (folder: string): boolean => {
  const path = `${folder}/plugin-service-intruder-${process.pid}`;
  try {
    closeSync(openSync(path, 'w'));
  } catch {
    return false;
  }
  unlinkSync(path);
  return true;
};

process.stdout.write(
  JSON.stringify({
    connects: await connects({ port: Number(port), host: '127.0.0.1' }),
    readsAccounts: reads('/etc/passwd'),
    readsTests: reads(fileURLToPath(new URL('../isolated-process.node-test.ts', import.meta.url))),
    readsVariables: reads(`/proc/${service}/environ`),
    signals: signals(Number(service), 0),
    seesProcesses,
    reachesSocket: await connects({ path: socketPath }),
    leavesFile: ['/tmp', '/var/tmp', '/dev/shm', '/run'].some(leavesFile),
    endsNeighbour: signals(Number(neighbour), 'SIGKILL'),
  }),
);
