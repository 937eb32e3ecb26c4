import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import * as fc from 'fast-check';
import type { Figure } from '../bench/figures.ts';
import { MESSAGE_PROPERTIES } from '../core/message-properties.ts';
import { PROPERTIES } from '../core/properties.ts';

const RUNS = 100_000;
const REQUESTS = 300;
const root = fileURLToPath(new URL('../../', import.meta.url));

/**
 * The properties of functions here, those of the elements in Chromium, and those of the service's operations; each failure
 * prints its seed.
 */
export async function measureProperties(): Promise<Figure[]> {
  let failed = 0;
  for (const [name, property] of Object.entries({ ...PROPERTIES, ...MESSAGE_PROPERTIES })) {
    const found = await fc.check(property as fc.IAsyncProperty<unknown>, { numRuns: RUNS });
    if (found.failed) {
      failed++;
      console.log(`FAILED ${name}: ${await fc.asyncDefaultReportMessage(found)}`);
    } else console.log(`${RUNS} cases: ${name}`);
  }
  const figure = { limit: 0, unit: 'failed', note: 'in 100000 cases each' };
  return [
    { ...figure, name: 'properties of functions', value: failed },
    {
      ...figure,
      name: 'properties of the elements, in Chromium',
      value: await inBrowser(),
      note: 'in 10000 cases each',
    },
    {
      ...figure,
      name: 'properties of the operations of the service',
      value: await ofOperations(),
      note: `in ${REQUESTS} requests of each kind to each`,
    },
  ];
}

/** 1 where an operation answered other than its document says. */
async function ofOperations(): Promise<number> {
  const file = fileURLToPath(new URL('../service/http/openapi/properties.release-test.ts', import.meta.url));
  return run(['--disable-warning=ExperimentalWarning', '--test', '--test-reporter=dot', file], {
    PROPERTY_CASES: String(REQUESTS),
  });
}

/** How many files of properties failed in a browser. */
async function inBrowser(): Promise<number> {
  const runner = `${root}node_modules/@web/test-runner/dist/bin.js`;
  const config = fileURLToPath(new URL('web-test-runner.config.ts', import.meta.url));
  return run(['--disable-warning=ExperimentalWarning', runner, '--config', config], { ENGINES: 'chromium' });
}

/** Runs a program with Node; 1 where it failed. */
async function run(args: string[], variables: Record<string, string>): Promise<number> {
  const child = spawn(process.execPath, args, {
    cwd: root,
    env: { ...process.env, ...variables },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return code === 0 ? 0 : 1;
}
