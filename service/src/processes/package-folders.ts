import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of this package. */
const packageRoot = realpathSync(fileURLToPath(new URL('../..', import.meta.url)));

/** The path of the `package.json`, which Node reads in every process for the package's type of modules. */
export const packageDescription = join(packageRoot, 'package.json');

/** The folder of the service's modules: `src`, or `dist` in the built package. */
const modules = fileURLToPath(new URL('..', import.meta.url));

/** The folders of the service's modules, and of all packages that it depends on, wherever they are installed. */
export const serviceCode = (): readonly string[] => codeOf(dependenciesOf(packageRoot));

const known = new Map<string, readonly string[]>();

/**
 * The folders of the service's modules, and of the named dependencies with all that they depend on, wherever they are installed.
 * Not `node_modules` as a whole, because that may also hold other packages of an application, or caches.
 */
export function codeOf(packages: readonly string[]): readonly string[] {
  const key = packages.join(' ');
  let folders = known.get(key);
  if (!folders) known.set(key, (folders = [modules, ...dependencyFolders(packageRoot, packages)]));
  return folders;
}

/**
 * The folders of packages that the package in `root` depends on, directly or not. A package that is linked, as with pnpm, is
 * there twice, because Node reads both the link and its target.
 * @param packages its own dependencies among them (default: all)
 */
export function dependencyFolders(root: string, packages?: readonly string[]): string[] {
  const folders = new Set<string>();
  const visited = new Set<string>();
  const visit = (packageFolder: string, names: readonly string[] = dependenciesOf(packageFolder)) => {
    if (visited.has(packageFolder)) return;
    visited.add(packageFolder);
    for (const name of names) {
      const folder = findPackage(name, packageFolder);
      // An optional dependency that is not installed, such as a binary for another system.
      if (folder === undefined) continue;
      const target = realpathSync(folder);
      folders.add(folder).add(target);
      visit(target);
    }
  };
  visit(realpathSync(root), packages);
  return [...folders];
}

function dependenciesOf(packageFolder: string): string[] {
  const manifest = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8')) as Partial<
    Record<'dependencies' | 'optionalDependencies' | 'peerDependencies', Record<string, string>>
  >;
  const { dependencies, optionalDependencies, peerDependencies } = manifest;
  return Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies });
}

/** Finds a package as Node does for a module in `from`: in the nearest `node_modules` that has it. */
function findPackage(name: string, from: string): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    const candidate = join(folder, 'node_modules', name);
    if (basename(folder) !== 'node_modules' && existsSync(join(candidate, 'package.json'))) return candidate;
    if (dirname(folder) === folder) return undefined;
  }
}
