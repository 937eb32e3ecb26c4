import { median } from '../figures.ts';
import type { Figure } from '../figures.ts';
import { startLoadProcess } from './load.ts';
import type { Example } from './plugins.ts';
import { createDataDirectory, environment, executionPath, ServiceProcess } from './service-process.ts';
import type { Plugin } from './service-process.ts';
import { compare, measureInRounds, measureThroughput } from './throughput.ts';
import { startWorkerd } from './workerd-process.ts';

const rounds = 10;
/** How long each of the two is measured in a round, in seconds: short, as what else the machine does comes in bursts. */
const roundSeconds = 1.5;
/** Until the machine code of the service is compiled: for some 20,000 requests. */
const warmUpSeconds = 8;

/**
 * How many executions per second the service has, as a share of the requests per second of `workerd`; where
 * there is a limit to it, also how much processor time the process that answers needs for each, in ms.
 */
export async function measureAgainstWorkerd(
  name: string,
  { contents, input, output }: Example,
  { connections, atLeast, ownTime }: { connections: number; atLeast: number; ownTime?: number },
): Promise<Figure[]> {
  using data = createDataDirectory();
  using load = startLoadProcess();
  await using service = await ServiceProcess.start(data.path);
  await using workerd = await startWorkerd(contents);
  const plugin: Plugin = { ident: `${environment}.t1`, name: 'measured', lang: 'javascript', contents };
  await service.deploy(plugin);

  const token = service.tokenFor(plugin.ident);
  const requests = [{ path: executionPath(plugin), body: input, expected: output }];
  const measure = (server: { pid: number; port: number }, seconds = roundSeconds) =>
    measureThroughput(load, server, { token, connections, requests, seconds });
  for (const server of [service, workerd]) await measure(server, warmUpSeconds);
  const { ours, theirs } = await measureInRounds(rounds, {
    ours: () => measure(service),
    theirs: () => measure(workerd),
  });
  const rate: Figure = { name, limit: atLeast, bound: 'at least', unit: '×', ...compare(ours, theirs) };
  if (ownTime === undefined) return [rate];
  const value = median(ours.map(({ ownProcessorTime }) => ownProcessorTime));
  return [
    rate,
    { name: 'processor time of the process that answers, for each', value, limit: ownTime, unit: 'ms' },
  ];
}
