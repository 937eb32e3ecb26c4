import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { HttpError } from '../../../src/client.ts';
import { RunError } from '../../../src/server.ts';
import { Connection } from '../../support/connection.ts';
import { eventually } from '../../support/until.ts';
import { behaviours } from '../connections.ts';
import { program } from '../programs.ts';
import { random } from '../random.ts';
import type { Tally } from '../tally.ts';
import { User, WrongResponse } from '../user.ts';
import { EditorPage } from './editor.ts';
import { environment, plugins, recorded } from './world.ts';
import type { PluginPlace, World } from './world.ts';

/** One thing that is done again and again, as `turn` counts, with pauses of about `every` ms. */
interface Activity {
  readonly every: number;
  readonly act: (turn: number, chance: () => number) => Promise<void>;
}

/** All that goes on at once until `signal`. What fails without a reason is a fault. */
export async function doEverything(world: World, tally: Tally, editor: EditorPage, signal: AbortSignal) {
  const connection = new Connection(world.upstream.origin);
  /** The numbers of the changes that webhooks have to tell. */
  const acknowledged = new Set<number>();
  const run = (what: string, plugin: PluginPlace, input: string, expected: string) =>
    timed(tally, what, async () => {
      const output = await world.executions.run(plugin, input);
      assert.equal(output, expected, what);
    });
  const activities: Activity[] = [
    // What the machine takes for a request without any of the service.
    { every: 100, act: () => timed(tally, yardstick, () => connection.send('GET', '/good/0/x')) },
    ...Array.from({ length: 4 }, (_, i) => author(world, tally, i)),
    ...Array.from({ length: 4 }, () => ({
      every: 400,
      act: (turn: number) => run('run of "Hello"', plugins.hello, `${turn}`, `hello:${turn}`),
    })),
    ...Array.from({ length: 8 }, (_, i) => caller(world, tally, i)),
    { every: 1000, act: (turn) => run('run of Python', plugins.python, `${turn}`, `python:${turn}`) },
    { every: 20_000, act: () => fails(world, plugins.failing, ['plugin-error']) },
    { every: 45_000, act: () => fails(world, plugins.looping, ['time-limit']) },
    // Where the machine has much to do, its time is over first.
    { every: 45_000, act: () => fails(world, plugins.hungry, ['memory-limit', 'time-limit']) },
    { every: 20_000, act: (turn) => rollOut(world, tally, turn) },
    { every: 60_000, act: () => rollOutFailing(world) },
    { every: 60_000, act: () => replay(world, tally) },
    { every: 15_000, act: () => readRecords(world, tally) },
    {
      every: 2000,
      act: async (turn) => {
        const version = turn % 2 ? 'v1.0.1' : 'v1.0.0';
        await timed(tally, 'change of what is live', () =>
          world.environments.setLive(plugins.live, version, { actor: `${turn + 1}` }),
        );
        acknowledged.add(turn + 1);
      },
    },
    { every: 10_000, act: (turn) => editor.write(`editor-${turn}`, turn % 4 === 3) },
  ];
  await Promise.all(activities.map((activity, i) => goOn(activity, i, tally, signal)));
  connection.close();
  return acknowledged;
}

/** The name of the times that say how busy the machine is. */
export const yardstick = 'plain request';

async function goOn({ every, act }: Activity, seed: number, tally: Tally, signal: AbortSignal) {
  const chance = random(seed);
  const pause = (ms: number) => sleep(ms, undefined, { signal }).catch(() => {});
  await pause(every * chance());
  for (let turn = 0; !signal.aborted; turn++) {
    try {
      await act(turn, chance);
    } catch (error) {
      if (!(error instanceof WrongResponse)) tally.fault(describe(error));
    }
    await pause(every * (0.5 + chance()));
  }
}

function describe(error: unknown): string {
  const { message, stack = '' } = error as Error;
  const detail = error instanceof HttpError ? ` (${error.status} ${error.code ?? ''})` : '';
  const place = /everything\/\w+\.ts:\d+/.exec(stack)?.[0] ?? '';
  return `${message.slice(0, 400)}${detail} ${place}`;
}

async function timed(tally: Tally, what: string, work: () => Promise<unknown>): Promise<void> {
  const began = performance.now();
  await work();
  tally.time(what, performance.now() - began);
}

