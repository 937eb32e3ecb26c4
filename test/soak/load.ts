import { setTimeout } from 'node:timers/promises';
import { median } from '../bench/figures.ts';
import type { Figure } from '../bench/figures.ts';
import { Connection } from '../support/connection.ts';
import { createDurableDatabase } from '../service/storage/durable-database.ts';
import { databaseFaults } from './database.ts';
import { program } from './programs.ts';
import { random } from './random.ts';
import { KilledService, processes } from './service.ts';
import { Tally } from './tally.ts';
import { User, WrongResponse } from './user.ts';

export interface LoadOptions {
  users: number;
  /** How long they go on; memory is a figure from 30 on. */
  seconds: number;
  /** How often each goes from saving to running, however long that takes. */
  atLeast: number;
  seed?: number;
}

/** How often memory is looked at, in ms. */
const SAMPLING = 500;

/**
 * The service in a separate process, under users who write, build, test, deploy and run without a pause, each by
 * a separate connection, two to a tenant. Two cannot fill what a tenant may have waiting, so that a 429 is a fault here.
 */
export async function measureLoad(
  { users: count, seconds, atLeast, seed = Date.now() % 2 ** 32 }: LoadOptions = {
    users: 50,
    seconds: 60,
    atLeast: 1,
  },
): Promise<Figure[]> {
  const tally = new Tally();
  const database = await createDurableDatabase('sqlite');
  const service = await KilledService.start(database);
  const connections: Connection[] = [];
  const connect = () => {
    const connection = new Connection(service.node.origin);
    connections.push(connection);
    return connection;
  };
  try {
    const users = Array.from(
      { length: count },
      (_, i) => new User(`com.acme.tenant-${i >> 1}/default/plugin-${i}`, tally),
    );
    await Promise.all(users.map((user) => user.signIn(connect(), service.environmentToken)));

    const end = performance.now() + seconds * 1000;
    const sampling = new AbortController();
    const samples = sampleMemory(service, sampling.signal);
    await Promise.all(users.map((user, i) => work(user, i, tally, random(seed + i), { end, atLeast })));
    sampling.abort();
    const memory = await samples;

    await service.kill();
    for (const printed of [...service.node.faults, service.node.errors])
      if (printed) tally.fault(`The service printed: ${printed}`);
    await service.restart();
    await Promise.all(
      users.map(async (user) => {
        await user.signIn(connect(), service.environmentToken);
        await user.verify();
      }),
    );
    for (const fault of await databaseFaults(database.address)) tally.fault(fault);
    return figures(tally, memory, { count, seconds, seed });
  } finally {
    for (const connection of connections) connection.close();
    await service[Symbol.asyncDispose]();
    await database.remove();
  }
}

/** Goes on until the time is over. */
async function work(
  user: User,
  number: number,
  tally: Tally,
  chance: () => number,
  { end, atLeast }: { end: number; atLeast: number },
): Promise<void> {
  for (let loop = 0; loop < atLeast || performance.now() < end; loop++) {
    const lang = pick(chance());
    const mark = (part: string) => `u${number}-${loop}${part}`;
    const size = chance() * 10_000;
    try {
      // As from an editor that saves as one types.
      for (const part of ['a', 'b', 'c']) await user.save(program(lang, mark(part), size));
      if (chance() < 0.2) await user.build(program(lang, mark('broken'), size, false), true);
      await user.build(program(lang, mark('built'), size), chance() < 0.5);
      await user.test(mark('test'));
      await user.deploy();
      await user.run(mark('run'));
      await user.run(mark('run'), Math.floor(chance() * user.versions.length));
      tally.count('loops');
    } catch (error) {
      if (!(error instanceof WrongResponse)) tally.fault(`${user.path}: ${String(error)}`);
      // A service that is gone would be asked without end.
      if (performance.now() > end) break;
    }
  }
}

const pick = (chance: number) =>
  chance < 0.6 ? 'javascript' : chance < 0.9 ? 'typescript' : 'assemblyscript';

/** In MB. */
interface Sample {
  /** What the service's process holds of the machine's memory. */
  service: number;
  /** What it and all its processes hold. */
  all: number;
  /** What it uses, garbage left out; in every tenth sample, as the collection takes its time. */
  inUse: number | undefined;
}

async function sampleMemory(service: KilledService, signal: AbortSignal): Promise<Sample[]> {
  const samples: Sample[] = [];
  const root = service.node.pid;
  while (!signal.aborted) {
    const inUse = samples.length % 10 ? undefined : (await service.memoryInUse()) / 2 ** 20;
    const found = await processes(root);
    const sum = (some: typeof found) => some.reduce((total, { memory }) => total + memory, 0) / 2 ** 20;
    samples.push({ service: sum(found.filter(({ pid }) => pid === root)), all: sum(found), inUse });
    await setTimeout(SAMPLING, undefined, { signal }).catch(() => {});
  }
  return samples;
}

function figures(
  tally: Tally,
  memory: Sample[],
  { count, seconds, seed }: { count: number; seconds: number; seed: number },
): Figure[] {
  const answered = [...tally.times.values()].reduce((sum, { length }) => sum + length, 0);
  const slow = [...tally.times].map(([what, times]) => {
    const worst = times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? NaN;
    return `${what} ${median(times).toFixed(0)}/${worst.toFixed(0)}`;
  });
  console.log(`  ${slow.join(', ')} ms (median/99 %)`);
  return [
    {
      name: `faults with ${count} users in ${seconds} s`,
      value: tally.faults.length,
      limit: 0,
      unit: '',
      note: `${answered} requests answered, ${tally.of('503 with Retry-After')} refused with 503 and Retry-After; seed ${seed}`,
    },
    {
      name: 'users who did not get round',
      value: Math.max(0, count - tally.of('loops')),
      limit: 0,
      unit: '',
      note: `${tally.of('loops')} times from saving to running`,
    },
    ...(seconds < 30 ? [] : memoryGrowth(memory)),
  ];
}

/**
 * What is held in the second half of the time, more than in the first without its beginning: by the first fifth, all
 * that is to be loaded is loaded. What the machine gives grows in steps of tens of MB, as the engine makes room for
 * garbage; what is in use tells of a leak.
 */
function memoryGrowth(memory: Sample[]): Figure[] {
  const warm = memory.slice(Math.ceil(memory.length / 5), memory.length >> 1);
  const late = memory.slice(memory.length >> 1);
  const figure = (what: string, limit: number, of: (sample: Sample) => number | undefined): Figure => {
    const known = (some: Sample[]) => some.map(of).filter((value) => value !== undefined);
    const [before, after] = [median(known(warm)), median(known(late))];
    const note = `${before.toFixed(0)} MB, then ${after.toFixed(0)} MB, at most ${Math.max(...known(late)).toFixed(0)} MB`;
    return { name: what, value: Math.max(0, after - before), limit, unit: 'MB', note };
  };
  return [
    figure('memory in use, second half of the time', 10, ({ inUse }) => inUse),
    figure('memory held by the service', 100, ({ service }) => service),
    figure('and by its build processes with it', 120, ({ all }) => all),
  ];
}
