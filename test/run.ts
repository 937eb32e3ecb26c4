import { runNode } from '../tools/run-node.js';

// `npm test`: the tests in browsers, and those in Node whatever came of the first, so that one run tells of all failures.

const inBrowsers = await runNode(['test/run-browser-tests.ts']);
// Past 128 a signal has ended them, and nobody waits for more.
const inNode = inBrowsers > 128 ? 0 : await runNode(['test/run-node-tests.ts']);
process.exitCode = inBrowsers || inNode;
