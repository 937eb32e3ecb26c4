import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { HttpError, NetworkError } from 'plugin-editor/client.js';
import type { PluginSession } from '../../../editor/src/workspace/plugin-session.ts';
import { ServiceState } from '../../../editor/src/workspace/service-state.ts';

beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
afterEach(() => mock.timers.reset());

/** The state of a service whose responses a test sends, in any order. */
function setUp() {
  const plugins: ((live: string) => void)[] = [];
  const progress: ((version: string | undefined) => void)[] = [];
  const session = {
    client: {
      getPlugin: () =>
        new Promise((resolve) =>
          plugins.push((live) =>
            resolve({ draft: { revision: '"1"' }, live, latest: 'v1.0.2', pinned: { version: live } }),
          ),
        ),
      getProgress: () =>
        new Promise((resolve, reject) =>
          progress.push((version) => {
            if (version === undefined) reject(new Error('No response'));
            else resolve({ built: true, deployed: { version, current: true } });
          }),
        ),
    },
    screen: { draw: () => {} },
    store: { etag: '"1"' },
    signal: new AbortController().signal,
  } as unknown as PluginSession;
  const source = { lang: 'x', contents: 'one' };
  return { state: new ServiceState(session, { isUnsaved: false, source }), plugins, progress };
}

test('a late response does not replace what this page made live', async () => {
  const { state, plugins } = setUp();
  const load = state.loadLive();
  state.setLive('v1.0.0', true);
  plugins[0]?.('v1.0.1');
  assert.equal(await load, '"1"');
  assert.deepEqual([state.live, state.isPinned, state.hasVersions], ['v1.0.0', true, true]);
  const next = state.loadLive();
  plugins[1]?.('v1.0.2');
  await next;
  assert.equal(state.live, 'v1.0.2');
});

test('of two requests the response to the later one holds, whichever comes last', async () => {
  const { state, plugins, progress } = setUp();
  const reported: string[] = [];
  state.on('progress', ({ progress: { deployed } }) => reported.push(deployed?.version ?? ''));
  const loads = [state.loadProgress(), state.loadProgress()];
  progress[1]?.('v1.0.2');
  await new Promise(setImmediate);
  plugins[0]?.('v1.0.2');
  progress[0]?.('v1.0.1');
  await new Promise(setImmediate);
  plugins[1]?.('v1.0.2');
  await Promise.all(loads);
  assert.deepEqual(reported, ['v1.0.2']);
});

test('a request that fails does not drop the response to an earlier one', async () => {
  const { state, plugins, progress } = setUp();
  const reported: string[] = [];
  state.on('progress', ({ progress: { deployed } }) => reported.push(deployed?.version ?? ''));
  const loads = [state.loadProgress(), state.loadProgress()];
  progress[1]?.(undefined);
  progress[0]?.('v1.0.1');
  await new Promise(setImmediate);
  for (const respond of plugins) respond('v1.0.1');
  await Promise.all(loads);
  assert.deepEqual(reported, ['v1.0.1']);
});

/** The state of a service that responds where `fail` returns nothing. */
function setUpFailing(fail: (to: string) => Error | undefined) {
  const asked: string[] = [];
  const respond = async (to: string, response: object) => {
    asked.push(to);
    const failure = fail(to);
    if (failure) throw failure;
    return response;
  };
  const session = {
    client: {
      getFeatures: () => respond('features', { features: ['testing'] }),
      getPlugin: () => respond('plugin', { live: 'v1.0.0' }),
      getProgress: () => respond('progress', { built: true }),
    },
    screen: { draw: () => {} },
    store: {},
    signal: new AbortController().signal,
  } as unknown as PluginSession;
  const source = { lang: 'x', contents: 'one' };
  return { state: new ServiceState(session, { isUnsaved: false, source }), asked };
}

/** All responses that have come have been read. */
async function settled() {
  for (let i = 0; i < 3; i++) await new Promise(setImmediate);
}

const statusOf = (status: number) => new HttpError('The service', status);

for (const failure of [
  statusOf(500),
  statusOf(503),
  statusOf(429),
  new Error('Not what the interface says'),
]) {
  test(`what the service did not say is asked for again: ${String(failure)}`, async () => {
    const failures = [failure, failure];
    const { state, asked } = setUpFailing(() => failures.shift());
    await state.loadFeatures();
    await state.loadLive();
    assert.deepEqual([state.hasFeatures, state.hasVersions, state.isOnline], [false, false, true]);
    mock.timers.tick(3000);
    await settled();
    assert.deepEqual(asked.slice(2), ['features', 'progress', 'plugin']);
    assert.deepEqual([state.canTest, state.live], [true, 'v1.0.0']);
    mock.timers.tick(60_000);
    assert.equal(asked.length, 5);
  });
}

test('what the service refuses is not asked for again', async () => {
  const failures = [statusOf(403), statusOf(404)];
  const { state, asked } = setUpFailing(() => failures.shift());
  await state.loadFeatures();
  await state.loadLive();
  mock.timers.tick(60_000);
  assert.equal(asked.length, 2);
});

for (const failure of [statusOf(500), new NetworkError('The service', new Error())]) {
  test(`one thing that is never said is asked for less and less often: ${String(failure)}`, async () => {
    const { state, asked } = setUpFailing((to) => (to === 'progress' ? failure : undefined));
    await state.reload();
    for (let second = 0; second < 60; second++) {
      mock.timers.tick(1000);
      await settled();
    }
    // After 3, 6, 9, 12 and 15 s more.
    assert.equal(asked.filter((to) => to === 'progress').length, 6);
  });
}

const lostSave = { kind: 'failed', failure: 'connection' } as const;

test('a save that is lost while the service answers is no lost connection', async () => {
  const { state } = setUpFailing(() => undefined);
  let times = 0;
  state.on('online', () => times++);
  state.handleSave(lostSave);
  await settled();
  mock.timers.tick(60_000);
  await settled();
  assert.deepEqual([state.isOnline, times], [true, 0]);
});

test('a save that is lost with the connection has the service asked until it answers', async () => {
  let failure: Error | undefined = new NetworkError('The service', new Error());
  const { state } = setUpFailing(() => failure);
  let times = 0;
  state.on('online', () => times++);
  state.handleSave(lostSave);
  await settled();
  assert.equal(state.isOnline, false);
  failure = undefined;
  mock.timers.tick(3000);
  await settled();
  assert.deepEqual([state.isOnline, times], [true, 1]);
});
