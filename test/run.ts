import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { runNode } from '../tools/run-node.js';

/*
 * `npm test`, and `npm run test:release` with `release` as an argument: the tests in browsers and those in Node beside each other,
 * as `tiers.ts` says which. Those in Node show what they do; the output of the others follows at the end.
 */

const isRelease = process.argv[2] === 'release';
process.env['ENGINES'] ??= isRelease ? 'firefox,webkit' : 'chromium';

const folder = await mkdtemp(join(tmpdir(), 'plugin-editor-run-'));
const failuresFile = join(folder, 'browsers.txt');
process.env['BROWSER_FAILURES_FILE'] = failuresFile;

try {
  const output: Buffer[] = [];
  const [inBrowsers, inNode] = await Promise.all([
    runNode(['test/run-browser-tests.ts'], process.execPath, (chunk) => output.push(chunk)),
    runNode(['test/run-node-tests.ts', ...(isRelease ? ['release'] : [])]),
  ]);
  process.exitCode = inNode || inBrowsers;

  if (inBrowsers > 0) {
    // There is no file when the runner did not get as far as a first result.
    const failures = await readFile(failuresFile, 'utf8').catch(() => '');
    console.log(`\nThe tests in browsers ended with exit code ${inBrowsers}.\n${failures}`);
  }
  if (inNode > 0) console.log(`\nThe tests in Node ended with exit code ${inNode}.`);
  process.stdout.write(Buffer.concat(output));
} finally {
  await rm(folder, { recursive: true });
}
