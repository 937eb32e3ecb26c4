import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RolloutCounter } from '../../../service/src/runs/rollout-counter.ts';
import { StorageUnavailableError } from '../../../service/src/storage/errors.ts';
import type { Storage } from '../../../service/src/storage/storage.ts';
import { pinVersion } from '../../../service/src/storage/tables/plugins.ts';
import { findRollout, setRollout } from '../../../service/src/storage/tables/rollouts.ts';
import { findVersion } from '../../../service/src/storage/tables/versions.ts';
import { until } from '../../support/until.ts';
import { cleanUpFirst, engineUnderTest, freshStorage } from '../storage/databases.ts';
import { build, deploy, otherPlugin, plugin } from '../storage/plugins.ts';

/** Starts a rollout of each plugin that ends with its first failure. Resolves with their numbers. */
async function startRollouts(storage: Storage, plugins: readonly (typeof plugin)[]): Promise<number[]> {
  const plan = { version: 'v1.0.1', percent: 50, stop: { runs: 1, failures: 0.5 } };
  const pluginIds: number[] = [];
  for (const one of plugins) {
    for (const text of ['a', 'b']) {
      await build(storage, text, one);
      await deploy(storage, text, one);
    }
    const { pluginId } = (await findVersion(storage.db, one, 'v1.0.1')) ?? assert.fail();
    pluginIds.push(pluginId);
    await storage.transaction(async (db) => {
      await pinVersion(db, one, 'v1.0.0', { now: 0 });
      assert.equal(await setRollout(db, one, plan, { now: 0 }), 'started');
    });
  }
  return pluginIds;
}

/** Counts a failure of each candidate, and a success of what is live. */
function countFailures(counter: RolloutCounter, pluginIds: readonly number[]): void {
  for (const pluginId of pluginIds) {
    for (const isCandidate of [true, false])
      counter.count({ pluginId, number: 1, isCandidate, runs: 1, failures: isCandidate ? 1 : 0 });
  }
}

test('a plugin that cannot be locked delays no rollout of others, and its own ends once it can be', async (t) => {
  const storage = await freshStorage(t, engineUnderTest());
  const pluginIds = await startRollouts(storage, [plugin, otherPlugin]);
  const hasEnded = async (one: typeof plugin) => !!(await findRollout(storage.db, one))?.stopped;
  const counter = new RolloutCounter(storage, {
    now: () => 1,
    interval: 20,
    onError: (error) => assert.fail(String(error)),
  });
  cleanUpFirst(t, () => counter.close());
  const transaction = t.mock.method(storage, 'transaction');
  transaction.mock.mockImplementationOnce(async () => {
    await until('the end of the other', async () => (await hasEnded(plugin)) || hasEnded(otherPlugin));
    throw new StorageUnavailableError(new Error('a lock was not free'));
  });
  countFailures(counter, pluginIds);
  await until('the ends of both', async () => (await hasEnded(plugin)) && hasEnded(otherPlugin));
});

test('four rollouts at most are ended at once', async (t) => {
  const storage = await freshStorage(t, engineUnderTest());
  const plugins = Array.from({ length: 6 }, (_, i) => ({ ...plugin, pluginName: `x${i}` }));
  const pluginIds = await startRollouts(storage, plugins);
  const counter = new RolloutCounter(storage, { now: () => 1, interval: 20 });
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  cleanUpFirst(t, () => {
    release();
    return counter.close();
  });
  const transaction = t.mock.method(storage, 'transaction', () => released);
  countFailures(counter, pluginIds);
  await until('four to be ended', () => transaction.mock.callCount() >= 4);
  // In the time that a further one would take to begin.
  for (const one of plugins) assert.ok(!(await findRollout(storage.db, one))?.stopped);
  assert.equal(transaction.mock.callCount(), 4);
  release();
  await until('the others to be ended', () => transaction.mock.callCount() === 6);
});
