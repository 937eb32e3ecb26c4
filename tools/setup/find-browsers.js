import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { env, platform } from 'node:process';

// Runs before anything is installed: plain JavaScript, no dependencies.

/**
 * @typedef {object} WebKit
 * @property {string} driver WebKitWebDriver
 * @property {string} miniBrowser the browser that the driver starts
 * @property {string} xvfb the X server without a screen that the browser draws on
 */

/**
 * @typedef {object} Browsers What is missing is undefined.
 * @property {string | undefined} chromium
 * @property {string | undefined} headlessShell Chromium's engine without the browser around it, which needs two thirds of the
 *   processor time. With CHROME_PATH it is that one, too.
 * @property {string | undefined} firefox
 * @property {WebKit | undefined} webkit
 */

const macApplications = platform === 'darwin' ? '/Applications' : undefined;

/**
 * Finds the browsers that the tests can use on this machine: on the PATH, among the applications of macOS, or where CHROME_PATH
 * and FIREFOX_PATH say.
 *
 * @returns {Browsers}
 * @throws {Error} when CHROME_PATH or FIREFOX_PATH names no file
 */
export function findBrowsers() {
  const chosen = named('CHROME_PATH');
  const driver = onPath('WebKitWebDriver');
  const miniBrowser = findMiniBrowser();
  const xvfb = onPath('Xvfb');
  return {
    chromium:
      chosen ??
      onPath('chromium', 'google-chrome-stable', 'google-chrome') ??
      application('Google Chrome.app/Contents/MacOS/Google Chrome'),
    headlessShell: chosen ?? onPath('chromium-headless-shell', 'chrome-headless-shell'),
    firefox:
      named('FIREFOX_PATH') ??
      onPath('firefox-esr', 'firefox') ??
      application('Firefox.app/Contents/MacOS/firefox'),
    webkit: driver && miniBrowser && xvfb ? { driver, miniBrowser, xvfb } : undefined,
  };
}

/**
 * The file of the first of these programs that is on the PATH. Snaps are left out: they see neither the profile nor the pipes of the
 * test runner.
 *
 * @param {string[]} names
 */
export function onPath(...names) {
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => folder && folder !== '/snap/bin');
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find(existsSync);
}

/** @param {string} path */
function application(path) {
  return [macApplications && join(macApplications, path)].find((file) => file && existsSync(file));
}

/** @param {string} variable */
function named(variable) {
  const path = env[variable];
  if (path && !existsSync(path)) throw new Error(`${variable} is set to "${path}", where there is no file.`);
  return path || undefined;
}

/** It is in no folder of the PATH: Debian has it below `/usr/lib/<triplet>`, Fedora below `/usr/libexec`, Arch below `/usr/lib`. */
function findMiniBrowser() {
  if (platform !== 'linux') return undefined;
  const triplets = readdirSync('/usr/lib').filter((name) => name.includes('-linux-gnu'));
  return [...triplets.map((name) => `/usr/lib/${name}`), '/usr/libexec', '/usr/lib']
    .map((folder) => `${folder}/webkit2gtk-4.1/MiniBrowser`)
    .find(existsSync);
}
