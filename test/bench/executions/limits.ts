import type { Figure } from '../figures.ts';
import { startLoadProcess } from './load.ts';
import { hello } from './plugins.ts';
import { createDataDirectory, environment, executionPath, ServiceProcess } from './service-process.ts';
import type { Plugin } from './service-process.ts';
import { compare, measureInRounds, measureThroughput } from './throughput.ts';

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
  await using counted = await ServiceProcess.start(countedData.path, {
    // Far above what is measured, so that nothing is refused but all is counted.
    variables: { TENANT_RUNS_PER_MINUTE: '10000000', ENVIRONMENT_RUNS_PER_MINUTE: '10000000' },
  });
  await using uncounted = await ServiceProcess.start(uncountedData.path);
  const { contents, input, output } = hello('hello');
  const plugin: Plugin = { ident: `${environment}.t1`, name: 'measured', lang: 'javascript', contents };
  const requests = [{ path: executionPath(plugin), body: input, expected: output }];
  const measure = (service: ServiceProcess) => {
    const token = service.tokenFor(plugin.ident);
    return measureThroughput(load, service, { token, connections: 16, requests, seconds: roundSeconds });
  };
  for (const service of [counted, uncounted]) {
    await service.deploy(plugin);
    await measure(service);
  }
  const measured = await measureInRounds(rounds, {
    counted: () => measure(counted),
    uncounted: () => measure(uncounted),
  });
  return {
    name: 'processor time of "Hello", counted for two rates, against not counted',
    limit: 1.05,
    unit: '×',
    ...compare(measured.counted, measured.uncounted, 'processorTime'),
  };
}
