import { isBuilt } from './stamps.ts';
import { buildService, provideLauncherModules } from './steps.ts';

// Sees to it that the packages that the demo and the tests use by their names are those of the sources. Takes a moment
// when they are, and some seconds when they are not.

if (!isBuilt('launcher') || !isBuilt('service')) {
  console.error('Building the packages, because they are not of the sources as they are.');
  await provideLauncherModules();
  if (!isBuilt('service')) await buildService();
}
