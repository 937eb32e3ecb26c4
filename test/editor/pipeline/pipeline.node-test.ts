import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Pipeline, type PipelineOptions, type Run } from '../../../editor/src/pipeline/pipeline.ts';
import { sourceKeyOf } from '../../../editor/src/plugin/source.ts';
import type { Deployed } from '../../../editor/src/service/records.ts';
import { HttpError, NetworkError } from 'plugin-editor/client.js';

const http = (status: number, retryAfter?: number) => new HttpError('POST http://x/', status, retryAfter);
const lost = () => new NetworkError('POST http://x/', new Error('gone'));

/** A pipeline whose service answers as a test says, and a diary of what it did. */
function setUp(more: Partial<PipelineOptions> = {}) {
  const diary: string[] = [];
  const page = { text: 'one', saves: true };
  const responses = {
    build: async () => ({ result: { succeeded: true, outputLog: '' }, etag: '"2"' as string | undefined }),
    test: async (payload: string) => ({ result: payload.toUpperCase(), logs: [] as string[] }),
    deploy: async (): Promise<Deployed> => ({ version: 'v1.0.0' }),
  };
  const pipeline = new Pipeline({
    service: {
      build: ({ contents, etag }) => {
        diary.push(`build ${contents} ${etag}`);
        return responses.build();
      },
      test: (payload) => {
        diary.push(`test ${payload}`);
        return responses.test(payload);
      },
      deploy: () => {
        diary.push('deploy');
        return responses.deploy();
      },
    },
    store: {
      etag: '"1"',
      addUnconfirmed: () => diary.push('addUnconfirmed'),
      confirm: (etag) => diary.push(`is ${etag}`),
    },
    queue: {
      saveNow: async () => {
        diary.push('save');
        return page.saves;
      },
      holdDuring: (work) => work(),
      invalidateBase: () => diary.push('invalidateBase'),
    },
    read: () => ({ lang: 'x', contents: page.text }),
    isNew: false,
    canStream: () => false,
    onChange: () => {},
    onLog: () => {},
    onBuildStart: () => {},
    onBuild: () => {},
    onDeploy: ({ version, unchanged }) => diary.push(`deployed ${version}${unchanged ? ', unchanged' : ''}`),
    onObstacle: (action, obstacle) => diary.push(`${action}: ${obstacle}`),
    onBusy: (action, wait) => diary.push(`${action} busy ${wait}`),
    ...more,
  });
  return { pipeline, diary, page, responses };
}

const keyOf = (contents: string) => sourceKeyOf({ lang: 'x', contents });

test('a build saves first, names the draft that it replaces, and then counts for that text', async () => {
  const { pipeline, diary, page } = setUp();
  assert.equal(await pipeline.runBuild(), true);
  assert.deepEqual(diary, ['save', 'addUnconfirmed', 'build one "1"', 'is "2"']);
  assert.equal(pipeline.build.kind === 'built' && pipeline.build.sourceKey, keyOf('one'));
  page.text = 'two';
  assert.equal(pipeline.build.kind === 'built' && pipeline.build.sourceKey, keyOf('one'));
});

test('a text that cannot be saved is not built', async () => {
  const { pipeline, diary, page } = setUp();
  page.saves = false;
  assert.equal(await pipeline.runBuild(), false);
  assert.deepEqual(diary, ['save', 'build: not-saved']);
  assert.deepEqual(pipeline.build, { kind: 'unfinished', obstacle: 'not-saved' });
});

test('deploying and running build only what is not built', async () => {
  const { pipeline, diary, page } = setUp();
  const runs: Run[] = [];
  assert.equal(await pipeline.runTests(['a', 'b'], (_, run) => runs.push(run)), true);
  assert.equal(await pipeline.runDeploy(), true);
  assert.deepEqual(
    diary.filter((one) => /^(build|test|deploy)/.test(one)),
    ['build one "1"', 'test a', 'test b', 'deploy', 'deployed v1.0.0'],
  );
  assert.deepEqual(
    runs.map(({ payload, outcome, sourceKey }) => [payload, outcome, sourceKey]),
    [
      ['a', { result: 'A', logs: [] }, keyOf('one')],
      ['b', { result: 'B', logs: [] }, keyOf('one')],
    ],
  );
  assert.deepEqual(pipeline.deployment, { kind: 'deployed', sourceKey: keyOf('one'), version: 'v1.0.0' });
  page.text = 'two';
  diary.length = 0;
  await pipeline.runDeploy();
  assert.ok(diary.includes('build two "1"'));
});

