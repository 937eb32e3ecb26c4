import { Socket } from 'node:net';
import { startIsolated } from '../../../../service/src/processes/isolated-process.ts';
import { systemTools } from '../../../../service/src/processes/system-tools.ts';

// Stands for the service in a test that ends it: starts an isolated process that never rests, and hands it descriptor 3.

const watchdog = process.argv[2] === 'watchdog';
const { child } = startIsolated({
  file: new URL('./probe.ts', import.meta.url),
  args: ['loop'],
  readable: [import.meta.dirname],
  memoryLimit: 64 * 2 ** 20,
  stdio: ['ignore', 'pipe', 'ignore', new Socket({ fd: 3 })],
  ...(watchdog ? { tools: { ...systemTools(), separation: 'none', privileges: undefined } } : {}),
});
child.stdout?.pipe(process.stdout);
