// The tools install their packages in the same way.
export { installPackages, packagesOf } from '../../tools/setup/install-packages.ts';
