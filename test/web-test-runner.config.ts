import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { esbuildPlugin } from '@web/dev-server-esbuild';
import { defaultReporter, type TestRunnerConfig } from '@web/test-runner';

import { builtFiles } from './support/built-files.ts';
import { bundledModules } from './support/bundled-modules.ts';
import { engines } from './support/engines.ts';
import { freePort } from './support/free-port.ts';
import { loopbackOnly } from './support/loopback-only.ts';
import { scriptedOrigins } from './support/second-origin.ts';
import { summaryReporter } from './support/summary-reporter.ts';
import { browserPages, sameInAllBrowsers, sweeps } from './tiers.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const { launchers, versions } = engines();
const scripted = scriptedOrigins();
const bundled = bundledModules();

export default {
  rootDir: root,
  files: writePages(),
  port: await freePort(),
  nodeResolve: true,

  browsers: launchers,
  concurrentBrowsers: launchers.length,
  // A browser gives no animation frames to a page in the background: one test file at a time in each.
  concurrency: 1,
  // More than each step of the start may take by the launchers' own limits, so that their errors are seen.
  browserStartTimeout: 540_000,
  testsStartTimeout: 180_000,
  // So that a test that hangs ends with a name. One that takes a fifth of a second alone took more than ten seconds on a
  // machine where thirty programs shared two cores.
  testFramework: { config: { timeout: '60000' } },
  // For a browser that is gone, or is busy without end. Several tests of a file may hang before, each with a name in the report.
  testsFinishTimeout: 600_000,

  // Errors that tests bring about on purpose are on the console, too, each in one line.
  filterBrowserLogs: ({ args }) => !/^Lit is in dev mode|^<plugin-(editor|features)> /.test(String(args[0])),

  middleware: [scripted.middleware, bundled.middleware],
  plugins: [
    loopbackOnly(),
    scripted.plugin,
    builtFiles(),
    bundled.plugin,
    esbuildPlugin({ ts: true, target: 'esnext', tsconfig: `${root}/tsconfig.json` }),
  ],
  reporters: [defaultReporter({ reportTestProgress: false }), summaryReporter(versions)],
} satisfies TestRunnerConfig;

/**
 * The files that the runner opens as pages; those of several files are written, as modules that import them. Which files
 * they have depends on the engines, and runs for other engines may be going on.
 */
function writePages(): string[] {
  const names = launchers.map(({ name }) => name);
  const folder = join(root, 'node_modules/.cache/plugin-editor/pages', names.toSorted().join('-'));
  mkdirSync(folder, { recursive: true });
  return browserPages(names.includes('Chromium') ? sweeps : sameInAllBrowsers).map(({ name, files }) => {
    if (files.length === 1) return join(root, ...files);
    const page = join(folder, `${name}.js`);
    writeFileSync(page, files.map((file) => `import '/${file}';\n`).join(''));
    return page;
  });
}
