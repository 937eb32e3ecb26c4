import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { builtFingerprint, fingerprint, rememberBuilt } from './fingerprint.ts';
import { buildLauncherModules, buildService, root } from './steps.ts';

// Sees to it that the packages that the demo and the tests use by their names are those of the sources. Takes a moment
// when they are, and some seconds when they are not.

const present = ['dist/client.js', 'service/dist/index.js', 'service/dist/editor/index.html'];

const wanted = fingerprint();
if (builtFingerprint() !== wanted || !present.every((path) => existsSync(join(root, path)))) {
  console.log('Building the packages, because their sources have changed.');
  buildLauncherModules();
  await buildService();
  rememberBuilt(wanted);
}
