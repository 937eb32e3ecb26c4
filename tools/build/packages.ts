import { isBuilt, lockBuilds } from './stamps.ts';
import { buildDemo, buildService, provideLauncherModules } from './steps.ts';

// Builds the packages that the demo and the tests import by their names, and the demo's page, unless they were built of the present
// sources. That takes some seconds; otherwise this ends at once.

const areBuilt = () => isBuilt('launcher') && isBuilt('service');

if (!areBuilt() || !isBuilt('demo')) {
  const unlock = await lockBuilds();
  // Another process may have built them meanwhile.
  if (!areBuilt()) {
    console.error('Building the packages, because the sources have changed since the last build.');
    await provideLauncherModules();
    if (!isBuilt('service')) await buildService();
  }
  if (!isBuilt('demo')) await buildDemo();
  unlock();
}
