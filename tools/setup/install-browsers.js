import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

/** @typedef {import('./find-browsers.js').Browsers} Browsers */

/** Debian's package of Chromium's headless shell. The tests take longer without it, but need none. */
export const HEADLESS_SHELL = 'chromium-headless-shell';

/** Whether this process may install packages: a system with apt-get, as root. */
export function canInstall() {
  return process.platform === 'linux' && process.getuid?.() === 0 && existsSync('/usr/bin/apt-get');
}

/** The text of /etc/os-release, empty where there is none. */
export function readOsRelease() {
  return existsSync('/etc/os-release') ? readFileSync('/etc/os-release', 'utf8') : '';
}

/**
 * The packages for what is missing, one list for each browser.
 *
 * @param {Browsers} found
 * @param {string[]} wanted `chromium`, `firefox`, `webkit`
 * @param {string} osRelease text of /etc/os-release
 * @returns {string[][]}
 */
export function packagesFor(found, wanted, osRelease) {
  // Ubuntu's packages of these names only install a snap, which the tests cannot use.
  const snaps = /^ID=["']?ubuntu["']?$/m.test(osRelease);
  const packages = [];
  if (wanted.includes('chromium') && !found.chromium && !snaps) packages.push(['chromium']);
  if (wanted.includes('chromium') && !found.headlessShell && !snaps) packages.push([HEADLESS_SHELL]);
  if (wanted.includes('firefox') && !found.firefox && !snaps) packages.push(['firefox-esr']);
  if (wanted.includes('webkit') && !found.webkit) packages.push(['webkit2gtk-driver', 'xvfb']);
  return packages;
}

/**
 * Installs packages: all at once, and where that fails one browser after the other, so that one that this
 * system lacks does not keep the others out. What apt-get says is shown where it fails.
 *
 * @param {string[][]} groups
 */
export function installPackages(groups) {
  const names = groups.flat();
  console.log(`Installing the browsers for the tests with apt-get: ${names.join(', ')}.`);
  // Without an update the lists of a fresh container are empty. Where it fails (no network) the rest is tried
  // only for what the tests cannot do without.
  const patience = names.every((name) => name === HEADLESS_SHELL) ? 30 : 90;
  if (!aptGet(['update'], patience) && !names.includes('chromium')) return;
  if (aptGet(['install', '-y', '--no-install-recommends', ...names], 900)) return;
  if (groups.length < 2) return;
  for (const group of groups) aptGet(['install', '-y', '--no-install-recommends', ...group], 900);
}

/**
 * @param {string[]} args
 * @param {number} seconds
 */
function aptGet(args, seconds) {
  const limits = [
    '-o',
    'Acquire::Retries=1',
    '-o',
    'Acquire::http::Timeout=20',
    '-o',
    'DPkg::Lock::Timeout=60',
  ];
  const { status, error, stdout, stderr } = spawnSync('apt-get', [...limits, ...args], {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    stdio: ['ignore', 'pipe', 'pipe'],
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    timeout: seconds * 1000,
  });
  if (status === 0) return true;
  const output = `${stdout ?? ''}${stderr ?? ''}`.trim().split('\n').slice(-8).join('\n');
  console.error(`apt-get ${args.join(' ')} failed${error ? ` (${error.message})` : ''}:\n${output}`);
  return false;
}
