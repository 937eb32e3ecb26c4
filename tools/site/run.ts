/**
 * The documentation as a site:
 *
 *   npm run docs                                      serves it, and shows changes as they are saved
 *   npm run docs -- build [--base /folder/] [--outDir folder]   builds it, for a server on which it has that path
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
