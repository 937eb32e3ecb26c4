import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

// `npm run test:node [-- <file>…]`: the tests that run in Node, by default all of them.

const root = fileURLToPath(new URL('..', import.meta.url));
const files = process.argv.slice(2);
const { status } = spawnSync(
  process.execPath,
  [
    '--disable-warning=ExperimentalWarning',
    '--test',
    ...(files.length > 0 ? files : ['test/**/*.node-test.ts']),
  ],
  { cwd: root, stdio: 'inherit' },
);
process.exitCode = status ?? 1;
