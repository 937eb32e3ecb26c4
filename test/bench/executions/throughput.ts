import { median } from '../figures.ts';
import type { Load, LoadProcess } from './load.ts';
import { ownProcessorTimeOf, processorTimeOf } from './processes.ts';

/** How one server did for a while. */
export interface Throughput {
  /** Responses per second. */
  rate: number;
  /** Of the server's processes for each response, in ms. */
  processorTime: number;
  /** Of the process that answers alone, in ms. */
  ownProcessorTime: number;
}

/** Sends requests to a server for `seconds` seconds. */
export async function measureThroughput(
  load: LoadProcess,
  { pid, port }: { pid: number; port: number },
  { seconds, ...requests }: Omit<Load, 'port' | 'until'> & { seconds: number },
): Promise<Throughput> {
  const timesOf = () => [processorTimeOf(pid), ownProcessorTimeOf(pid)] as const;
  const [before, ownBefore] = timesOf();
  const { rate } = await load.send({ ...requests, port, until: { seconds } });
  const [after, ownAfter] = timesOf();
  const responses = rate * seconds;
  return {
    rate,
    processorTime: (after - before) / responses,
    ownProcessorTime: (ownAfter - ownBefore) / responses,
  };
}

/** Measures several by turns, so that what slows the machine slows all of them. */
export async function measureInRounds<Name extends string>(
  rounds: number,
  measures: Record<Name, () => Promise<Throughput>>,
): Promise<Record<Name, Throughput[]>> {
  const names = Object.keys(measures) as Name[];
  const measured = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<
    Name,
    Throughput[]
  >;
  for (let i = 0; i < rounds; i++) {
    for (const name of names) measured[name].push(await measures[name]());
  }
  return measured;
}

/** The median of what a round of one has for each of the other, with a note that says how it came about. */
export function compare(
  ours: readonly Throughput[],
  theirs: readonly Throughput[],
  what: keyof Throughput = 'rate',
): { value: number; note: string } {
  const ratios = ours.map((one, i) => one[what] / (theirs[i]?.[what] ?? NaN));
  const describe = (all: readonly Throughput[]) =>
    `${median(all.map(({ rate }) => rate)).toFixed(0)}/s with ` +
    `${median(all.map(({ processorTime }) => processorTime)).toFixed(3)} ms of processor time each`;
  const range = `from ${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`;
  return {
    value: median(ratios),
    note: `${describe(ours)}, against ${describe(theirs)}; ${range} in ${ratios.length} rounds`,
  };
}
