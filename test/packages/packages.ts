import { createRequire } from 'node:module';
import { join } from 'node:path';
import { installPackages } from '../../tools/setup/install-packages.ts';

/*
 * What tests and benches need besides the dependencies of the project: hundreds of megabytes, of which other commands need none. They
 * are apart from the project's own packages, so that neither decides on the versions of the other.
 */

/** The folder that `node_modules` is in. */
export const packagesFolder = import.meta.dirname;

/** Installs the packages if need be. Test files that ask at once wait for one installation. */
export const installTestPackages = (): Promise<void> => installPackages(packagesFolder);

/** Loads one of the packages that are installed. */
export const requireTestPackage = createRequire(join(packagesFolder, 'package.json'));

/** Installs the packages if need be, and returns the function that loads them. */
export async function testPackages(): Promise<NodeJS.Require> {
  await installTestPackages();
  return requireTestPackage;
}
