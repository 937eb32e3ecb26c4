import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fingerprint, rememberBuilt } from './fingerprint.ts';
import { buildLauncher, buildLauncherModules, buildService, root } from './steps.ts';

// `npm run build [-- launcher | service]`: makes what is published of the packages, by default of all.

const [wanted, ...others] = process.argv.slice(2);
if (others.length > 0 || (wanted !== undefined && wanted !== 'launcher' && wanted !== 'service')) {
  console.error('Usage: npm run build [-- launcher | service]');
  process.exit(2);
}

const sources = fingerprint();
if (wanted !== 'service') buildLauncher();
else if (!existsSync(join(root, 'dist/client.js'))) buildLauncherModules();
if (wanted !== 'launcher') await buildService();
if (wanted === undefined) rememberBuilt(sources);
