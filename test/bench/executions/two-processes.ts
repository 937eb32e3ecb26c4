import type { Figure } from '../figures.ts';
import { median } from '../figures.ts';
import { startLoadProcess } from './load.ts';
import { startMeasuredService } from './measured-service.ts';
import { childrenOf, ownProcessorTimeOf } from './processes.ts';
import { compare, measureInRounds } from './throughput.ts';

const rounds = 10;
/** How long each of the two is measured in a round, in seconds. */
const roundSeconds = 2;
const warmUpSeconds = 2;
/** As many as a back end keeps: the system spreads them over the processes by chance, and few of them unevenly. */
const connections = 64;

/**
 * What two processes on PostgreSQL answer beside one: on two cores, which the load, the runners and the database share, there is
 * nothing to win, and little may be lost. And what each of the processes does of the work.
 */
export async function measureTwoProcesses(): Promise<Figure[]> {
  using load = startLoadProcess();
  await using one = await startMeasuredService('postgres', connections, { PROCESSES: '1' });
  await using two = await startMeasuredService('postgres', connections, { PROCESSES: '2' });
  for (const node of [one, two]) await node.measure(load, warmUpSeconds);
  /** The processor time of the first process, and of those that it has started, without their runners. */
  const timesOfTwo = () => [two.pid, ...childrenOf(two.pid)].map(ownProcessorTimeOf);
  const before = timesOfTwo();
  const { two: ofTwo, one: ofOne } = await measureInRounds(rounds, {
    two: () => two.measure(load, roundSeconds),
    one: () => one.measure(load, roundSeconds),
  });
  const [first = 0, ...answering] = timesOfTwo().map((time, i) => time - (before[i] ?? 0));
  const runs = median(ofTwo.map(({ rate }) => rate)) * roundSeconds * rounds;
  const all = first + answering.reduce((sum, time) => sum + time, 0);
  const each = answering.map((time) => `${(time / 1000).toFixed(1)} s`).join(' and ');
  return [
    {
      name: `"Hello", ${connections} connections, PROCESSES=2 against 1`,
      limit: 0.95,
      bound: 'at least',
      unit: '×',
      ...compare(ofTwo, ofOne),
    },
    {
      name: 'the busier of two processes, of the time of both',
      value: Math.max(...answering) / all,
      limit: 0.65,
      unit: '×',
      note: `${each}, ${(all / runs).toFixed(3)} ms for a run`,
    },
    {
      name: 'the process that starts them, of the time of all',
      value: first / all,
      limit: 0.05,
      unit: '×',
      note: `${(first / 1000).toFixed(2)} s`,
    },
  ];
}
