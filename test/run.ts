import { runNode } from '../tools/run-node.js';

/*
 * `npm test`: the tests in browsers, and beside them those in Node, because neither keep all processors busy. What the latter
 * print comes after the rest. One run tells of all failures.
 */

let isShown = false;
const held: Buffer[] = [];
const print = (chunk: Buffer) => (isShown ? process.stdout.write(chunk) : held.push(chunk));

const inNode = runNode(['test/run-node-tests.ts'], undefined, print);
const inBrowsers = await runNode(['test/run-browser-tests.ts']);
isShown = true;
for (const chunk of held) process.stdout.write(chunk);
process.exitCode = inBrowsers || (await inNode);
