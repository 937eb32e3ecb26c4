import { spawnSync } from 'node:child_process';
import { existsSync, lstatSync, readFileSync } from 'node:fs';
import { delimiter } from 'node:path';
import { fileURLToPath } from 'node:url';

import { whyStale } from './lock-file.js';
import { isAtLeast, missingNodeAdvice } from './node-version.js';

// Makes node_modules match package-lock.json. It runs before `npm start`, `npm test` and the like, with the system's own Node,
// before anything is installed. It prints nothing, and ends at once, when nothing has to be installed.

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
    // The file is missing, or an interrupted installation has left it incomplete. In both cases the dependencies are installed.
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
    // This is a copy of the project that uses the packages of the original, from which npm ci would remove them.
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
    // Only the settings (npm_config_…) of the npm that runs this are passed on; what it says about itself is not.
    if (!/^npm_(?!config_)|^(NODE|INIT_CWD)$/.test(name)) env[name] = value;
  }
  // Not with the Node inside node_modules, which npm ci removes while it runs.
  const path = Object.keys(env).find((name) => name.toUpperCase() === 'PATH') ?? 'PATH';
  env[path] = (env[path] ?? '')
    .split(delimiter)
    .filter((folder) => !/[\\/]node_modules[\\/]\.bin[\\/]?$/.test(folder))
    .join(delimiter);

  return spawnSync('npm', ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    env,
    // Standard output is for the program that is started afterwards.
    stdio: ['ignore', 2, 'inherit'],
    // On Windows npm is a batch file.
    shell: process.platform === 'win32',
  });
}
