// Loaded into the service's process before its own code: at SIGUSR2 it collects garbage and prints what is in use.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isMainThread } from 'node:worker_threads';

if (isMainThread) {
  setFlagsFromString('--expose-gc');
  const collect = /** @type {() => void} */ (runInNewContext('gc'));
  process.on('SIGUSR2', () => {
    collect();
    const { heapUsed, external } = process.memoryUsage();
    console.log(JSON.stringify({ inUse: heapUsed + external }));
  });
}
