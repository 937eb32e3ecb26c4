import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { sql } from 'kysely';
import { parseDatabaseUrl } from '../../service/src/storage/database-url.ts';
import { BuilderClient } from '../../src/client.ts';
import { EnvironmentClient, ExecutionClient, NetworkError } from '../../src/server.ts';
import { openEngine } from '../../service/src/storage/storage.ts';
import { createDatabase } from '../postgres/databases.ts';
import { Connection } from '../support/connection.ts';
import { program } from '../soak/programs.ts';
import { Tally } from '../soak/tally.ts';
import { User } from '../soak/user.ts';
import { createEnvironmentToken, NodeProcess } from '../support/node-process.ts';
import type { Release } from '../support/node-process.ts';
import { until } from '../support/until.ts';

const lost = 'connections lost';
const loops = 'times from saving to running';

/** A user who works at whichever node takes the connection. */
async function work(
  user: User,
  nodes: readonly NodeProcess[],
  { environmentToken, tally, signal }: { environmentToken: string; tally: Tally; signal: AbortSignal },
): Promise<void> {
  let connection: Connection | undefined;
  let mark = 0;
  for (let turn = 0; !signal.aborted; turn++) {
    try {
      if (!connection) {
        connection = new Connection(nodes[turn % nodes.length]?.origin ?? '');
        await user.signIn(connection, environmentToken);
        // All that was acknowledged is there at this node, and what was being written is there whole or not at all.
        await user.verify();
      }
      const written = program('javascript', `${user.path}-${mark++}`, 200);
      await user.save(written);
      await user.build(written, mark % 2 === 0);
      await user.test('t');
      await user.deploy();
      await user.run('r');
      await user.run('r', user.versions.length - 1);
      tally.count(loops);
      // Otherwise the load takes all of the processor while nodes drain and start.
      await wait(200);
    } catch (error) {
      connection?.close();
      connection = undefined;
      // A response that was wrong is in the tally; all else must be a connection that was refused or broken.
      const { code = '' } = error as NodeJS.ErrnoException;
      if (['ECONNREFUSED', 'ECONNRESET', 'EPIPE'].includes(code)) tally.count(lost);
      else tally.fault(`${user.path}: ${String(error)}`);
      await wait(20);
    }
  }
  connection?.close();
}

const rolledOut = { identifier: 'com.acme.rollout', pluginName: 'plugin' };

/** Deploys two versions of a plugin, the second to half of its runs. */
async function startRollout(origin: string, environmentToken: string): Promise<void> {
  const service = new EnvironmentClient({ builderUrl: origin, environmentToken, timeout: 60_000 });
  const { token } = await service.createSession(rolledOut, { scope: 'plugin', fn: rolledOut.pluginName });
  const builder = new BuilderClient({ baseUrl: origin, token, timeout: 60_000 });
  const location = { environment: 'com.acme', userID: 'rollout', pluginName: rolledOut.pluginName };
  for (const output of ['one', 'two']) {
    await builder.build({ ...location, language: 'javascript' }, `export const run = () => '${output}';`);
    const isSecond = output === 'two';
    await builder.deploy(location, isSecond ? { rollout: { percent: 50 } } : {});
  }
}

/** Runs that plugin for the same few customers at one node after the other. Resolves with how many runs were answered. */
async function runRolledOut(
  nodes: readonly NodeProcess[],
  { environmentToken, tally, signal }: { environmentToken: string; tally: Tally; signal: AbortSignal },
): Promise<number> {
  const versions = new Map<string, string | undefined>();
  let answered = 0;
  for (let i = 0; !signal.aborted; i++) {
    const rolloutKey = `customer-${i % 7}`;
    const executionUrl = `${nodes[i % nodes.length]?.origin}/exec`;
    try {
      const execution = new ExecutionClient({ executionUrl, environmentToken });
      const { version } = await execution.runWithDetails(rolledOut, '', { rolloutKey });
      answered += 1;
      if (versions.has(rolloutKey) && versions.get(rolloutKey) !== version)
        tally.fault(`${rolloutKey} got ${version} after ${versions.get(rolloutKey)}`);
      versions.set(rolloutKey, version);
    } catch (error) {
      if (!(error instanceof NetworkError)) tally.fault(`a run of the rollout: ${String(error)}`);
    }
    await wait(100);
  }
  return answered;
}

