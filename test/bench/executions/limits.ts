import { type Figure, median } from '../figures.ts';
import { type LoadRequest, startLoadProcess } from './load.ts';
import { hello } from './plugins.ts';
import { processorTimeOf } from './processes.ts';
import {
  createDataDirectory,
  environment,
  executionPath,
  type Plugin,
  ServiceProcess,
} from './service-process.ts';

const rounds = 10;
/** How long each of the two is measured in a round, in seconds. */
const roundSeconds = 1.5;

/**
 * What it costs that executions are counted for their rates: processor time of the service's process, which what else the
 * machine does changes less than how many there are in a second.
 */
export async function measureLimits(): Promise<Figure> {
  using countedData = createDataDirectory();
  using uncountedData = createDataDirectory();
  using load = startLoadProcess();
  await using counted = await ServiceProcess.start(countedData.path, { BENCH_RUNS_PER_MINUTE: '10000000' });
  await using uncounted = await ServiceProcess.start(uncountedData.path);
  const { contents, input, output } = hello('hello');
  const plugin: Plugin = { ident: `${environment}.t1`, name: 'measured', lang: 'javascript', contents };
  const requests: LoadRequest[] = [{ path: executionPath(plugin), body: input, expected: output }];
  const measure = async (service: ServiceProcess) => {
    const { pid, port } = service;
    const token = service.tokenFor(plugin.ident);
    const before = processorTimeOf(pid);
    const until = { seconds: roundSeconds };
    const { rate } = await load.send({ port, token, connections: 16, requests, until });
    return { rate, processorTime: (processorTimeOf(pid) - before) / (rate * roundSeconds) };
  };
  for (const service of [counted, uncounted]) {
    await service.deploy(plugin);
    await measure(service);
  }
  const measured: Record<'counted' | 'uncounted', { rate: number; processorTime: number }>[] = [];
  for (let i = 0; i < rounds; i++) {
    measured.push({ counted: await measure(counted), uncounted: await measure(uncounted) });
  }
  const describe = (which: 'counted' | 'uncounted') =>
    `${median(measured.map((round) => round[which].processorTime)).toFixed(3)} ms with ` +
    `${median(measured.map((round) => round[which].rate)).toFixed(0)} a second`;
  return {
    name: 'processor time of "Hello", counted for two rates, against not counted',
    value: median(measured.map((round) => round.counted.processorTime / round.uncounted.processorTime)),
    limit: 1.05,
    unit: '×',
    note: `${describe('counted')}, against ${describe('uncounted')}`,
  };
}
