import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { argv, execPath, exit, platform } from 'node:process';

// The dependencies come first: this is what has the right Node, and everything below needs them.
import './setup/dependencies.js';
import { root, runNode } from './run-node.js';

/*
 * Runs a program of this repository with the repository's own Node, on a machine where nothing was done before:
 *
 *   node tools/run.js [preparation…] <file> [argument…]
 *
 * What the set-up says goes to standard error, so that standard output is the program's own.
 * Plain JavaScript without dependencies, because the system's own Node runs it.
 */

/**
 * What has to be there before a program runs, by the word that asks for it: a program that sees to it.
 * @type {Readonly<Record<string, string>>}
 */
const preparations = {
  // The launcher, the service and the editor as packages, where a source has changed since.
  packages: 'tools/build/packages.ts',
  // Everything that is published.
  build: 'tools/build/run.ts',
  browsers: 'tools/setup/browsers.js',
};

const ownNode = join(root, 'node_modules/node/bin', platform === 'win32' ? 'node.exe' : 'node');
// Without it `dependencies.js` has made sure that the system's own is new enough.
const node = existsSync(ownNode) ? ownNode : execPath;

const args = argv.slice(2);
const programs = [];
while (args[0] && Object.hasOwn(preparations, args[0]))
  programs.push([preparations[args.shift() ?? ''] ?? '']);
if (args.length === 0) {
  console.error(`Usage: node tools/run.js [${Object.keys(preparations).join(' | ')}]… <file> [argument…]`);
  exit(2);
}
programs.push(args);

for (const program of programs) {
  const code = await runNode(program, node);
  if (code !== 0) exit(code);
}
