import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Pipeline, type Run } from '../../../editor/src/pipeline/pipeline.ts';
import { sourceKeyOf } from '../../../editor/src/plugin/source.ts';
import { type Build, type Deployment, HttpError, NetworkError } from 'plugin-editor/client.js';

const http = (status: number) => new HttpError('POST http://x/', status);
const lost = () => new NetworkError('POST http://x/', new Error('gone'));

/** A pipeline whose service answers as a test says, and a diary of what it did. */
function setUp() {
  const diary: string[] = [];
  /** What was done while no save could be sent. */
  const held: string[][] = [];
  const page = { text: 'one', saves: true };
  let saved = 'one';
  const responses = {
    save: async () => {},
    build: async () => ({ succeeded: true, outputLog: '', etag: '"2"' }) as Build,
    test: async (payload: string) => ({ result: payload.toUpperCase() }),
    deploy: async (_onBusy?: (wait: number) => void): Promise<Deployment> => ({ version: 'v1.0.0' }),
  };
  const pipeline = new Pipeline({
    client: {
      build: (_, contents, options) => {
        diary.push(`build ${contents} ${options?.etag}`);
        return responses.build();
      },
      test: (_, payload, options) => {
        const calls = options?.calls;
        diary.push(calls ? `test ${payload} ${JSON.stringify(calls)}` : `test ${payload}`);
        return responses.test(payload);
      },
      deploy: async (_, options) => {
        diary.push('deploy');
        const stopped = new Promise<never>((_resolve, reject) =>
          options?.signal?.addEventListener('abort', () => reject(new Error('stopped'))),
        );
        return Promise.race([responses.deploy(options?.onBusy), stopped]);
      },
    },
    location: { environment: 'com.acme', userID: 't1', pluginName: 'add' },
    features: { canStream: false },
    draft: {
      get source() {
        return { lang: 'x', contents: page.text };
      },
      get saved() {
        return { lang: 'x', contents: saved };
      },
      etag: '"1"',
      saveNow: async () => {
        diary.push('save');
        const { text } = page;
        await responses.save();
        saved = text;
        return page.saves;
      },
      holdDuring: async (work) => {
        const { length } = diary;
        try {
          return await work();
        } finally {
          held.push(diary.slice(length));
        }
      },
      replaceBy: async ({ contents }, request) => {
        diary.push(`replace by ${contents}`);
        const answer = await request();
        diary.push(`is ${answer.etag}`);
        return answer;
      },
      handleRefusal: (error) => {
        if (error instanceof HttpError) diary.push(`refused ${error.status}`);
      },
    },
    isNew: false,
  });
  pipeline.on('deploy', ({ version, unchanged }) =>
    diary.push(`deployed ${version}${unchanged ? ', unchanged' : ''}`),
  );
  pipeline.on('error', ({ action, error }) => diary.push(`${action}: ${error}`));
  pipeline.on('busy', ({ action, wait }) => diary.push(`${action} busy ${wait}`));
  return { pipeline, diary, held, page, responses };
}

const keyOf = (contents: string) => sourceKeyOf({ lang: 'x', contents });

test('a build saves first, names the draft that it replaces, and then counts for that text', async () => {
  const { pipeline, diary, page } = setUp();
  assert.equal(await pipeline.runBuild(), true);
  assert.deepEqual(diary, ['save', 'replace by one', 'build one "1"', 'is "2"']);
  assert.equal(pipeline.build.kind === 'built' && pipeline.build.sourceKey, keyOf('one'));
  page.text = 'two';
  assert.equal(pipeline.build.kind === 'built' && pipeline.build.sourceKey, keyOf('one'));
});

test('a build is of what was saved before it, not of what was typed during that save', async () => {
  const { pipeline, diary, page, responses } = setUp();
  responses.save = async () => void (page.text = 'two');
  assert.equal(await pipeline.runBuild(), true);
  assert.deepEqual(diary, ['save', 'replace by one', 'build one "1"', 'is "2"']);
  assert.equal(pipeline.build.kind === 'built' && pipeline.build.sourceKey, keyOf('one'));
});

test('stopping does not wait for a save', async () => {
  const { pipeline, diary, responses } = setUp();
  const { promise: never } = Promise.withResolvers<void>();
  for (const isBuilt of [false, true]) {
    if (isBuilt) await pipeline.runBuild();
    const { save } = responses;
    responses.save = () => never;
    const running = pipeline.runTests([{ payload: 'a' }], () => {});
    pipeline.stop();
    assert.equal(await running, false);
    assert.deepEqual(diary.splice(0).slice(-2), ['save', 'test: stopped']);
    assert.equal(pipeline.action, undefined);
    responses.save = save;
  }
});

