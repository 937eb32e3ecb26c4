import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { argv, execPath, exit, platform } from 'node:process';

// Imported first, because it installs the dependencies, which include the right Node, and everything below needs them.
import './setup/dependencies.js';
import { root, runNode } from './run-node.js';

/*
 * Runs a program of this repository with the repository's own Node, on a machine where nothing was done before:
 *
 *   node tools/run.js [preparation…] <file> [argument…]
 *
 * The set-up prints to standard error, so that standard output is only the program's.
 * Plain JavaScript without dependencies, because the system's own Node runs it.
 */

/**
 * The programs that prepare what another program needs, by the words that ask for them.
 * @type {Readonly<Record<string, readonly string[]>>}
 */
const preparations = {
  // Builds the launcher, the service and the editor as packages, if a source has changed.
  packages: ['tools/build/packages.ts'],
  // Builds everything that is published.
  build: ['tools/build/run.ts'],
  // Installs what tests need of the system.
  chromium: ['tools/setup/system.js', 'chromium'],
  release: ['tools/setup/system.js', 'chromium', 'firefox', 'webkit', 'deploy'],
};

const ownNode = join(root, 'node_modules/node/bin', platform === 'win32' ? 'node.exe' : 'node');
// Without it `dependencies.js` has made sure that the system's own is new enough.
const node = existsSync(ownNode) ? ownNode : execPath;

const args = argv.slice(2);
const programs = [];
while (args[0] && Object.hasOwn(preparations, args[0])) programs.push(preparations[args.shift() ?? ''] ?? []);
if (args.length === 0) {
  console.error(`Usage: node tools/run.js [${Object.keys(preparations).join(' | ')}]… <file> [argument…]`);
  exit(2);
}
programs.push(args);

for (const program of programs) {
  const code = await runNode(program, node);
  if (code !== 0) exit(code);
}
