import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { test } from 'node:test';

const program = fileURLToPath(new URL('./isolation-fixtures/few-descriptors.ts', import.meta.url));

test('a service without file descriptors refuses builds and runs, and does both again once it has some', async () => {
  const limited = ['-c', 'ulimit -n 96; exec "$@"', 'sh', process.execPath, '--no-warnings', program];
  const { stdout } = await promisify(execFile)('sh', limited);
  const noDescriptors = 'The system has no file descriptors left for the pipes of a new process.';
  const notBuilt = `The toolchain does not work on this machine: the compiler could not be started: ${noDescriptors}`;
  const notRun = `RunnerStartError: The sandbox does not work on this machine: ${noDescriptors}`;
  assert.deepEqual(JSON.parse(stdout), [
    notBuilt,
    notRun,
    'ready: false',
    notBuilt,
    'built: true',
    '{"result":"hello","logs":[]}',
    'ready: true',
  ]);
});
