import { setTimeout } from 'node:timers/promises';
import type { Figure } from '../bench/figures.ts';
import type { ClusterUser } from './cluster/user.ts';
import { work } from './cluster/work.ts';
import { ClusterWorld } from './cluster/world.ts';
import { processes } from './service.ts';
import { Tally } from './tally.ts';

export interface ClusterOptions {
  users: number;
  /** How long the users work. */
  seconds: number;
  /** How many nodes there are (default: 3). */
  nodes?: number;
}

export interface FaultOptions extends ClusterOptions {
  /** How often one of the nodes, in turn, is killed and started again, in seconds. */
  nodeKillEvery: number;
  /** How many times the database is killed and started again, over all the time. */
  databaseKills: number;
}

/** How long the database is away each time, in ms. */
const databaseAway = 2000;

/** Within what all has to be well after the last fault, in ms. */
const recoveryLimit = 5000;

/**
 * Three nodes on one PostgreSQL behind a proxy, while nodes and the database are killed. What was acknowledged has to be there,
 * whatever node is asked, and nothing else may go wrong than a broken connection, 502 of the proxy, or 503 with `Retry-After`, and the
 * first two not before the first fault.
 */
export async function measureClusterFaults(
  options: FaultOptions = { users: 100, seconds: 120, nodeKillEvery: 10, databaseKills: 2 },
): Promise<Figure[]> {
  const tally = new Tally();
  const world = await ClusterWorld.start(options.nodes);
  try {
    const users = await signIn(world, options.users, tally);
    const ended = new AbortController();
    const working = users.map((user, i) => work(user, i, ended.signal));
    await injectFaults(world, options, tally);
    const recovery = await measureRecovery(world, tally);
    ended.abort();
    await Promise.all(working);
    await Promise.all(users.map((user) => user.verify()));
    bookOutput(world, tally);
    printCounts(tally);
    return [
      faultsFigure(tally, options),
      {
        name: 'time until all is well after the last fault',
        value: recovery,
        limit: recoveryLimit,
        unit: 'ms',
        note: 'every node is ready, and one whole edit, build, deploy and run',
      },
    ];
  } finally {
    await world.remove();
  }
}

/** The same without faults: nothing grows, and nearly everything succeeds at the first try. */
export async function measureClusterLoad(
  options: ClusterOptions = { users: 100, seconds: 600 },
): Promise<Figure[]> {
  const tally = new Tally();
  const world = await ClusterWorld.start(options.nodes);
  try {
    const users = await signIn(world, options.users, tally);
    const ended = new AbortController();
    const working = users.map((user, i) => work(user, i, ended.signal));
    // By then all that is to be loaded is loaded.
    const warmUp = Math.min(60, options.seconds / 2);
    await setTimeout(warmUp * 1000);
    const before = await memoryOfNodes(world);
    await setTimeout((options.seconds - warmUp) * 1000);
    const after = await memoryOfNodes(world);
    ended.abort();
    await Promise.all(working);
    await Promise.all(users.map((user) => user.verify()));
    bookOutput(world, tally);
    bookBreaks(tally);
    printCounts(tally);
    const kinds = [...tally.times.keys()].filter((what) => what !== 'build');
    return [
      faultsFigure(tally, options),
      ...before.map((memory, i) => ({
        name: `memory of node ${i + 1}, more than after ${warmUp} s`,
        value: Math.max(0, (after[i] ?? NaN) - memory),
        limit: 100,
        unit: 'MB',
        note: `${memory.toFixed(0)} MB, then ${after[i]?.toFixed(0)} MB`,
      })),
      { name: 'builds that were refused', value: refused(tally, ['build']), limit: 10, unit: '%' },
      { name: 'other requests that were refused', value: refused(tally, kinds), limit: 1, unit: '%' },
    ];
  } finally {
    await world.remove();
  }
}

async function signIn(world: ClusterWorld, count: number, tally: Tally): Promise<ClusterUser[]> {
  const users = Array.from({ length: count }, (_, i) => world.addUser(i, tally));
  await Promise.all(users.map((user) => user.signIn()));
  return users;
}

