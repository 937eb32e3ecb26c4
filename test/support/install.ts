/** The tools install their own packages in the same way. */
export { installPackages, packagesOf } from '../../tools/setup/install-packages.ts';
