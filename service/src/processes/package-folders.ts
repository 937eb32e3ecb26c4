import { existsSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of this package. */
const packageRoot = fileURLToPath(new URL('../..', import.meta.url));

/** Says of which kind the modules of this package are; every process that loads one reads it. */
export const packageDescription = join(packageRoot, 'package.json');

/** The service's modules: `src`, or `dist` once they are built. */
const modules = fileURLToPath(new URL('..', import.meta.url));

/** The service's own code and what it depends on, wherever that was installed; not its data. */
export function serviceCode(): string[] {
  return [modules, ...dependencyFolders(packageRoot)];
}

/** Each `node_modules` in which Node looks for what a module in `folder` imports, and where links among them lead. */
function dependencyFolders(folder: string): string[] {
  const found: string[] = [];
  for (let at = folder, parent = ''; at !== parent; at = dirname(at)) {
    const candidate = join(at, 'node_modules');
    if (existsSync(candidate)) found.push(candidate, realpathSync(candidate));
    parent = at;
    if (dirname(at) === at) break;
  }
  return [...new Set(found)];
}