/** Books what only a fault may cause, where there was none yet. */
function bookBreaks(tally: Tally): void {
  for (const what of ['broken connections', '502 of the proxy']) {
    if (tally.of(what)) tally.fault(`${tally.of(what)} ${what} without a fault`);
  }
}

/** Ends with the last fault. */
async function injectFaults(
  { nodes, database }: ClusterWorld,
  { seconds, nodeKillEvery, databaseKills }: FaultOptions,
  tally: Tally,
): Promise<void> {
  let isUndisturbed = true;
  const disturb = () => {
    if (isUndisturbed) bookBreaks(tally);
    isUndisturbed = false;
  };
  const killNodes = async () => {
    const kills = Math.max(1, Math.floor(seconds / nodeKillEvery));
    for (let i = 0; i < kills; i++) {
      await setTimeout(nodeKillEvery * 1000);
      const node = nodes[i % nodes.length];
      disturb();
      await node?.end('SIGKILL');
      // One that does not come back is reported by `measureRecovery`.
      node?.start().catch(() => {});
      tally.count('nodes killed');
    }
  };
  const killDatabase = async () => {
    for (let i = 0; i < databaseKills; i++) {
      // Not together with a node each time, and not after the last of those.
      await setTimeout((seconds * 1000 * 0.9) / (databaseKills + 1) - databaseAway);
      disturb();
      await database.crash();
      await setTimeout(databaseAway);
      await database.start();
      tally.count('databases killed');
    }
  };
  await Promise.all([killNodes(), killDatabase()]);
}

/** In ms, while the users go on. */
async function measureRecovery(world: ClusterWorld, tally: Tally): Promise<number> {
  const began = performance.now();
  const cycle = async () => {
    const user = world.addUser('after-the-faults', tally);
    await user.signIn();
    await user.save();
    await user.build();
    await user.deploy();
    await user.run(0);
  };
  const ready = world.nodes.map(async (node) => {
    while (!(await node.isReady())) {
      if (performance.now() - began > 10 * recoveryLimit) return tally.fault('A node did not come back.');
      await setTimeout(50);
    }
  });
  await Promise.all([...ready, cycle()]);
  return performance.now() - began;
}

/** In MB. */
const memoryOfNodes = ({ nodes }: ClusterWorld): Promise<number[]> =>
  Promise.all(
    nodes.map(async ({ pid }) => {
      const family = await processes(pid);
      return (family.find((one) => one.pid === pid)?.memory ?? NaN) / 2 ** 20;
    }),
  );

/** What a node prints as a failure is one, although its client was answered. */
function bookOutput({ nodes }: ClusterWorld, tally: Tally): void {
  for (const { errors } of nodes) if (/failed|Error/.test(errors)) tally.fault(`A node printed: ${errors}`);
}

function refused(tally: Tally, kinds: readonly string[]): number {
  const sum = (count: (what: string) => number) => kinds.reduce((total, what) => total + count(what), 0);
  const tries = sum((what) => tally.of(`tries of ${what}`));
  return (100 * (tries - sum((what) => tally.times.get(what)?.length ?? 0))) / tries;
}

function printCounts({ counts, times }: Tally): void {
  const errors = [...counts].filter(([what]) => !what.startsWith('tries of '));
  const answered = [...times].map(([what, all]) => `${all.length} ${what} (at most ${worst(all)} ms)`);
  console.log(`  answered: ${answered.join(', ')}`);
  console.log(`  else: ${errors.map(([what, count]) => `${count} ${what}`).join(', ') || 'nothing'}`);
}

const worst = (times: readonly number[]) => Math.max(...times).toFixed(0);

const faultsFigure = (tally: Tally, { users, seconds }: ClusterOptions): Figure => ({
  name: `lost writes, wrong answers and other faults with ${users} users in ${seconds} s`,
  value: tally.faults.length,
  limit: 0,
  unit: '',
  note: `${[...tally.times.values()].reduce((sum, { length }) => sum + length, 0)} requests answered`,
});
