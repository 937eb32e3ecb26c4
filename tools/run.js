import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { argv, env, execPath, exit, platform } from 'node:process';
import { fileURLToPath } from 'node:url';

// The dependencies come first: this is what has the right Node, and everything below needs them.
import './setup/dependencies.js';

/*
 * Runs a program of this repository with the repository's own Node, on a machine where nothing was done before:
 *
 *   node tools/run.js [preparation…] <file> [argument…]
 *
 * Plain JavaScript without dependencies, because the system's own Node runs it.
 */

const root = fileURLToPath(new URL('..', import.meta.url));
const node = join(root, 'node_modules/node/bin', platform === 'win32' ? 'node.exe' : 'node');

/**
 * What has to be there before a program runs, by the word that asks for it.
 * @type {Record<string, () => Promise<number>>}
 */
const preparations = {
  // The launcher, the service and the editor as packages, where a source has changed since.
  packages: () => run('tools/build/packages.ts'),
  // Everything that is published.
  build: () => run('tools/build/run.ts'),
  browsers: () => run('tools/setup/browsers.js'),
};

/**
 * Resolves with the exit code.
 * @param {string} file relative to the root
 * @param {string[]} args
 * @returns {Promise<number>}
 */
function run(file, args = []) {
  // Node's SQLite still calls itself experimental on each start.
  const child = spawn(node, ['--disable-warning=ExperimentalWarning', join(root, file), ...args], {
    stdio: 'inherit',
    env: { ...env, NODE: execPath },
  });
  // A terminal sends its interrupt to both; the program decides what it means.
  const ignore = () => {};
  const forward = () => child.kill('SIGTERM');
  process.on('SIGINT', ignore).on('SIGTERM', forward);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      process.off('SIGINT', ignore).off('SIGTERM', forward);
      // A signal ended it.
      resolve(code ?? 1);
    });
  });
}

const words = argv.slice(2);
while (words[0] && Object.hasOwn(preparations, words[0])) {
  const code = await preparations[words.shift() ?? '']?.();
  if (code) exit(code);
}
const [file, ...args] = words;
if (!file) {
  console.error('Usage: node tools/run.js [packages | build | browsers]… <file> [argument…]');
  exit(2);
}
exit(await run(file, args));
