import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { runNode } from '../tools/run-node.js';

/*
 * `npm test`: the tests in browsers, and those in Node whatever came of the first, so that one run tells of all failures. What
 * failed in browsers is printed once more at the end, because the tests in Node print thousands of lines after it.
 */

const folder = await mkdtemp(join(tmpdir(), 'plugin-editor-run-'));
const failuresFile = join(folder, 'browsers.txt');
process.env['BROWSER_FAILURES_FILE'] = failuresFile;

try {
  const inBrowsers = await runNode(['test/run-browser-tests.ts']);
  // Past 128 a signal has ended them, and nobody waits for more.
  const inNode = inBrowsers > 128 ? 0 : await runNode(['test/run-node-tests.ts']);
  process.exitCode = inBrowsers || inNode;

  if (inBrowsers > 0) {
    // There is no file when the runner did not get as far as a first result.
    const failures = await readFile(failuresFile, 'utf8').catch(() => '');
    console.log(`\nThe tests in browsers ended with exit code ${inBrowsers}.\n${failures}`);
  }
  if (inNode > 0) console.log(`\nThe tests in Node ended with exit code ${inNode}.`);
} finally {
  await rm(folder, { recursive: true });
}
