import { runNode } from '../tools/run-node.js';

// `npm run test:browser [-- --files <glob>]`: the tests that run in browsers, in every engine that is there.

process.exitCode = await runNode([
  'node_modules/@web/test-runner/dist/bin.js',
  '--config',
  'test/web-test-runner.config.ts',
  ...process.argv.slice(2),
]);
