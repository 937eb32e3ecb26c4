import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { argv, env, platform } from 'node:process';
import { fileURLToPath } from 'node:url';

import { browserAdvice } from './browser-advice.js';
import { findBrowsers } from './find-browsers.js';
import {
  canInstall,
  HEADLESS_SHELL,
  installPackages,
  packagesFor,
  readOsRelease,
} from './install-browsers.js';

// Finds the browsers for the tests, and installs missing ones where the system can. It runs before the tests. It is plain
// JavaScript without dependencies, so that it can also be run by hand before anything is installed. It prints nothing when all
// browsers are there.

/** This file says that the headless shell could not be installed, so that not every run of the tests tries again. */
const noHeadlessShell = fileURLToPath(
  new URL('../../node_modules/.cache/plugin-editor/no-headless-shell', import.meta.url),
);

/** The engines that `ENGINES` asks for, by default all three. */
function wantedEngines() {
  return (env.ENGINES || 'chromium,firefox,webkit').split(',').map((name) => name.trim());
}

/** Returns the exit code. */
function main() {
  const wanted = wantedEngines();
  let found;
  try {
    found = findBrowsers();
    const packages = packagesFor(found, wanted, readOsRelease()).filter(
      ([name]) => name !== HEADLESS_SHELL || !existsSync(noHeadlessShell),
    );
    if (packages.length > 0 && canInstall()) {
      installPackages(packages);
      found = findBrowsers();
      if (wanted.includes('chromium') && !found.headlessShell) {
        mkdirSync(dirname(noHeadlessShell), { recursive: true });
        writeFileSync(noHeadlessShell, '');
      }
    }
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    return 1;
  }
  const { errors, notes } = browserAdvice(found, wanted, platform);
  for (const note of notes) console.log(note);
  for (const error of errors) console.error(error);
  return errors.length > 0 ? 1 : 0;
}

if (argv[1] === fileURLToPath(import.meta.url)) process.exitCode = main();
