import { spawnSync } from 'node:child_process';
import { existsSync, lstatSync, readFileSync } from 'node:fs';
import { delimiter } from 'node:path';
import { fileURLToPath } from 'node:url';

import { whyStale } from './lock-file.js';
import { isAtLeast, missingNodeAdvice } from './node-version.js';

// Makes node_modules match package-lock.json. Run before `npm start`, `npm test` and the like, with the Node
// that the system has, before anything is installed. Says nothing, and takes a moment, when all is well.

const root = fileURLToPath(new URL('../..', import.meta.url));

/** @param {string} path */
function readJson(path) {
  return JSON.parse(readFileSync(root + path, 'utf8'));
}

/** @param {string} path */
function readInstalled(path) {
  try {
    return readJson(path);
  } catch {
    // Not there, or half written by an installation that was interrupted: both mean to install.
    return undefined;
  }
}

/** @param {string} message */
function fail(message) {
  console.error(message);
  process.exit(1);
}

const { engines } = readJson('package.json');
if (!isAtLeast(process.versions.node, engines.node)) {
  fail(`This needs Node ${engines.node}; the one here is ${process.versions.node}. See https://nodejs.org/`);
}

const reason = whyStale(
  readJson('package-lock.json'),
  readInstalled('node_modules/.package-lock.json'),
  (path) => existsSync(`${root}${path}/package.json`),
);
if (reason) {
  if (lstatSync(`${root}node_modules`, { throwIfNoEntry: false })?.isSymbolicLink()) {
    // A copy of this project with the packages of the original. npm ci would take these away from the original.
    fail(
      `The dependencies must be installed anew (${reason}), in the folder that the link node_modules leads to.`,
    );
  }
  console.error(`Installing the dependencies with npm ci: ${reason}.`);
  const { status, error } = npmCi();
  if (status !== 0) fail(`npm ci failed${error ? `: ${error.message}` : ''}. What it said is above.`);
}

// The package `node` brings the Node that runs TypeScript files as they are; its install script puts it in place.
const ownNode = ['node', 'node.exe', 'node.cmd'].some((name) =>
  existsSync(`${root}node_modules/.bin/${name}`),
);
const advice = missingNodeAdvice(process.versions.node, ownNode);
if (advice) fail(advice);

function npmCi() {
  /** @type {NodeJS.ProcessEnv} */
  const env = {};
  for (const [name, value] of Object.entries(process.env)) {
    // What the npm around this script says about itself is not meant for the one below; its settings
    // (npm_config_…: registry, cache) are.
    if (!/^npm_(?!config_)|^(NODE|INIT_CWD)$/.test(name)) env[name] = value;
  }
  // Not with the Node inside node_modules, which npm ci takes away while it runs.
  const path = Object.keys(env).find((name) => name.toUpperCase() === 'PATH') ?? 'PATH';
  env[path] = (env[path] ?? '')
    .split(delimiter)
    .filter((folder) => !/[\\/]node_modules[\\/]\.bin[\\/]?$/.test(folder))
    .join(delimiter);

  return spawnSync('npm', ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    env,
    // Standard output is left to the program that this is for.
    stdio: ['ignore', 2, 'inherit'],
    // On Windows npm is a batch file.
    shell: process.platform === 'win32',
  });
}
