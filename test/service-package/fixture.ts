import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { installTestPackages, packagesFolder } from '../packages/packages.ts';
import { packOnce } from '../support/packing.ts';
import { npm } from '../support/programs.ts';

/** The oldest Node that the service promises to run on, from npm. */
export const node22Program = join(
  packagesFolder,
  `node_modules/node-${process.platform}-${process.arch}/bin/node`,
);

/** The package as npm would publish it. */
export const tarball = await packOnce('plugin-editor-service');

/** The folder in which the tarball was built, which it must not contain. */
export const sourceFolder = tarball.builtIn;

/** The folder of an application, with nothing but the package and its dependencies. */
export const consumer = await realpath(await mkdtemp(join(tmpdir(), 'plugin-editor-service-')));
after(() => rm(consumer, { recursive: true, force: true, maxRetries: 3 }));

await writeFile(join(consumer, 'package.json'), '{ "private": true }');
await Promise.all([
  installTestPackages(),
  npm(consumer, ['install', '--prefer-offline', '--no-audit', '--no-fund', tarball.file]),
]);

/** The package as it is installed there. */
export const installed = join(consumer, 'node_modules/plugin-editor-service');
