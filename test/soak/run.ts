/**
 * `npm run soak`: the long rounds of what `npm test` does in short. Prints every figure beside its limit, and exits with
 * 1 when one is missed. Names narrow it down: `npm run soak faults properties`. `npm run soak everything` takes an hour, or as many
 * seconds as SOAK_SECONDS says. `npm run soak cpython` fetches CPython's own tests from Debian, and says which share of them passes
 * in the sandbox; `npm run soak web-platform` does it with those of the web.
 */
import type { Figure } from '../bench/figures.ts';
import { print } from '../bench/figures.ts';

/** Each round loads its module only when it is wanted, and cleans up after itself. */
const rounds: Record<string, () => Promise<Figure[]>> = {
  properties: async () => (await import('./properties.ts')).measureProperties(),
  faults: async () => (await import('./faults/matrix.ts')).measureFaults(),
  load: async () => (await import('./load.ts')).measureLoad(),
  crashes: async () => (await import('./crashes.ts')).measureCrashes('sqlite'),
  'cluster-faults': async () => (await import('./cluster.ts')).measureClusterFaults(),
  'cluster-load': async () => (await import('./cluster.ts')).measureClusterLoad(),
  everything: async () => (await import('./everything.ts')).measureEverything(),
  connections: async () => (await import('./connections.ts')).measureConnections(),
  secrets: async () => (await import('./secrets.ts')).measureSecrets(),
  draining: async () => (await import('./draining.ts')).measureDraining(),
  webhooks: async () => (await import('./webhooks.ts')).measureWebhooks(),
  lazy: async () => (await import('./lazy.ts')).measureLazy(),
  fuzz: async () => (await import('./fuzz.ts')).measureFuzz(),
  'web-platform': async () => (await import('./web-platform.ts')).measureWebPlatform(),
  cpython: async () => (await import('./cpython.ts')).measureCpython(),
};

/** Rounds that take an hour or need a package of Debian, and so run only where they are named. */
const onlyNamed = ['everything', 'cpython', 'web-platform'];

const selected = process.argv.slice(2);
const unknown = selected.filter((name) => !Object.hasOwn(rounds, name));
if (unknown.length) {
  console.error(`There is no ${unknown.join(', ')}; there are ${Object.keys(rounds).join(', ')}.`);
  process.exitCode = 1;
} else {
  const figures: Figure[] = [];
  for (const [name, measure] of Object.entries(rounds)) {
    if (selected.length ? !selected.includes(name) : onlyNamed.includes(name)) continue;
    console.log(`\n${name}`);
    figures.push(...(await measure()));
  }
  process.exitCode = print(figures) ? 0 : 1;
}