test('two nodes are upgraded and downgraded one by one, while users save, build, deploy and run', async (t) => {
  const database = await createDatabase(process.env['TEST_DATABASE_TEMPLATE']);
  t.after(() => database.drop());
  const environmentToken = await createEnvironmentToken(database.url);
  const node = () => new NodeProcess(database.url, { DRAIN_SECONDS: '1' });
  const nodes = [node(), node()] as const;
  const engine = await openEngine(parseDatabaseUrl(database.url));
  const isMigrated = async () => {
    const { rows } = await sql`select 1 from schema_migrations where name = '9999-next-release'`.execute(
      engine.db,
    );
    return rows.length === 1;
  };
  const tally = new Tally();
  const ending = new AbortController();
  const users = Array.from({ length: 2 }, (_, i) => new User(`com.acme.t${i}/default/plugin-${i}`, tally));
  let working: Promise<void>[] = [];
  try {
    await Promise.all(nodes.map((one) => one.start()));
    await startRollout(nodes[0].origin, environmentToken);
    const ranOut = runRolledOut(nodes, { environmentToken, tally, signal: ending.signal });
    working = users.map((user, i) =>
      work(user, i % 2 ? nodes : nodes.toReversed(), { environmentToken, tally, signal: ending.signal }),
    );
    /** Until everybody has gone round at the nodes as they are now. */
    const untilAllDeployedAgain = async () => {
      const before = users.map(({ versions }) => versions.length);
      await until('two more versions of each user', () =>
        users.every(({ versions }, i) => versions.length >= (before[i] ?? 0) + 2),
      );
    };
    const restartAs = async (one: NodeProcess, release: Release) => {
      assert.equal(await one.end('SIGTERM'), 0);
      await one.start(release);
      await untilAllDeployedAgain();
    };

    await untilAllDeployedAgain();
    assert.equal(await isMigrated(), false);
    for (const one of nodes) await restartAs(one, 'next');
    assert.equal(await isMigrated(), true);
    // The schema stays as it is, and the release before goes on with it.
    for (const one of nodes) await restartAs(one, 'this');
    assert.equal(await isMigrated(), true);
    ending.abort();
    await Promise.all(working);

    for (const { origin } of nodes) {
      for (const user of users) {
        const connection = new Connection(origin);
        await user.signIn(connection, environmentToken);
        await user.verify();
        connection.close();
      }
    }
    // The rollout goes on as it was, and no run of it was lost, whichever node and release had counted it.
    const ran = await ranOut;
    for (const { origin } of nodes) {
      const service = new EnvironmentClient({ builderUrl: origin, environmentToken });
      const find = () => service.getRollout(rolledOut);
      await until('all runs of the rollout', async () => {
        const { runs, live } = await find();
        return runs + live.runs >= ran;
      });
      const { version, percent, stopped, live } = await find();
      assert.deepEqual([version, percent, stopped, live.version], ['v1.0.1', 50, undefined, 'v1.0.0']);
    }
    assert.deepEqual(tally.faults, []);
    assert.ok(tally.of(loops) >= users.length * 5);
    // Each of the four moves ended connections, or the load was not there.
    assert.ok(tally.of(lost) > 0);
    t.diagnostic(`${tally.of(loops)} ${loops}, ${tally.of(lost)} ${lost}`);
  } finally {
    ending.abort();
    await Promise.allSettled(working);
    for (const one of nodes) await one[Symbol.asyncDispose]();
    await engine.close();
  }
});
