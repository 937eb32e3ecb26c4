import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HttpError, NetworkError, type Rollout } from 'plugin-editor/client.js';
import { Rollouts, type RolloutsOptions } from '../../../editor/src/versions/rollouts.ts';

const rollout = (percent: number) => ({ version: 'v1.0.1', percent, startedAt: 'now' }) as Rollout;
const terms = { percent: 10 };

/** The rollout of a service that a test answers for. */
function setUp() {
  const loads: PromiseWithResolvers<Rollout>[] = [];
  const changes: PromiseWithResolvers<Rollout>[] = [];
  const next = (list: PromiseWithResolvers<Rollout>[]) => {
    const response = Promise.withResolvers<Rollout>();
    list.push(response);
    return response.promise;
  };
  const client = { getRollout: () => next(loads), setRollout: () => next(changes) };
  const { signal } = new AbortController();
  const options = { client, location: {}, signal, onChange: () => {} } as unknown as RolloutsOptions;
  return { rollouts: new Rollouts(options), loads, changes };
}

const lost = () => new NetworkError('PUT http://x/', new Error('gone'));

test('what starts a rollout says how it is, whatever other requests say', async () => {
  const { rollouts, loads, changes } = setUp();
  const before = rollouts.load();
  const start = rollouts.start('v1.0.1', terms);
  assert.equal(rollouts.changing, 'v1.0.1');
  void rollouts.start('v1.0.1', { percent: 20 });
  assert.equal(changes.length, 1);
  changes[0]?.resolve(rollout(10));
  await new Promise(setImmediate);
  assert.equal(rollouts.changing, 'v1.0.1');
  loads[0]?.resolve(rollout(5));
  loads[1]?.reject(lost());
  await Promise.all([before, start]);
  assert.equal(rollouts.changing, undefined);
  assert.equal(rollouts.running?.percent, 10);
});

test('of two responses the one to the later request holds, and any where the later request fails', async () => {
  const { rollouts, loads } = setUp();
  const pair = () => Promise.all([rollouts.load(), rollouts.load()]);
  const first = pair();
  loads[1]?.resolve(rollout(20));
  await new Promise(setImmediate);
  loads[0]?.resolve(rollout(10));
  await first;
  assert.equal(rollouts.running?.percent, 20);
  const second = pair();
  loads[3]?.reject(lost());
  await new Promise(setImmediate);
  loads[2]?.resolve(rollout(30));
  await second;
  assert.equal(rollouts.running?.percent, 30);
});

test('a rollout that ended while its new terms were chosen does not begin again', async () => {
  const { rollouts, changes, loads } = setUp();
  const change = async (found: Rollout, after: Rollout) => {
    const start = rollouts.start('v1.0.1', terms, rollout(5));
    loads.shift()?.resolve(found);
    await new Promise(setImmediate);
    changes.shift()?.resolve(after);
    await new Promise(setImmediate);
    loads.shift()?.resolve(after);
    await start;
    return [rollouts.error, rollouts.running?.percent];
  };
  const ended = { ...rollout(5), stopped: { at: 'later', reason: 'failures' } } as Rollout;
  assert.deepEqual(await change(ended, ended), ['conflict', undefined]);
  const other = { ...rollout(5), startedAt: 'later' };
  assert.deepEqual(await change(other, other), ['conflict', 5]);
  assert.deepEqual(await change(rollout(5), rollout(10)), [undefined, 10]);
  const start = rollouts.start('v1.0.1', terms, rollout(5));
  const gone = Object.assign(new HttpError('The service', 404), { code: 'rollout-not-found' });
  loads.shift()?.reject(gone);
  await new Promise(setImmediate);
  loads.shift()?.reject(gone);
  await start;
  assert.equal(rollouts.error, 'conflict');
});

test('an error of a change is forgotten once the rollout comes into view again', async () => {
  const { rollouts, changes, loads } = setUp();
  const end = rollouts.watch();
  const start = rollouts.start('v1.0.1', terms);
  changes[0]?.reject(lost());
  await new Promise(setImmediate);
  loads[1]?.reject(lost());
  await start;
  assert.equal(rollouts.error, 'couldNot');
  end();
  rollouts.watch()();
  assert.equal(rollouts.error, undefined);
});
