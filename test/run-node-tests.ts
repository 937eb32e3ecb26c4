import { runNode } from '../tools/run-node.js';

// `npm run test:node [-- <file>…]`: the tests that run in Node, by default all of them.

const files = process.argv.slice(2);
process.exitCode = await runNode(['--test', ...(files.length > 0 ? files : ['test/**/*.node-test.ts'])]);
