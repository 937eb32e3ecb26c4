import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';

import {
  chromiumPlaces,
  firefoxPlaces,
  headlessShellPlaces,
  libraryFolders,
  onPath,
} from './browser-places.js';

// Used before anything is installed: plain JavaScript, Node's own modules only.

/**
 * @typedef {object} WebKit
 * @property {string} driver WebKitWebDriver
 * @property {string} miniBrowser the browser that the driver starts
 * @property {string} xvfb the X server without a screen that the browser draws on
 */

/**
 * @typedef {object} Browsers What is missing is undefined.
 * @property {string | undefined} chromium
 * @property {string | undefined} headlessShell Chromium's engine without the browser around it, which the tests start where
 *   they can, because it needs two thirds of the time. CHROME_PATH stands for it, too.
 * @property {string | undefined} firefox
 * @property {WebKit | undefined} webkit
 * @property {string[]} missingWebKitParts names of the programs that WebKit lacks
 * @property {string[]} snaps browsers that are there as snaps, and so cannot be used
 */

/**
 * What is known of the machine. Tests pass another one.
 *
 * @typedef {object} Machine
 * @property {Record<string, string | undefined>} env
 * @property {NodeJS.Platform} platform
 * @property {string} home
 * @property {(path: string) => boolean} exists
 * @property {(path: string) => string[]} list names in a folder; none when there is no such folder
 * @property {(path: string) => boolean} isSnap
 */

/** @returns {Machine} */
export function thisMachine() {
  return {
    env: process.env,
    platform: process.platform,
    home: homedir(),
    exists: existsSync,
    list: (path) => (existsSync(path) ? readdirSync(path) : []),
    isSnap,
  };
}

/**
 * Finds the browsers that the tests can use on this machine.
 *
 * @param {Machine} machine
 * @returns {Browsers}
 * @throws {Error} when CHROME_PATH or FIREFOX_PATH names no file
 */
export function findBrowsers(machine = thisMachine()) {
  /** @type {string[]} */
  const snaps = [];
  /** @param {string[]} places */
  const usable = (places) =>
    places.find((path) => {
      if (!machine.exists(path)) return false;
      if (!machine.isSnap(path)) return true;
      snaps.push(path);
      return false;
    });

  const chosenChromium = override('CHROME_PATH', machine);
  const chromium = chosenChromium ?? usable(chromiumPlaces(machine));
  const headlessShell = chosenChromium ?? usable(headlessShellPlaces(machine));
  const firefox = override('FIREFOX_PATH', machine) ?? usable(firefoxPlaces(machine));
  const libraries = libraryFolders(machine);
  const parts = {
    WebKitWebDriver: usable([
      ...onPath(['WebKitWebDriver'], machine),
      ...below(libraries, 'WebKitWebDriver'),
    ]),
    MiniBrowser: usable(below(libraries, 'MiniBrowser')),
    Xvfb: usable(onPath(['Xvfb'], machine)),
  };
  const { WebKitWebDriver: driver, MiniBrowser: miniBrowser, Xvfb: xvfb } = parts;
  return {
    chromium,
    headlessShell,
    firefox,
    webkit: driver && miniBrowser && xvfb ? { driver, miniBrowser, xvfb } : undefined,
    missingWebKitParts: Object.entries(parts).flatMap(([name, path]) => (path ? [] : [name])),
    snaps,
  };
}

/**
 * @param {string} name
 * @param {Machine} machine
 */
function override(name, machine) {
  const path = machine.env[name];
  if (!path) return undefined;
  if (!machine.exists(path)) throw new Error(`${name} is set to "${path}", where there is no file.`);
  return path;
}

/**
 * @param {string[]} folders
 * @param {string} name
 */
function below(folders, name) {
  return folders.map((folder) => `${folder}/${name}`);
}

/**
 * A snap sees neither the profile that the test runner makes for it nor its pipes. Ubuntu's own `chromium`
 * and `firefox` commands are links or small scripts that start one (or only say how to install it).
 *
 * @param {string} path
 */
function isSnap(path) {
  try {
    const real = realpathSync(path);
    if (real.startsWith('/snap/') || real === '/usr/bin/snap') return true;
    return statSync(real).size < 20_000 && readFileSync(real, 'utf8').includes('/snap/bin/');
  } catch {
    return false;
  }
}
