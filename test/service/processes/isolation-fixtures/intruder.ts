import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';

// Runs as a native program that was taken over: tries to reach a port of this machine, files, and the service that started it.

const [port = '', service = ''] = process.argv.slice(2);

const reads = (path: string): boolean => {
  try {
    readFileSync(path);
    return true;
  } catch {
    return false;
  }
};

const signals = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

const connects = await new Promise<boolean>((resolve) => {
  const socket = connect(Number(port), '127.0.0.1');
  socket.on('connect', () => {
    socket.destroy();
    resolve(true);
  });
  socket.on('error', () => resolve(false));
});

process.stdout.write(
  JSON.stringify({
    connects,
    readsAccounts: reads('/etc/passwd'),
    readsTests: reads(fileURLToPath(new URL('../isolated-process.node-test.ts', import.meta.url))),
    readsVariables: reads(`/proc/${service}/environ`),
    signals: signals(Number(service)),
  }),
);