test('a text that cannot be saved is not built', async () => {
  const { pipeline, diary, page } = setUp();
  page.saves = false;
  assert.equal(await pipeline.runBuild(), false);
  assert.deepEqual(diary, ['save', 'build: not-saved']);
  assert.deepEqual(pipeline.build, { kind: 'unfinished', error: 'not-saved' });
});

test('deploying and running build only what is not built', async () => {
  const { pipeline, diary, page } = setUp();
  const runs: Run[] = [];
  assert.equal(
    await pipeline.runTests([{ payload: 'a' }, { payload: 'b' }], (_, run) => runs.push(run)),
    true,
  );
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

test('no save comes between a build and what it is for', async () => {
  const { pipeline, diary, held, page } = setUp();
  await pipeline.runDeploy();
  page.text = 'two';
  await pipeline.runTests([{ payload: 'a' }, { payload: 'b' }], () => {});
  page.text = 'three';
  await pipeline.ensureBuilt(async (sourceKey) => void diary.push(`use ${sourceKey}`));
  const buildOf = (text: string) => [`replace by ${text}`, `build ${text} "1"`, 'is "2"'];
  assert.deepEqual(held, [
    [...buildOf('one'), 'deploy', 'deployed v1.0.0'],
    [...buildOf('two'), 'test a'],
    ['test b'],
    [...buildOf('three'), `use ${keyOf('three')}`],
  ]);
});

test('a test is run with the responses to calls that it names', async () => {
  const { pipeline, diary } = setUp();
  const mock = { url: 'https://a.example/*', response: { body: 1 } };
  await pipeline.runTests(
    [{ payload: 'a', mocks: [mock] }, { payload: 'b' }, { payload: 'c', mocks: [] }],
    () => {},
  );
  assert.deepEqual(
    diary.filter((one) => one.startsWith('test')),
    [`test a ${JSON.stringify([mock])}`, 'test b', 'test c'],
  );
});

test('half a surrogate pair is sent as U+FFFD, because the client refuses it', async () => {
  const { pipeline, diary, page } = setUp();
  page.text = 'a \ud83d';
  const runs: Run[] = [];
  assert.equal(await pipeline.runTests([{ payload: '\udc00 b' }], (_, run) => runs.push(run)), true);
  assert.deepEqual(
    diary.filter((one) => /^(build|test)/.test(one)),
    ['build a \ufffd "1"', 'test \ufffd b'],
  );
  assert.deepEqual(
    runs.map(({ payload, sourceKey }) => [payload, sourceKey]),
    [['\udc00 b', keyOf('a \ud83d')]],
  );
});

test('a text that does not build is neither run nor deployed', async () => {
  const { pipeline, diary, responses } = setUp();
  const diagnostics = [
    { line: 1, column: 1, message: 'no', severity: 'error' },
    { line: 1, column: 1, message: 'hm', severity: 'warning' },
  ];
  responses.build = async () => ({ succeeded: false, outputLog: '', diagnostics });
  assert.equal(await pipeline.runDeploy(), false);
  assert.equal(await pipeline.runTests([{ payload: 'a' }], () => {}), false);
  assert.equal(
    diary.some((one) => /^(test|deploy)/.test(one)),
    false,
  );
  assert.deepEqual(pipeline.build, { kind: 'failed', sourceKey: keyOf('one'), problems: 2 });
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
  assert.equal(await pipeline.runTests([{ payload: 'a' }], () => {}), true);
  assert.equal(diary.filter((one) => one.startsWith('build one')).length, 2);
  refusals = 9;
  assert.equal(await pipeline.runTests([{ payload: 'a' }], () => {}), false);
  assert.equal(diary.at(-1), 'test: not-built');
});

test('neither a build nor its runs count once the types changed, but where it was made with the new ones', async () => {
  const { pipeline, diary, responses } = setUp();
  const runs: Run[] = [];
  const run = () => pipeline.runTests([{ payload: 'a' }], (_, one) => runs.push(one));
  const outdated = () => runs.map(({ isOutdated }) => isOutdated?.());
  const isBuilt = () => pipeline.build.kind === 'built' && pipeline.build.sourceKey === keyOf('one');
  const builds = () => diary.filter((one) => one.startsWith('build one')).length;
  pipeline.handleTypes(false);
  await pipeline.runDeploy();
  await run();
  pipeline.handleTypes(false);
  assert.deepEqual([outdated(), isBuilt()], [[false], true]);
  pipeline.handleTypes(true);
  assert.deepEqual([outdated(), isBuilt()], [[true], false]);
  assert.deepEqual(pipeline.deployment, { kind: 'deployed', version: 'v1.0.0' });

  await run();
  assert.equal(builds(), 2);
  pipeline.handleTypes(false);
  // They change, and the next build is made with the new ones before this page hears of them.
  await pipeline.runBuild();
  await run();
  pipeline.handleTypes(true);
  assert.deepEqual([outdated(), isBuilt()], [[true, true, false], true]);

  // The service says that the draft is not built, as it was before that build and as it is after other types came.
  const draft = { lang: 'x', contents: 'one' };
  pipeline.applyProgress({ built: false }, draft, 0);
  assert.equal(isBuilt(), true);
  pipeline.applyProgress({ built: false }, draft, performance.now());
  assert.deepEqual([outdated(), isBuilt()], [[true, true, true], false]);
  await run();

  // They change, and a deployment is the first to notice.
  responses.deploy = async () => Promise.reject(http(409));
  assert.equal(await pipeline.runDeploy(), false);
  assert.deepEqual([outdated(), isBuilt()], [[true, true, true, true], false]);
  assert.equal(builds(), 4);
  await run();
  assert.deepEqual([builds(), outdated().at(-1)], [5, false]);
});

test('a wait for a busy service is reported', async () => {
  const { pipeline, diary, responses } = setUp();
  responses.deploy = async (onBusy) => {
    onBusy?.(5);
    return { version: 'v1.0.0' };
  };
  assert.equal(await pipeline.runDeploy(), true);
  assert.ok(diary.includes('deploy busy 5'));
});

test('a build that the service refuses has the draft checked', async () => {
  const { pipeline, diary, responses } = setUp();
  responses.build = async () => Promise.reject(http(412));
  assert.equal(await pipeline.runBuild(), false);
  assert.deepEqual(diary.slice(-2), ['refused 412', 'build: conflict']);
});

test('a run or a deployment of a draft that is not there has the draft checked', async () => {
  const { pipeline, diary, responses } = setUp();
  const missing = () => Promise.reject(Object.assign(http(404), { code: 'draft-not-found' }));
  responses.test = responses.deploy = missing;
  await pipeline.runTests([{ payload: 'a' }], () => {});
  assert.deepEqual(diary.slice(-2), ['refused 404', 'test: deleted']);
  await pipeline.runDeploy();
  assert.deepEqual(diary.slice(-2), ['refused 404', 'deploy: deleted']);
});

test('a deployment without a response may have happened; one that was refused has not', async () => {
  const { pipeline, responses } = setUp();
  responses.deploy = async () => Promise.reject(lost());
  await pipeline.runDeploy();
  assert.deepEqual(pipeline.deployment, { kind: 'unfinished', error: 'connection' });
  responses.deploy = async () => ({ version: 'v1.0.1' });
  await pipeline.runDeploy();
  responses.deploy = async () => Promise.reject(http(401));
  await pipeline.runDeploy();
  assert.deepEqual(pipeline.deployment, { kind: 'deployed', sourceKey: keyOf('one'), version: 'v1.0.1' });
});

test('a build that another page made counts once the one of this page is outdated', async () => {
  const { pipeline } = setUp();
  await pipeline.runBuild();
  pipeline.handleTypes(false);
  pipeline.handleTypes(true);
  assert.equal(pipeline.isBuilt, false);
  const draft = { lang: 'x', contents: 'one' };
  pipeline.applyProgress({ built: true }, draft, performance.now());
  assert.equal(pipeline.isBuilt, true);
});

test('a refused deployment is reported as not built, or with what the service says', async () => {
  const { pipeline, responses } = setUp();
  const errors: unknown[] = [];
  pipeline.on('error', ({ error, detail }) => errors.push([error, detail]));
  for (const [status, code] of [
    [409, 'not-built'],
    [422, 'invalid-body'],
  ] as const) {
    responses.deploy = async () =>
      Promise.reject(Object.assign(http(status), { code, detail: 'The message is wrong.' }));
    await pipeline.runDeploy();
  }
  assert.deepEqual(errors, [
    ['not-built', 'The message is wrong.'],
    ['refused', 'The message is wrong.'],
  ]);
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
  responses.deploy = async (onBusy) => {
    onBusy?.(25_000);
    return new Promise(() => {});
  };
  const deploying = pipeline.runDeploy();
  while (!diary.includes('deploy busy 25000')) await new Promise(setImmediate);
  pipeline.stop();
  assert.equal(await deploying, false);
  assert.equal(diary.at(-1), 'deploy: stopped');
  assert.deepEqual(pipeline.deployment, { kind: 'unfinished', error: 'stopped' });
});

test("the builder's report on earlier builds and deployments is taken over when the page opens", () => {
  const { pipeline, page } = setUp();
  pipeline.applyProgress(
    { built: true, deployed: { version: 'v1.0.7', current: true } },
    { lang: 'x', contents: page.text },
    1,
  );
  assert.deepEqual(pipeline.build, { kind: 'built', sourceKey: keyOf('one') });
  assert.deepEqual(pipeline.deployment, { kind: 'deployed', version: 'v1.0.7', sourceKey: keyOf('one') });
  // Another page deployed since; what is being edited here is not what the builder has.
  pipeline.applyProgress({ built: true, deployed: { version: 'v1.0.8', current: true } }, undefined, 2);
  assert.deepEqual(pipeline.deployment, { kind: 'deployed', version: 'v1.0.8' });
  // It is once the page took that draft over.
  page.text = 'two';
  pipeline.applyProgress(
    { built: true, deployed: { version: 'v1.0.8', current: true } },
    { lang: 'x', contents: 'two' },
    3,
  );
  assert.deepEqual(pipeline.deployment, { kind: 'deployed', version: 'v1.0.8', sourceKey: keyOf('two') });
});

test('a report from before a deployment does not replace it, and one during a build counts', async () => {
  const { pipeline, responses, page } = setUp();
  const draft = { lang: 'x', contents: page.text };
  const before = { built: true, deployed: { version: 'v0.0.9', current: false } };
  const askedAt = performance.now();
  responses.build = async () => {
    pipeline.applyProgress(before, draft, askedAt);
    return { succeeded: true, outputLog: '' };
  };
  await pipeline.runBuild();
  assert.deepEqual(pipeline.deployment, { kind: 'deployed', version: 'v0.0.9' });
  responses.deploy = async () => {
    pipeline.applyProgress(before, draft, performance.now());
    return { version: 'v1.0.0' };
  };
  await pipeline.runDeploy();
  pipeline.applyProgress(before, draft, askedAt);
  assert.deepEqual(pipeline.deployment, { kind: 'deployed', version: 'v1.0.0', sourceKey: keyOf('one') });
});

test('a build that the service replaced by that of another page is made again', async () => {
  const { pipeline, diary } = setUp();
  await pipeline.runBuild();
  pipeline.forgetBuild();
  assert.deepEqual(pipeline.build, { kind: 'none' });
  diary.length = 0;
  await pipeline.runTests([{ payload: 'Ada' }], () => {});
  assert.deepEqual(diary, ['save', 'replace by one', 'build one "1"', 'is "2"', 'test Ada']);
});

test('a build is forgotten during an action too, but for the one that runs', async () => {
  const { pipeline, responses, diary } = setUp();
  const { build } = responses;
  responses.build = () => {
    pipeline.forgetBuild();
    assert.equal(pipeline.build.kind, 'building');
    return build();
  };
  await pipeline.runTests([{ payload: 'Ada' }], () => pipeline.forgetBuild());
  assert.deepEqual(pipeline.build, { kind: 'none' });
  diary.length = 0;
  await pipeline.runTests([{ payload: 'Bob' }], () => {});
  assert.deepEqual(diary, ['save', 'replace by one', 'build one "1"', 'is "2"', 'test Bob']);
});

test('a deployment that is stopped before its response came may have happened', async () => {
  const { pipeline, diary, responses } = setUp();
  responses.deploy = () => new Promise(() => {});
  const deploying = pipeline.runDeploy();
  while (!diary.includes('deploy')) await new Promise(setImmediate);
  pipeline.stop();
  await deploying;
  assert.deepEqual(pipeline.deployment, { kind: 'unfinished', error: 'connection' });
});
