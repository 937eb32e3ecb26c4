import { setTimeout as sleep } from 'node:timers/promises';
import { eachPage } from '../../src/client.ts';
import { memoryOf, processorTimeOf } from '../bench/executions/processes.ts';
import { median, show } from '../bench/figures.ts';
import type { Figure } from '../bench/figures.ts';
import { EditorPage } from './everything/editor.ts';
import { doEverything, yardstick } from './everything/work.ts';
import { environment, World } from './everything/world.ts';
import { Tally } from './tally.ts';

export interface EverythingOptions {
  seconds: number;
}

/** How often memory is looked at in all that time. */
const samples = 120;

/** Within what every event has to be delivered, in ms: longer than a receiver that failed is left alone. */
const deliveryLimit = 10 * 60_000;

/** Of fewer times in a part no median is compared. */
const fewestTimes = 20;

/** In MB. */
interface Memory {
  /** What the main process uses, garbage left out, and what it holds. */
  readonly inUse: number;
  readonly main: number;
  /** What it and all its processes hold. */
  readonly all: number;
  /** What the page with the editor uses. */
  readonly editor: number;
}

/** A part of the time. */
interface Span {
  readonly memory: readonly Memory[];
  /** How long answers took in it, in ms, by what was asked. */
  readonly times: ReadonlyMap<string, readonly number[]>;
  /** The processor time of an answer, in ms, on average. */
  readonly processorTime: number;
}

/**
 * One node with all that it does at once, for a long time, at a pace that leaves it idle most of it: authors, an editor in Chromium,
 * builds in all languages, runs, runs that wait for calls and those that break a limit, rollouts, replays and webhooks. Nothing fails without a
 * reason; memory, time and processor time are at the end what they were at the beginning.
 */
export async function measureEverything(
  { seconds }: EverythingOptions = { seconds: Number(process.env['SOAK_SECONDS'] ?? 3600) },
): Promise<Figure[]> {
  const tally = new Tally();
  await using world = await World.start();
  await using editor = await EditorPage.open(world, tally);
  const ended = new AbortController();
  const working = doEverything(world, tally, editor, ended.signal);
  // By then caches are full, and processes that come up when they are needed are there.
  const warmUp = await watch(world, editor, tally, seconds / 6);
  const first = await watch(world, editor, tally, seconds / 6);
  await watch(world, editor, tally, seconds / 2);
  const last = await watch(world, editor, tally, seconds / 6);
  ended.abort();
  const acknowledged = await working;
  const undelivered = await waitForDeliveries(world, acknowledged);
  const { faults, errors } = world.service.node;
  for (const printed of [...faults, errors]) if (printed) tally.fault(`The service printed: ${printed}`);
  const answers = [...tally.times.values()].reduce((sum, { length }) => sum + length, 0);
  const counted = [...tally.counts].map(([what, count]) => `${count} ${what}`);
  console.log(`  ${answers} answers, ${counted.join(', ')}; warm-up ${describe(warmUp)}`);
  return [
    {
      name: `faults in ${seconds} s`,
      value: tally.faults.length,
      limit: 0,
      unit: '',
      note: `${answers} answers`,
    },
    {
      name: 'events of webhooks not delivered',
      value: undelivered,
      limit: 0,
      unit: '',
      note: `${acknowledged.size} changes, ${world.receiver.tries} tries`,
    },
    growth('memory in use by the main process', 10, first, last, ({ inUse }) => inUse),
    growth('memory that it holds', 50, first, last, ({ main }) => main),
    growth('and with all its processes', 100, first, last, ({ all }) => all),
    growth('memory in use by the page with the editor', 5, first, last, ({ editor: page }) => page),
    {
      name: 'processor time of an answer, at the end ÷ at first',
      value: last.processorTime / first.processorTime,
      limit: 1.15,
      unit: '×',
      note: `${show(first.processorTime)} ms, then ${show(last.processorTime)} ms`,
    },
    ...slowdowns(first, last),
  ];
}

