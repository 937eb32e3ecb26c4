import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { findBrowsers } from '../../tools/setup/find-browsers.js';
import { snippet } from '../docs/markdown.ts';
import { freePort } from '../support/free-port.ts';
import { run } from '../support/programs.ts';
import { installPackages } from '../../tools/setup/install-packages.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const examples = fileURLToPath(new URL('examples', import.meta.url));

/** What the package depends on in a browser. */
const dependencies = [
  'lit',
  'lit-html',
  'lit-element',
  '@lit/reactive-element',
  '@lit-labs/ssr-dom-shim',
  'zod',
];

/** The applications in a folder outside of this repository, where its sources and settings cannot be reached. */
let folder: string;

before(async () => {
  await installPackages(examples);
  folder = await mkdtemp(join(tmpdir(), 'plugin-editor-testing-'));
  await cp(examples, folder, { recursive: true, verbatimSymlinks: true });
  const modules = join(folder, 'node_modules');
  for (const part of ['package.json', 'dist']) {
    await cp(join(root, part), join(modules, 'plugin-editor', part), { recursive: true });
  }
  for (const name of dependencies) {
    await cp(join(root, 'node_modules', name), join(modules, name), { recursive: true });
  }
  // Web Test Runner is the one that runs this repository's own tests.
  await symlink(join(root, 'node_modules/@web'), join(modules, '@web'), 'junction');
});

after(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }));

/** Runs a program of an installed package. Rejects with its output when one of its tests fails. */
async function runTests(program: string, ...args: string[]): Promise<void> {
  const { chromium, headlessShell } = findBrowsers();
  // Playwright starts the headless shell by itself, too, unless it is told another browser.
  const CHROMIUM = headlessShell ?? chromium;
  const env = { ...process.env, CHROMIUM, PORT: String(await freePort()), CI: '1', NO_COLOR: '1' };
  await run(process.execPath, [join('node_modules', program), ...args], { cwd: folder, env });
}

test('an application tests its page with the stand-in editor and Playwright', () =>
  runTests('@playwright/test/cli.js', 'test'));

test('an application tests its page with the stand-in editor and Vitest in a browser', () =>
  runTests('vitest/vitest.mjs', 'run'));

test('the configuration and the test for Vitest in the documentation work as copied', async () => {
  const copied = join(folder, 'copied');
  await mkdir(copied);
  for (const name of ['vitest.config.js', 'saving.test.js'])
    await writeFile(join(copied, name), snippet(name));
  // The browser is this machine's, because the tests download none.
  await writeFile(
    join(copied, 'with-browser.js'),
    `import config from './vitest.config.js';
     config.test.browser.provider.options.launchOptions = { executablePath: process.env.CHROMIUM };
     export default config;`,
  );
  await runTests('vitest/vitest.mjs', 'run', '--root=copied', '--config=with-browser.js');
});

test('an application tests its page with the stand-in editor and Web Test Runner', () =>
  runTests('@web/test-runner/dist/bin.js'));