/** Saves, builds, tests, deploys and runs, by a token that is new each time. */
function author(world: World, tally: Tally, number: number): Activity {
  const { node, environmentToken } = world.service;
  const user = new User(`${environment}.author-${number}/default/plugin`, tally);
  return {
    every: 10_000,
    act: async (turn, chance) => {
      using connection = new Connection(node.origin);
      await user.signIn(connection, environmentToken);
      const lang = ['javascript', 'typescript', 'assemblyscript', 'python'][(turn + number) % 4] ?? '';
      const write = (part: string, isSound = true) =>
        program(lang, `${number}-${turn}-${part}`, chance() * 10_000, isSound);
      for (const part of ['a', 'b', 'c']) await user.save(write(part));
      if (chance() < 0.2) await user.build(write('broken', false), true);
      await user.build(write('built'), chance() < 0.5);
      await user.test('test');
      await user.deploy();
      await user.run('newest');
      await user.run('older', Math.floor(chance() * user.versions.length));
    },
  };
}

/** Calls what answers late, wrong or not at all. */
const caller = (world: World, tally: Tally, number: number): Activity => ({
  every: 300,
  act: async (turn, chance) => {
    // Every second call is answered as it should be.
    const [what, , expected] = behaviours[turn % 2 ? 0 : Math.floor(chance() * behaviours.length)] ?? [];
    const delay = Math.floor(chance() * 1000);
    const text = `run-${number * 1e6 + turn}`;
    const began = performance.now();
    const output = await world.executions.run(plugins.calls, `/${what}/${delay}/${text}`);
    if (what !== 'good') assert.match(output, expected ?? /^$/, `${what}: ${output.slice(0, 200)}`);
    else {
      assert.equal(output, text);
      tally.time('run with a call, its answer left out', performance.now() - began - delay);
    }
  },
});

/** A run that has to end with one of these errors. */
async function fails(world: World, plugin: PluginPlace, codes: readonly string[]): Promise<void> {
  const failure = await world.executions.run(plugin, 'x').then(
    (output) => `the output ${output}`,
    (error: unknown) => (error instanceof RunError ? error.code : String(error)),
  );
  assert.ok(codes.includes(failure), `${plugin.pluginName}: ${failure}`);
}

/** Half of the keys get the new version, each always the same one, and none afterwards. */
async function rollOut(world: World, tally: Tally, turn: number): Promise<void> {
  const { environments, executions } = world;
  await timed(tally, 'start of a rollout', () =>
    environments.setRollout(plugins.rollout, 'v1.0.1', { percent: 50 }),
  );
  const versions = new Set<string>();
  for (let i = 0; i < 20; i++) {
    const run = () => executions.runWithDetails(plugins.rollout, 'x', { rolloutKey: `${turn}-${i}` });
    const { output, version = '' } = await run();
    assert.equal(output, version === 'v1.0.1' ? 'new:x' : 'old:x');
    assert.equal((await run()).version, version, 'another version for the same key');
    versions.add(version);
  }
  assert.deepEqual([...versions].toSorted(), ['v1.0.0', 'v1.0.1']);
  await environments.endRollout(plugins.rollout);
  assert.equal(await executions.run(plugins.rollout, 'x', { rolloutKey: 'any' }), 'old:x');
}

/** A rollout of a version that always fails ends by itself. */
async function rollOutFailing({ environments, executions }: World): Promise<void> {
  const stop = { runs: 5, failures: 0.5 };
  await environments.setRollout(plugins.stopping, 'v1.0.1', { percent: 50, stop });
  for (let i = 0; i < 30; i++)
    await executions.run(plugins.stopping, 'x', { rolloutKey: `${i}` }).catch((error: unknown) => {
      if (!(error instanceof RunError) || error.code !== 'plugin-error') throw error;
    });
  await eventually(
    async () => (await environments.getRollout(plugins.stopping)).stopped !== undefined,
    (isStopped) => isStopped,
    'a rollout that ends by itself',
  );
  assert.equal(await executions.run(plugins.stopping, 'x'), 'old:x');
}

/** The recorded runs come to what they came to. */
async function replay({ environments }: World, tally: Tally): Promise<void> {
  await timed(tally, 'replay', async () => {
    const { replayed, same, skipped } = await environments.replay(plugins.hello, { limit: recorded });
    assert.deepEqual({ replayed, same, skipped }, { replayed: recorded, same: recorded, skipped: 0 });
  });
}

/** Of the newest runs, one is read whole. */
async function readRecords({ environments }: World, tally: Tally): Promise<void> {
  await timed(tally, 'list of runs', async () => {
    const { runs } = await environments.listRuns(plugins.hello, { limit: recorded });
    assert.equal(runs.length, recorded);
    const { input, output } = await environments.getRun(runs[10]?.uuid ?? '');
    assert.equal(output, `hello:${input}`);
  });
}
