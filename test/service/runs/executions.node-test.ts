import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { createLog } from '../../../service/src/operations/log.ts';
import type { ServiceOptions } from '../../../service/src/http/create-service.ts';
import { dayOf } from '../../../service/src/runs/usage-sum.ts';
import { timeOfUuid } from '../../../service/src/storage/tables/uuids.ts';
import { limitRuns } from '../harness.ts';
import { running, startPlugin } from '../plugin.ts';
import { recordedRuns } from './records.ts';
import { until } from '../../support/until.ts';
import { listUsage } from '../../../service/src/storage/tables/usage.ts';

const key = { environment: 'com.acme', tenant: 't1', namespace: 'default', pluginName: 'add-record' };

const code = running(`
  console.log('it got ' + input);
  if (input === 'fail') throw new Error('It failed on purpose.');
  for (; input === 'loop'; );
  return 'out ' + input;
`);

async function startRuns(t: TestContext, options: Partial<ServiceOptions> = {}) {
  const plugin = await startPlugin(t, 't1', undefined, options);
  assert.ok((await plugin.build(code)).succeeded);
  await plugin.deploy();
  const recorded = async (count: number) => {
    await until(`${count} runs are recorded`, async () => {
      return (await recordedRuns(plugin.storage, key)).length >= count;
    });
    return recordedRuns(plugin.storage, key);
  };
  return { ...plugin, recorded };
}

test('every execution that began, and nothing else, is recorded under the id of its request', async (t) => {
  const { run, test: testDraft, send, paths, vendor, recorded, storage, clock } = await startRuns(t);
  // A byte order mark is a character of the input like others.
  const good = await run('v1.0.0', '\ufeffa');
  assert.equal(good.body, 'out \ufeffa');
  await testDraft('tested');
  for (const refused of [
    run('v1.0.9', 'a'),
    run('v1.0.0', 'a', { 'content-type': 'image/png' }),
    run('v1.0.0', new Uint8Array([0xff])),
    run('v1.0.0', 'x'.repeat(2 ** 20 + 1)),
    send('POST', paths.newest, { 'content-type': 'text/plain' }, 'a'),
  ]) {
    assert.ok((await refused).status >= 400);
  }
  const bad = await run('newest', 'fail');
  const [newest, first, ...others] = await recorded(2);
  assert.deepEqual(others, []);
  assert.ok(newest && first);
  assert.equal(newest.id, bad.headers['x-request-id']);
  assert.equal(first.id, good.headers['x-suborbital-requestid']);
  assert.deepEqual([newest.code, first.code], ['plugin-error', undefined]);
  assert.deepEqual([first.version, first.inputBytes, first.outputBytes], ['v1.0.0', 4, 8]);
  assert.ok(first.took > 0);
  assert.equal(timeOfUuid(first.id), clock.now);
  assert.match(newest.details.message ?? '', /It failed on purpose/);
  assert.deepEqual(newest.details.logs, ['it got fail']);
  assert.equal(newest.details.input, undefined);
  const [usage] = await listUsage(
    storage.db,
    { environment: key.environment, days: [dayOf(clock.now)] },
    { limit: 10 },
  );
  assert.deepEqual([usage?.runs, usage?.failures, usage?.builds], [2, 1, 1]);
  assert.ok((usage?.microseconds ?? 0) > 0);
  assert.equal(typeof vendor.authorization, 'string');
});

test('a failed execution is answered with its logs, and its line in the log says why', async (t) => {
  const lines: string[] = [];
  const log = createLog('info', (line) => lines.push(line));
  const plugin = await startRuns(t, { log });
  const { run } = plugin;
  for (const [input, status, errorCode] of [
    ['fail', 422, 'plugin-error'],
    ['loop', 504, 'time-limit'],
  ] as const) {
    // Enough for a busy machine to get to the loop.
    if (input === 'loop') await limitRuns(plugin, 5000);
    const response = await run('v1.0.0', input);
    assert.equal(response.status, status);
    const body = JSON.parse(response.body) as { error: { code: string }; logs: string[] };
    assert.deepEqual(Object.keys(body), ['error', 'logs']);
    assert.equal(body.error.code, errorCode);
    assert.deepEqual(body.logs, [`it got ${input}`]);
    const id = response.headers['x-request-id'];
    const parsed = () => lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    const isLine = (line: Record<string, unknown>) => line['requestId'] === id && line['msg'] === 'request';
    await until('the line is there', () => parsed().some(isLine));
    const line = parsed().find(isLine);
    assert.equal(line?.['runError'], errorCode);
    assert.ok(!JSON.stringify(line).includes('on purpose'));
  }
  const good = await run('v1.0.0', 'a');
  assert.equal(good.body, 'out a');
});

test('a failed execution without logs is answered with the error alone', async (t) => {
  const { build, deploy, run } = await startRuns(t);
  assert.ok((await build(running('throw new Error("no logs")'))).succeeded);
  const version = await deploy();
  assert.deepEqual(Object.keys(JSON.parse((await run(version)).body) as object), ['error']);
});

test('records hold payloads only at the level that asks for them, and outcomes alone at the lowest', async (t) => {
  for (const level of ['payloads', 'outcome'] as const) {
    await t.test(level, async (one) => {
      const { run, recorded } = await startRuns(one, { recording: { level } });
      await run('v1.0.0', 'fail');
      await run('v1.0.0', 'é');
      const [good, bad] = await recorded(2);
      const isFull = level === 'payloads';
      assert.deepEqual(good?.details, isFull ? { logs: ['it got é'], input: 'é', output: 'out é' } : {});
      assert.equal(bad?.code, 'plugin-error');
      assert.equal(bad?.details.input, isFull ? 'fail' : undefined);
      assert.equal(bad?.details.message !== undefined, isFull);
    });
  }
});
