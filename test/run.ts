import { runNode } from '../tools/run-node.js';

/*
 * `npm test`, and `npm run test:release` with `release` as an argument: the tests in browsers and those in Node beside each other,
 * as `tiers.ts` says which. Those in Node show what they do; the output of the others follows at the end.
 */

const isRelease = process.argv[2] === 'release';
process.env['ENGINES'] ??= isRelease ? 'firefox,webkit' : 'chromium';

const output: Buffer[] = [];
const [inBrowsers, inNode] = await Promise.all([
  runNode(['test/run-browser-tests.ts'], process.execPath, (chunk) => output.push(chunk)),
  runNode(['test/run-node-tests.ts', ...(isRelease ? ['release'] : [])]),
]);
process.stdout.write(Buffer.concat(output));
if (inNode > 0) console.log(`\nThe tests in Node ended with exit code ${inNode}.`);
if (inBrowsers > 0) console.log(`\nThe tests in browsers ended with exit code ${inBrowsers}.`);
process.exitCode = inNode || inBrowsers;
