import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

// `npm run test:browser [-- --files <glob>]`: the tests that run in browsers, in every engine that is there.

const root = fileURLToPath(new URL('..', import.meta.url));
const { status } = spawnSync(
  process.execPath,
  [
    '--disable-warning=ExperimentalWarning',
    `${root}node_modules/@web/test-runner/dist/bin.js`,
    '--config',
    'test/web-test-runner.config.ts',
    ...process.argv.slice(2),
  ],
  { cwd: root, stdio: 'inherit' },
);
process.exitCode = status ?? 1;
