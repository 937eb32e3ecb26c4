import { lockBuilds } from './stamps.ts';
import { buildLauncher, buildService } from './steps.ts';

// `npm run build [-- launcher | service]`: builds the packages as they are published, by default all of them.

const [wanted, ...others] = process.argv.slice(2);
if (others.length > 0 || (wanted !== undefined && wanted !== 'launcher' && wanted !== 'service')) {
  console.error('Usage: npm run build [-- launcher | service]');
  process.exit(2);
}

const unlock = await lockBuilds();
if (wanted !== 'service') await buildLauncher();
if (wanted !== 'launcher') await buildService();
unlock();
