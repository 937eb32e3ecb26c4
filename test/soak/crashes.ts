import { setTimeout } from 'node:timers/promises';
import type { Figure } from '../bench/figures.ts';
import type { EngineName } from '../service/storage/databases.ts';
import { createDurableDatabase } from '../service/storage/durable-database.ts';
import { Connection } from '../support/connection.ts';
import { databaseFaults } from './database.ts';
import type { SeenVersions } from './database.ts';
import { program } from './programs.ts';
import { random } from './random.ts';
import { KilledService } from './service.ts';
import { SharedPlugin } from './shared-plugin.ts';
import { Tally } from './tally.ts';
import { UNANSWERED, User, WrongResponse } from './user.ts';

/** Users with separate plugins, and clients that deploy one and the same plugin. */
const USERS = 6;
const DEPLOYERS = 3;

/** The latest moment of a kill, in ms after every client had its first answer. */
const LATEST = 400;

/**
 * The service and its database, killed in every round at a random moment of many clients' saves, builds and deploys, and
 * started again on the same data. A write that was not acknowledged may be there or not, but whole.
 */
export async function measureCrashes(
  engine: EngineName,
  rounds = 100,
  seed = Date.now() % 2 ** 32,
): Promise<Figure[]> {
  const tally = new Tally();
  const chance = random(seed);
  const users = Array.from(
    { length: USERS },
    (_, i) => new User(`com.acme.tenant-${i}/default/plugin`, tally),
  );
  const shared = new SharedPlugin('com.acme.shared/default/plugin', DEPLOYERS, tally);
  const seen: SeenVersions = new Map();
  const database = await createDurableDatabase(engine);
  const service = await KilledService.start(database);
  try {
    for (let round = 0; round <= rounds; round++) {
      const connections: Connection[] = [];
      const connect = () => {
        const connection = new Connection(service.node.origin);
        connections.push(connection);
        return connection;
      };
      // What the round before left, which the last turn only looks at.
      await Promise.all([
        ...users.map(async (user) => {
          await user.signIn(connect(), service.environmentToken);
          await user.verify();
        }),
        shared.signIn(connect, service.environmentToken),
      ]);
      for (const fault of await databaseFaults(database.address, seen))
        tally.fault(`round ${round}: ${fault}`);
      if (round < rounds) {
        const clients = [
          ...users.map((user, i) => writing(user, `r${round}u${i}`, chance)),
          ...shared.deploys(),
        ].map((step) => untilKilled(service, tally, step));
        await Promise.all(clients.map(({ started }) => started));
        await setTimeout(chance() * LATEST);
        await service.kill();
        const cut = await Promise.all(clients.map(({ ended }) => ended));
        if (cut.includes(true)) tally.count('rounds that cut a write off');
        await service.restart();
      }
      for (const connection of connections) connection.close();
    }
    return figures(tally, engine, rounds, seed);
  } finally {
    await service[Symbol.asyncDispose]();
    await database.remove();
  }
}

/**
 * Takes steps until the service is killed; losing the connection is a fault before that. `started`: its first step is
 * done. `ended`: whether a step was cut off.
 */
function untilKilled(service: KilledService, tally: Tally, step: () => Promise<void>) {
  const { promise: started, resolve } = Promise.withResolvers<void>();
  const go = async (): Promise<boolean> => {
    while (!service.isKilled) {
      try {
        await step();
      } catch (error) {
        if (error instanceof WrongResponse) continue;
        if (!service.isKilled) tally.fault(`before the service was killed: ${String(error)}`);
        return service.isKilled;
      } finally {
        resolve();
      }
    }
    return false;
  };
  return { started, ended: go() };
}

/** The next thing that a user does, drawn anew each time; most are writes. */
function writing(user: User, mark: string, chance: () => number): () => Promise<void> {
  let count = 0;
  return async () => {
    const lang = chance() < 0.8 ? 'javascript' : 'typescript';
    const drawn = chance();
    const written = program(lang, `${mark}n${count++}`, chance() * 4000, drawn > 0.1);
    const canDeploy = user.built && user.draft?.contents === user.built.contents;
    if (drawn <= 0.1) return user.build(written, true);
    if (drawn < 0.4) return user.save(written);
    if (drawn < 0.7 || !canDeploy) return user.build(written, drawn < 0.5);
    return user.deploy();
  };
}

function figures(tally: Tally, engine: EngineName, rounds: number, seed: number): Figure[] {
  const done = (what: string) => tally.times.get(what)?.length ?? 0;
  const builds = done('build javascript') + done('build typescript');
  return [
    {
      name: `${engine}: faults in ${rounds} rounds of kill -9`,
      value: tally.faults.length,
      limit: 0,
      unit: '',
      note:
        `acknowledged: ${done('save')} saves, ${builds} builds, ${done('deploy')} deploys; after a restart, ` +
        `${tally.of(UNANSWERED)} that were cut off were there as well; seed ${seed}`,
    },
    {
      name: `${engine}: rounds that cut no write off`,
      value: rounds - tally.of('rounds that cut a write off'),
      limit: 0,
      unit: '',
    },
  ];
}
