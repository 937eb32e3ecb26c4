import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of this package. */
const packageRoot = realpathSync(fileURLToPath(new URL('../..', import.meta.url)));

/** Says of which kind the modules of this package are; every process that loads one reads it. */
export const packageDescription = join(packageRoot, 'package.json');

/** The service's modules: `src`, or `dist` once they are built. */
const modules = fileURLToPath(new URL('..', import.meta.url));

let code: readonly string[] | undefined;

/**
 * The service's own modules and the packages that it depends on, directly or not, wherever they were installed. Not the
 * folder that they lie in: beside them there may be anything, such as other packages of an application, or its caches.
 */
export function serviceCode(): readonly string[] {
  code ??= [modules, ...dependencyFolders(packageRoot)];
  return code;
}

/**
 * The folders of all packages that the package in `root` depends on. One that is reached by a link, as with pnpm, is there
 * twice: Node reads the link as well as what it leads to.
 */
export function dependencyFolders(root: string): string[] {
  const folders = new Set<string>();
  const visited = new Set<string>();
  const visit = (packageFolder: string) => {
    if (visited.has(packageFolder)) return;
    visited.add(packageFolder);
    for (const name of dependenciesOf(packageFolder)) {
      const folder = findPackage(name, packageFolder);
      // An optional one, such as a binary for another system.
      if (folder === undefined) continue;
      const target = realpathSync(folder);
      folders.add(folder).add(target);
      visit(target);
    }
  };
  visit(realpathSync(root));
  return [...folders];
}

function dependenciesOf(packageFolder: string): string[] {
  const manifest = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8')) as Partial<
    Record<'dependencies' | 'optionalDependencies' | 'peerDependencies', Record<string, string>>
  >;
  const { dependencies, optionalDependencies, peerDependencies } = manifest;
  return Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies });
}

/** Where a module in `from` finds a package: in the nearest `node_modules` above it that has it. */
function findPackage(name: string, from: string): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    const candidate = join(folder, 'node_modules', name);
    if (basename(folder) !== 'node_modules' && existsSync(join(candidate, 'package.json'))) return candidate;
    if (dirname(folder) === folder) return undefined;
  }
}
