import { setTimeout as sleep } from 'node:timers/promises';
import { Caller, callingPlugin, callingSettings, grantUpstream } from './connections/calling-plugin.ts';
import { UpstreamProcess } from './connections/upstream.ts';
import { hello } from './executions/plugins.ts';
import { memoryOf, processorTimeOf } from './executions/processes.ts';
import { createDataDirectory, ServiceProcess } from './executions/service-process.ts';
import { type Figure, median } from './figures.ts';

/*
 * Runs that wait for calls. What plugins without calls cost beside former releases is what `npm run bench -- against` measures.
 */

/** Two environments with two tenants each, which together may have all of `WAITING_RUNS`. */
const tenants = ['com.acme.t1', 'com.acme.t2', 'com.other.t1', 'com.other.t2'];
const runsOfTenant = Number(process.env['BENCH_RUNS'] ?? 250);
const neighbour = 'com.neighbour';
const environments = ['com.acme', 'com.other', neighbour];

/** What an upstream takes for a response, in ms. */
const responseTime = 200;
const longResponseTime = 10_000;

/** Until the machine code of the service is compiled: for some 10,000 runs. */
const warmUpSeconds = 20;
const seconds = Number(process.env['BENCH_SECONDS'] ?? 15);

const measures: Record<string, () => Promise<Figure[]>> = {
  'in-progress': measureInProgress,
  waiting: measureWaiting,
  neighbour: measureNeighbour,
};

/** The names of the figures, each of which can be measured alone. */
export const connectionFigures: readonly string[] = Object.keys(measures);

export async function measureConnections(names = connectionFigures): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const name of names) {
    console.log(`\nconnections:${name}`);
    failures.clear();
    figures.push(...((await measures[name]?.()) ?? []));
  }
  return figures;
}