test('a text that does not build is neither run nor deployed', async () => {
  const { pipeline, diary, responses } = setUp();
  const diagnostics = [
    { line: 1, column: 1, message: 'no', severity: 'error' },
    { line: 1, column: 1, message: 'hm', severity: 'warning' },
  ];
  responses.build = async () => ({
    result: { succeeded: false, outputLog: '', diagnostics },
    etag: undefined,
  });
  assert.equal(await pipeline.runDeploy(), false);
  assert.equal(await pipeline.runTests(['a'], () => {}), false);
  assert.equal(
    diary.some((one) => /^(test|deploy)/.test(one)),
    false,
  );
  assert.deepEqual(pipeline.build, { kind: 'failed', sourceKey: keyOf('one'), errors: 1 });
});

test('only one action runs at a time', async () => {
  const { pipeline, diary, responses } = setUp();
  let end: (() => void) | undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));
  const { build } = responses;
  responses.build = () => ended.then(build);
  const first = pipeline.runBuild();
  assert.equal(pipeline.action, 'build');
  assert.equal(await pipeline.runDeploy(), false);
  end?.();
  assert.equal(await first, true);
  assert.equal(pipeline.action, undefined);
  assert.equal(diary.filter((one) => one.startsWith('build')).length, 1);
});

test('a draft that was saved since the build is built again, once', async () => {
  const { pipeline, diary, responses } = setUp();
  let refusals = 1;
  const { test: run } = responses;
  responses.test = async (payload) => {
    if (refusals-- > 0) throw http(409);
    return run(payload);
  };
  assert.equal(await pipeline.runTests(['a'], () => {}), true);
  assert.equal(diary.filter((one) => one.startsWith('build one')).length, 2);
  refusals = 9;
  assert.equal(await pipeline.runTests(['a'], () => {}), false);
  assert.equal(diary.at(-1), 'test: refused');
});

test('a request to a busy service is repeated after the time that it names', async () => {
  const { pipeline, diary, responses } = setUp();
  let refusals = 2;
  const { deploy } = responses;
  responses.deploy = async () => {
    if (refusals-- > 0) throw http(503, 5);
    return deploy();
  };
  assert.equal(await pipeline.runDeploy(), true);
  assert.equal(diary.filter((one) => one === 'deploy busy 5').length, 2);
});

test('saving detects that somebody else saved in between', async () => {
  const { pipeline, diary, responses } = setUp();
  responses.build = async () => Promise.reject(http(412));
  assert.equal(await pipeline.runBuild(), false);
  assert.deepEqual(diary.slice(-2), ['invalidateBase', 'build: conflict']);
});

test('a deployment without a response may have happened; one that was refused has not', async () => {
  const { pipeline, responses } = setUp();
  responses.deploy = async () => Promise.reject(lost());
  await pipeline.runDeploy();
  assert.deepEqual(pipeline.deployment, { kind: 'unfinished', obstacle: 'connection' });
  responses.deploy = async () => ({ version: 'v1.0.1' });
  await pipeline.runDeploy();
  responses.deploy = async () => Promise.reject(http(401));
  await pipeline.runDeploy();
  assert.deepEqual(pipeline.deployment, { kind: 'deployed', sourceKey: keyOf('one'), version: 'v1.0.1' });
});

test('a deployment that changed nothing is reported as such, with the existing version', async () => {
  const { pipeline, diary, responses } = setUp();
  responses.deploy = async () => ({ version: 'v1.0.3', unchanged: true });
  await pipeline.runDeploy();
  assert.equal(diary.at(-1), 'deployed v1.0.3, unchanged');
  assert.deepEqual(pipeline.deployment, { kind: 'deployed', sourceKey: keyOf('one'), version: 'v1.0.3' });
});

test('stopping ends the wait, and is reported', async () => {
  const { pipeline, diary, responses } = setUp();
  responses.deploy = async () => Promise.reject(http(503, 25_000));
  const deploying = pipeline.runDeploy();
  while (!diary.includes('deploy busy 25000')) await new Promise(setImmediate);
  pipeline.stop();
  assert.equal(await deploying, false);
  assert.equal(diary.at(-1), 'deploy: stopped');
  assert.deepEqual(pipeline.deployment, { kind: 'unfinished', obstacle: 'stopped' });
});

test("the builder's report on earlier builds and deployments is taken over when the page opens", () => {
  const { pipeline, page } = setUp();
  pipeline.applyProgress(
    { built: true, deployed: { version: 'v1.0.7', current: true } },
    { lang: 'x', contents: page.text },
  );
  assert.deepEqual(pipeline.build, { kind: 'built', sourceKey: keyOf('one') });
  assert.deepEqual(pipeline.deployment, { kind: 'deployed', version: 'v1.0.7', sourceKey: keyOf('one') });
  // Another page deployed since; what is being edited here is not what the builder has.
  pipeline.applyProgress({ built: true, deployed: { version: 'v1.0.8', current: true } }, undefined);
  assert.deepEqual(pipeline.deployment, { kind: 'deployed', version: 'v1.0.8' });
});
