import { setTimeout as sleep } from 'node:timers/promises';
import type { Figure } from '../figures.ts';
import { startLoadProcess } from './load.ts';
import { hello } from './plugins.ts';
import { type Memory, memoryOf } from './processes.ts';
import {
  createDataDirectory,
  environment,
  executionPath,
  type Plugin,
  ServiceProcess,
  unlimitedRequests,
} from './service-process.ts';

const pluginCount = 1000;
const callsEach = 10;

/** The memory after a thousand plugins were called in turn, each by some requests in a row. */
export async function measureManyPlugins(): Promise<Figure[]> {
  using data = createDataDirectory();
  using load = startLoadProcess();
  const plugins = Array.from({ length: pluginCount }, (_, i) => ({
    ident: `${environment}.t${i % 20}`,
    name: `plugin-${i}`,
    lang: 'javascript',
    ...hello(`plugin-${i}`),
  }));
  {
    // What building takes is another figure's business.
    await using builder = await ServiceProcess.start(data.path, unlimitedRequests);
    await builder.deployAll(plugins);
  }
  await using service = await ServiceProcess.start(data.path);
  const before = memoryOf(service.pid);
  const requests = plugins.flatMap((plugin) =>
    Array.from({ length: callsEach }, () => ({
      path: executionPath(plugin),
      body: plugin.input,
      expected: plugin.output,
    })),
  );
  const { failures, rate } = await load.send(
    {
      port: service.port,
      token: service.tokenFor(`${environment}.t0`),
      connections: 1,
      requests,
      until: { responses: requests.length },
    },
    { tolerant: true },
  );
  // No pause: what is still held right after the last answer counts.
  const after = memoryOf(service.pid);
  return [
    {
      name: `memory after ${pluginCount} plugins, each called ${callsEach} times`,
      value: after.proportional,
      limit: 600,
      unit: 'MB',
      note: `${describe(after)}; ${describe(before)} before; ${rate.toFixed(0)}/s`,
    },
    {
      name: `errors of ${pluginCount} plugins`,
      value: Object.values(failures).reduce((sum, one) => sum + one, 0),
      limit: 0,
      unit: '',
      note: Object.keys(failures).join(', '),
    },
  ];
}

const describe = ({ proportional, each }: Memory & { each: Memory[] }) =>
  `${proportional.toFixed(0)} MB in ${each.length} processes (${each.map((one) => one.proportional.toFixed(0)).join(' + ')})`;

/** What a hundred thousand runs leave behind. */
export async function measureGrowth(): Promise<Figure> {
  using data = createDataDirectory();
  using load = startLoadProcess();
  await using service = await ServiceProcess.start(data.path);
  const { contents, input, output } = hello('measured');
  const plugin: Plugin = { ident: `${environment}.t1`, name: 'measured', lang: 'javascript', contents };
  await service.deploy(plugin);
  const run = (responses: number) =>
    load.send({
      port: service.port,
      token: service.tokenFor(plugin.ident),
      connections: 16,
      requests: [{ path: executionPath(plugin), body: input, expected: output }],
      until: { responses },
    });
  await run(5000);
  const before = await settledMemory(service.pid);
  const { rate } = await run(95_000);
  const after = await settledMemory(service.pid);
  return {
    name: 'memory after 100,000 runs, more than after 5,000',
    value: Math.max(0, after - before),
    limit: 50,
    unit: 'MB',
    note: `${before.toFixed(0)} MB, then ${after.toFixed(0)} MB; ${rate.toFixed(0)}/s`,
  };
}

/** The least of some looks at the resident memory: what one garbage collection more would free is no growth. */
async function settledMemory(pid: number): Promise<number> {
  let least = Infinity;
  for (let i = 0; i < 10; i++) {
    await sleep(200);
    least = Math.min(least, memoryOf(pid).resident);
  }
  return least;
}