/** Looks at the memory for a part of the time, and says how it goes. */
async function watch(world: World, editor: EditorPage, tally: Tally, seconds: number): Promise<Span> {
  const { pid } = world.service.node;
  const before = new Map([...tally.times].map(([what, { length }]) => [what, length]));
  const processorTime = processorTimeOf(pid);
  const end = performance.now() + seconds * 1000;
  const memory: Memory[] = [];
  while (performance.now() < end) {
    const inUse = (await world.service.memoryInUse()) / 1e6;
    const { proportional: all, each } = memoryOf(pid);
    const main = each[0]?.resident ?? NaN;
    memory.push({ inUse, main, all, editor: await editor.memoryInUse() });
    await sleep(Math.max(1000, Math.min((seconds * 1000 * 6) / samples, end - performance.now())));
  }
  const times = new Map([...tally.times].map(([what, all]) => [what, all.slice(before.get(what) ?? 0)]));
  const answers = [...times.values()].reduce((sum, { length }) => sum + length, 0);
  const span = { memory, times, processorTime: (processorTimeOf(pid) - processorTime) / answers };
  console.log(`  ${new Date().toISOString()} ${describe(span)}; ${tally.faults.length} faults`);
  return span;
}

function describe({ memory, times, processorTime }: Span): string {
  const of = (part: keyof Memory) => median(memory.map((one) => one[part])).toFixed(1);
  const medians = [...times].map(([what, all]) => `${what} ${median([...all]).toFixed(1)}`);
  return `in use ${of('inUse')} MB, held ${of('main')}, all ${of('all')}, editor ${of('editor')}; ${processorTime.toFixed(2)} ms an answer; ${medians.join(', ')} ms`;
}

function growth(name: string, limit: number, first: Span, last: Span, of: (one: Memory) => number): Figure {
  const [before, after] = [first, last].map(({ memory }) => median(memory.map(of))) as [number, number];
  return {
    name: `${name}, more than at first`,
    value: Math.max(0, after - before),
    limit,
    unit: 'MB',
    note: `${before.toFixed(1)} MB, then ${after.toFixed(1)} MB`,
  };
}

/** Where the machine itself answers later than at first, the service may, too. */
function slowdowns(first: Span, last: Span): Figure[] {
  const ratio = (what: string) =>
    median([...(last.times.get(what) ?? [])]) / median([...(first.times.get(what) ?? [])]);
  const machine = Math.max(1, ratio(yardstick));
  const isKnown = (what: string) =>
    [first, last].every(({ times }) => (times.get(what)?.length ?? 0) >= fewestTimes);
  const kinds = [...first.times.keys()].filter((what) => what !== yardstick && isKnown(what));
  return kinds.map((what) => {
    const [before, after] = [first, last].map((span) => span.times.get(what) ?? []);
    return {
      name: `${what}, at the end ÷ at first`,
      value: ratio(what) / machine,
      limit: 1.5,
      unit: '×',
      note: `median ${show(median([...(before ?? [])]))} ms of ${before?.length}, then ${show(median([...(after ?? [])]))} ms of ${after?.length}; the machine ${show(machine)}`,
    };
  });
}

/** Waits until each of the changes was told. Resolves with how many were not, or not as it should be. */
async function waitForDeliveries({ receiver, environments, webhook }: World, changes: ReadonlySet<number>) {
  receiver.isMended = true;
  const missing = () => [...changes].filter((one) => !receiver.taken.has(one)).length;
  const began = performance.now();
  while (missing() && performance.now() - began < deliveryLimit) await sleep(100);
  let failed = 0;
  for await (const { deliveries } of eachPage((after) =>
    environments.listDeliveries({ environment, webhook }, { after }),
  ))
    failed += deliveries.filter(({ status }) => status === 'failed').length;
  return missing() + failed + receiver.forged;
}