/** A service with a plugin that calls, for each of the tenants, and a back end for each. */
async function startWorld() {
  await using stack = new AsyncDisposableStack();
  const data = stack.use(createDataDirectory());
  const upstream = stack.use(await UpstreamProcess.start());
  // Longer than the slowest response.
  const variables = { ...callingSettings(upstream), CALL_TIMEOUT_MS: '20000' };
  const service = stack.use(await ServiceProcess.start(data.path, { variables, environments }));
  for (const environment of ['com.acme', 'com.other']) await grantUpstream(service, environment, upstream);
  const plugins = tenants.map((ident) => callingPlugin(ident, upstream));
  await service.deployAll(plugins);
  const callers = plugins.map((plugin) =>
    stack.use(new Caller(service.port, plugin, service.tokenFor(plugin.ident), runsOfTenant)),
  );
  const owned = stack.move();
  return { service, callers, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

let count = 0;

/** Runs a plugin with an input that no other run has. Resolves with whether it got what belongs to it. */
async function runOnce(caller: Caller, time: number): Promise<boolean> {
  const text = `run-${count++}`;
  const output = await caller.run(`/good/${time}/${text}`).catch(String);
  if (output !== text) failures.set(output, (failures.get(output) ?? 0) + 1);
  return output === text;
}

/** What there was instead of an output, in the part that is measured. */
const failures = new Map<string, number>();
const describeFailures = () =>
  [...failures]
    .slice(0, 5)
    .map(([what, number]) => `${number} × ${what}`)
    .join(', ');

/** Keeps runs of all callers in progress until the time is over, and then lets them end. */
async function keepInProgress(callers: readonly Caller[], each: number, until: () => number) {
  let ended = 0;
  let wrong = 0;
  const keep = async (caller: Caller, i: number) => {
    // One token may have 256 runs that wait for a runner.
    await sleep(i * 4);
    while (performance.now() < until()) {
      if (await runOnce(caller, responseTime)) ended += 1;
      else wrong += 1;
    }
  };
  await Promise.all(callers.flatMap((caller) => Array.from({ length: each }, (_, i) => keep(caller, i))));
  return { ended, wrong };
}

const keepFor = (time: number, callers: readonly Caller[], each: number) => {
  const end = performance.now() + time * 1000;
  return keepInProgress(callers, each, () => end);
};

async function measureInProgress(): Promise<Figure[]> {
  await using world = await startWorld();
  const { service, callers } = world;
  await keepFor(warmUpSeconds, callers, runsOfTenant);
  const processorTime = processorTimeOf(service.pid);
  const began = performance.now();
  const { ended, wrong } = await keepFor(seconds, callers, runsOfTenant);
  const took = (performance.now() - began) / 1000;
  const each = (processorTimeOf(service.pid) - processorTime) / ended;
  return [
    {
      name: `runs that wait ${responseTime} ms, ${callers.length * runsOfTenant} in progress`,
      value: Math.round(ended / took),
      limit: 600,
      bound: 'at least',
      unit: '/s',
    },
    { name: 'of these wrong or refused', value: wrong, limit: 0, unit: '', note: describeFailures() },
    { name: 'processor time of a run with one call', value: each, limit: 1.5, unit: 'ms' },
  ];
}

async function measureWaiting(): Promise<Figure[]> {
  await using world = await startWorld();
  const { service, callers } = world;
  // All runners have come up, and what the first runs take once is there.
  await keepFor(warmUpSeconds, callers, 16);
  const idle = memoryOf(service.pid).proportional;
  const runs = callers.flatMap((caller) =>
    Array.from({ length: runsOfTenant }, (_, i) =>
      sleep(i * 4).then(() => runOnce(caller, longResponseTime)),
    ),
  );
  await sleep(longResponseTime * 0.7);
  const full = memoryOf(service.pid).proportional;
  const wrong = (await Promise.all(runs)).filter((isRight) => !isRight).length;
  return [
    {
      name: `memory of each of ${runs.length} runs that wait 10 s`,
      value: ((full - idle) * 1e6) / 1024 / runs.length,
      limit: 64,
      unit: 'KB',
      note: `${idle.toFixed(0)} MB idle, ${full.toFixed(0)} MB`,
    },
    { name: 'of these wrong or refused', value: wrong, limit: 0, unit: '', note: describeFailures() },
  ];
}

/** How often the neighbour calls, in ms, and how many runs begin beside it each second. */
const neighbourInterval = 50;
const paced = 300;

async function measureNeighbour(): Promise<Figure[]> {
  await using world = await startWorld();
  const { service, callers } = world;
  const example = hello('neighbour');
  const plugin = { ident: `${neighbour}.t1`, name: 'hello', lang: 'javascript', contents: example.contents };
  await service.deploy(plugin);
  // The back end of another environment is at another address.
  using victim = new Caller(service.port, plugin, service.tokenFor(plugin.ident), 16, '127.0.0.2');
  const medianFor = async (time: number) => {
    const times: number[] = [];
    const calls: Promise<void>[] = [];
    const call = async (due: number) => {
      const output = await victim.run(example.input);
      if (output !== example.output) throw new Error(`The neighbour got ${output}.`);
      times.push(performance.now() - due);
    };
    const start = performance.now();
    for (let due = start; due < start + time * 1000; due += neighbourInterval) {
      await sleep(Math.max(0, due - performance.now()));
      calls.push(call(due));
    }
    await Promise.all(calls);
    return median(times);
  };
  await Promise.all([keepFor(warmUpSeconds, callers, 32), medianFor(warmUpSeconds)]);
  const alone = await medianFor(seconds);
  const [one, other] = callers;
  if (!one || !other) throw new Error('There are two tenants in an environment.');

  const paceOver = new AbortController();
  const runs: Promise<boolean>[] = [];
  const pace = async () => {
    const start = performance.now();
    for (let i = 0; !paceOver.signal.aborted; i++) {
      await sleep(Math.max(0, start + (i * 1000) / paced - performance.now()));
      runs.push(runOnce(i % 2 ? one : other, responseTime));
    }
  };
  const pacing = pace();
  await sleep(1000);
  const beside = await medianFor(seconds);
  paceOver.abort();
  await pacing;
  const wrong = (await Promise.all(runs)).filter((isRight) => !isRight).length;

  let end = Infinity;
  const saturating = keepInProgress([one, other], runsOfTenant, () => end);
  await sleep(1000);
  const saturated = await medianFor(seconds);
  end = 0;
  await saturating;
  const figure = (what: string, value: number, limit: number): Figure => ({
    name: `another environment's "Hello" ${what}`,
    value: value / alone,
    limit,
    unit: '×',
    note: `${value.toFixed(2)} ms against ${alone.toFixed(2)} ms alone`,
  });
  return [
    figure(`beside ${paced} such runs a second`, beside, 2),
    figure('beside as many as there can be', saturated, 3),
    {
      name: 'of the paced runs wrong or refused',
      value: wrong,
      limit: 0,
      unit: '',
      note: describeFailures(),
    },
  ];
}
