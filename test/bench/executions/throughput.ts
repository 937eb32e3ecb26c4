import { type Figure, median } from '../figures.ts';
import { type LoadRequest, startLoadProcess } from './load.ts';
import type { Example } from './plugins.ts';
import { processorTimeOf } from './processes.ts';
import {
  createDataDirectory,
  environment,
  executionPath,
  type Plugin,
  ServiceProcess,
} from './service-process.ts';
import { startWorkerd } from './workerd-process.ts';

const rounds = 10;
/** How long each of the two is measured in a round, in seconds: short, as what else the machine does comes in bursts. */
const roundSeconds = 1.5;
const warmUpSeconds = 2;

/** How many executions per second the service has, as a share of the requests per second of `workerd`. */
export async function measureThroughput(
  name: string,
  { contents, input, output }: Example,
  { connections, atLeast }: { connections: number; atLeast: number },
): Promise<Figure> {
  using data = createDataDirectory();
  using load = startLoadProcess();
  await using service = await ServiceProcess.start(data.path);
  await using workerd = await startWorkerd(contents);
  const plugin: Plugin = { ident: `${environment}.t1`, name: 'measured', lang: 'javascript', contents };
  await service.deploy(plugin);

  const token = service.tokenFor(plugin.ident);
  const requests: LoadRequest[] = [{ path: executionPath(plugin), body: input, expected: output }];
  const measure = async ({ pid, port }: { pid: number; port: number }, seconds: number) => {
    const before = processorTimeOf(pid);
    const { rate } = await load.send({ port, token, connections, requests, until: { seconds } });
    return { rate, processorTime: (processorTimeOf(pid) - before) / (rate * seconds) };
  };

  await measure(service, warmUpSeconds);
  await measure(workerd, warmUpSeconds);
  const measured: Record<'ours' | 'theirs', { rate: number; processorTime: number }>[] = [];
  for (let i = 0; i < rounds; i++) {
    measured.push({
      ours: await measure(service, roundSeconds),
      theirs: await measure(workerd, roundSeconds),
    });
  }
  const ratios = measured.map(({ ours, theirs }) => ours.rate / theirs.rate);
  const describe = (whose: 'ours' | 'theirs') =>
    `${median(measured.map((round) => round[whose].rate)).toFixed(0)}/s with ` +
    `${median(measured.map((round) => round[whose].processorTime)).toFixed(2)} ms of processor time each`;
  return {
    name,
    value: median(ratios),
    limit: atLeast,
    bound: 'at least',
    unit: '×',
    note: `${describe('ours')}, against ${describe('theirs')}; from ${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)} in ${rounds} rounds`,
  };
}
