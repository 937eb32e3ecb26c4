/**
 * The documentation as a site:
 *
 *   npm run docs                                      serves it, and shows what changes while one writes
 *   npm run docs -- build [--base /folder/] [--outDir folder]   builds it, for a server that has it in that folder
 */
import { fileURLToPath } from 'node:url';
import { runNode } from '../run-node.js';
import { installPackages } from '../setup/install-packages.ts';

const folder = fileURLToPath(new URL('.', import.meta.url));
const [command = 'dev', ...options] = process.argv.slice(2);

await installPackages(folder);
process.exitCode = await runNode([
  `${folder}node_modules/vitepress/bin/vitepress.js`,
  command,
  folder,
  ...options,
]);
