import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { EvalFlags } from 'quickjs-wasi';
import { loadedProgram } from '../../service/src/plugins/program.ts';
import { defaultLimits } from '../../service/src/sandbox/run-limits.ts';
import { Sandbox } from '../../service/src/sandbox/sandbox.ts';
import { ScriptEngine } from '../../service/src/sandbox/script/script-engine.ts';
import { installTestPackages, packagesFolder } from '../packages/packages.ts';
import { measureHelloAgainst } from './against.ts';
import { measureFirstRuns } from './executions/first-run.ts';
import { startLoadProcess } from './executions/load.ts';
import { hello } from './executions/plugins.ts';
import {
  createDataDirectory,
  environment,
  executionPath,
  ServiceProcess,
  unlimitedRequests,
} from './executions/service-process.ts';
import { type Figure, median } from './figures.ts';

/** The last commit at which plugins had nothing but the language. */
const beforeTheWeb = '746fc303';

const measures: Record<string, () => Promise<Figure | Figure[]>> = {
  reset: measureReset,
  runs: measureRuns,
  library: measureLibrary,
  'first-run': measureFirstRuns,
  hello: () => measureHelloAgainst(beforeTheWeb),
};

/** The names of the figures, each of which can be measured alone. */
export const sandboxFigures: readonly string[] = Object.keys(measures);

/** What the web's classes, `Intl` and libraries cost in the sandbox. */
export async function measureSandbox(names: readonly string[] = sandboxFigures): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const name of names) figures.push(...[(await measures[name]?.()) ?? []].flat());
  return figures;
}

/** The processor time in which the memory becomes what it was before a run of "Hello". */
async function measureReset(): Promise<Figure> {
  const listener = { log: () => false, error: () => {}, shouldEnd: () => false };
  const engine = await ScriptEngine.create();
  engine.restore(undefined, listener);
  engine.vm.evalCode(hello('hello').contents, 'plugin.js', EvalFlags.TYPE_MODULE);
  engine.vm.executePendingJobs();
  const state = engine.capture();
  const resets = 5000;
  const before = process.cpuUsage();
  for (let i = 0; i < resets; i++) engine.restore(state, listener);
  const { user, system } = process.cpuUsage(before);
  const value = (user + system) / 1000 / resets;
  return { name: 'reset of the memory', value, limit: 0.06, unit: 'ms' };
}

const hash = `const bytes = new Uint8Array(1e6).map((_, i) => i);
export async function run() {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}`;

const format = `const format = new Intl.NumberFormat('de-DE', { style: 'currency', currency: 'EUR' });
export function run() {
  let last;
  for (let i = 1; i <= 1000; i++) last = format.format(i * 1.25);
  return last;
}`;

const sort = `const parts = ['an', 'Ber', 'chr', 'dö', 'el', 'Fri', 'gün', 'hä', 'is', 'Ja', 'kü', 'le', 'Ma'];
const names = Array.from({ length: 10_000 }, (_, i) => {
  const n = (i * 7919) % 10_007;
  return parts[n % 13] + parts[(n * 7) % 11] + parts[(n >> 4) % 12] + ' ' + n;
});
export function run() {
  return names.toSorted((a, b) => a.localeCompare(b, 'de')).slice(0, 2).join();
}`;

const runs = 40;

/** The processor time of a run, in its runner and here, so that the figures do not depend on what else the machine does. */
async function measureRuns(): Promise<Figure[]> {
  const digest = createHash('sha256')
    .update(new Uint8Array(1e6).map((_, i) => i))
    .digest('hex');
  // A slow machine is to miss a figure here and not the limit of time.
  const sandbox = new Sandbox({ limits: { ...defaultLimits, time: 20_000 } });
  const measure = async (name: string, code: string, limit: number, expected: RegExp): Promise<Figure> => {
    const program = loadedProgram({ kind: 'script', code, file: 'plugin.js' });
    const owner = { environment: 'com.acme', tenant: 't1', token: '' };
    const run = async () => {
      const { outcome, took } = await sandbox.runAndMeasure({ program, input: '', owner });
      assert.ok('result' in outcome, JSON.stringify(outcome));
      assert.match(outcome.result, expected);
      return took;
    };
    // The first ones load the program, and find the engine that is large enough.
    for (let i = 0; i < 10; i++) await run();
    const times: number[] = [];
    for (let i = 0; i < runs; i++) times.push(await run());
    return { name, value: median(times), limit, unit: 'ms' };
  };
  try {
    return [
      await measure('SHA-256 of 1 MB, in one run', hash, 20, new RegExp(`^${digest}$`)),
      await measure('1,000 NumberFormat.format, in one run', format, 15, /^1\.250,00\s€$/),
      await measure('10,000 names by localeCompare, in one run', sort, 300, /^ananan \d+,/),
    ];
  } finally {
    await sandbox.close();
  }
}

/** A plugin that imports decimal.js, against the same without. */
async function measureLibrary(): Promise<Figure> {
  await installTestPackages();
  const folder = join(packagesFolder, 'node_modules/decimal.js');
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string };
  using data = createDataDirectory();
  using load = startLoadProcess();
  await using service = await ServiceProcess.start(data.path, unlimitedRequests);
  const ident = `${environment}.t1`;
  const token = service.tokenFor(ident);
  await service.publish(environment, 'decimal.js', version, {
    contents: readFileSync(join(folder, 'decimal.mjs'), 'utf8'),
    declarations: readFileSync(join(folder, 'decimal.d.ts'), 'utf8'),
  });
  await service.setNamespace(environment, { libraries: { 'decimal.js': version } });
  const plugins = {
    without: 'export const run = (input) => (Number(input) * 1.19).toFixed(2);\n',
    with: `import { Decimal } from 'decimal.js';
export const run = (input) => new Decimal(input).times('1.19').toFixed(2);\n`,
  };
  const times = { without: [] as number[], with: [] as number[] };
  for (const [name, contents] of Object.entries(plugins))
    await service.deploy({ ident, name, lang: 'javascript', contents });
  for (let round = -2; round < 11; round++) {
    for (const name of ['without', 'with'] as const) {
      const requests = [{ path: executionPath({ ident, name }), body: '19.99', expected: '23.79' }];
      const common = { port: service.port, token, connections: 1 };
      const { latencies } = await load.send({ ...common, requests, until: { responses: 300 } });
      if (round >= 0) times[name].push(median([...latencies]));
    }
  }
  const [without, withLibrary] = [median(times.without), median(times.with)];
  return {
    name: 'a plugin that imports decimal.js ÷ one without',
    value: withLibrary / without,
    limit: 1.5,
    unit: '×',
    note: `${withLibrary.toFixed(2)} ms against ${without.toFixed(2)} ms`,
  };
}
