import { runNode } from '../tools/run-node.js';

// `npm run test:browser [-- --files <glob>]`: the tests that run in browsers, in Chromium or in those that ENGINES names.

process.env['ENGINES'] ??= 'chromium';
process.exitCode = await runNode([
  'node_modules/@web/test-runner/dist/bin.js',
  '--config',
  'test/web-test-runner.config.ts',
  ...process.argv.slice(2),
]);
