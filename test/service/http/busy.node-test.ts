import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { RunnerProcess } from '../../../service/src/sandbox/runner-process.ts';
import { CompilerProcess } from '../../../service/src/toolchains/build/compiler-process.ts';
import { bearer } from '../harness.ts';
import { running, startPlugin } from '../plugin.ts';
import { cleanUpFirst } from '../storage/databases.ts';
import { sharedToolProcesses } from '../tool-processes.ts';
import { PATIENCE, until } from '../../support/until.ts';

const text = { 'content-type': 'text/plain' };
const codeIn = (body: string) => (JSON.parse(body) as { error: { code: string } }).error.code;
const echo = running('return input;');
/** A source whose compiler does not begin before {@link holdBuilds} releases it. */
const slow = (i: number) => `${echo}// held ${i}`;

/** Makes the compilers wait with what is {@link slow}, until the end of the test at the latest. */
function holdBuilds(t: TestContext): { release: () => void } {
  const released = Promise.withResolvers<void>();
  // oxlint-disable-next-line typescript/unbound-method -- called with its own `this`
  const { build } = CompilerProcess.prototype;
  t.mock.method(
    CompilerProcess.prototype,
    'build',
    async function (this: CompilerProcess, ...args: Parameters<typeof build>) {
      if (args[0].includes('// held')) await released.promise;
      return build.apply(this, args);
    },
  );
  const release = () => released.resolve();
  // Before what the test started ends, which waits for its builds.
  cleanUpFirst(t, release);
  return { release };
}

/**
 * Resolves at the first refusal. Where none comes, what the requests wait for begins after a while, so that a test ends and says how
 * they were answered.
 */
function firstRefusal(t: TestContext) {
  const { promise, resolve } = Promise.withResolvers<void>();
  const late = setTimeout(resolve, PATIENCE);
  cleanUpFirst(t, () => {
    clearTimeout(late);
    resolve();
  });
  return {
    refused: promise,
    note: ({ status }: { status: number }) => {
      if (status !== 200) resolve();
    },
  };
}

/** Sends `count` requests at once and counts what is answered, having checked the refusals. */
async function flood(
  count: number,
  send: (i: number) => Promise<{ status: number; headers: object; body: string }>,
) {
  const responses = await Promise.all(Array.from({ length: count }, (_, i) => send(i)));
  const statuses = new Map<number, number>();
  for (const { status, headers, body } of responses) {
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    if (status === 200) continue;
    assert.match((headers as Record<string, string>)['retry-after'] ?? '', /^\d+$/);
    assert.equal(codeIn(body), status === 429 ? 'too-many-requests' : 'busy');
  }
  return statuses;
}

const toolProcesses = sharedToolProcesses();

/** More than may wait of a tenant, with those that run. */
const many = 300;

/**
 * Lets runs wait once they have a runner, until they are released, at the end of the test at the latest.
 * @param onlyOf the input of those that wait (default: any)
 */
function holdRuns(t: TestContext, onlyOf?: string) {
  const { promise, resolve } = Promise.withResolvers<void>();
  let held = 0;
  const begun: unknown[] = [];
  // oxlint-disable-next-line typescript/unbound-method -- called with its own `this`
  const { take } = RunnerProcess.prototype;
  t.mock.method(
    RunnerProcess.prototype,
    'take',
    async function (this: RunnerProcess, ...args: Parameters<typeof take>) {
      const [{ job }] = args;
      const input = 'input' in job ? job.input : undefined;
      begun.push(input);
      if (onlyOf === undefined || input === onlyOf) {
        held += 1;
        await promise;
      }
      return take.apply(this, args);
    },
  );
  cleanUpFirst(t, resolve);
  return { held: () => held, begun, release: () => resolve() };
}

/** Sends many requests for runs at once, none of which ends before one was refused. */
async function floodUntilRefused(
  t: TestContext,
  send: (i: number) => ReturnType<Parameters<typeof flood>[1]>,
) {
  const { refused, note } = firstRefusal(t);
  void refused.then(holdRuns(t).release);
  return flood(many, async (i) => {
    const response = await send(i);
    note(response);
    return response;
  });
}

test('executions beyond what can wait are answered with 503, and all others correctly', async (t) => {
  const { build, deploy, run } = await startPlugin(t, 't1', undefined, { toolProcesses });
  await build(echo);
  const version = await deploy();
  const statuses = await floodUntilRefused(t, async (i) => {
    const response = await run(version, `${i}`);
    if (response.status === 200) assert.equal(response.body, `${i}`);
    return response;
  });
  assert.ok((statuses.get(503) ?? 0) > 0 && (statuses.get(200) ?? 0) >= 200, JSON.stringify([...statuses]));
  assert.equal(statuses.size, 2);
  assert.equal((await run(version, 'after')).body, 'after');
});

test('tests beyond what one tenant may have waiting are answered with 429', async (t) => {
  const {
    build,
    send,
    paths,
    editor,
    test: tryOut,
  } = await startPlugin(t, 't1', undefined, { toolProcesses });
  await build(echo);
  const statuses = await floodUntilRefused(t, (i) =>
    send('POST', paths.test, { ...editor, ...text }, `${i}`),
  );
  assert.ok((statuses.get(429) ?? 0) > 0 && (statuses.get(200) ?? 0) >= 200, JSON.stringify([...statuses]));
  assert.deepEqual(await tryOut('after'), { result: 'after' });
});

test('builds beyond what one tenant may have waiting are answered with 429, while another tenant builds', async (t) => {
  const first = await startPlugin(t);
  const other = await startPlugin(t, 't2', first);
  const { send, paths, editor } = first;
  const builds = holdBuilds(t);
  const { refused, note } = firstRefusal(t);
  const flooding = flood(40, async (i) => {
    const response = await send('POST', paths.build('javascript'), { ...editor, ...text }, slow(i));
    note(response);
    return response;
  });
  await refused;
  assert.equal((await other.build(echo)).succeeded, true);
  builds.release();
  const statuses = await flooding;
  assert.ok((statuses.get(429) ?? 0) > 0 && (statuses.get(200) ?? 0) > 0, JSON.stringify([...statuses]));
});

test('a build whose client disconnects while it waits is not started', async (t) => {
  const first = await startPlugin(t);
  const [abandoned, last] = [await startPlugin(t, 't1', first), await startPlugin(t, 't2', first)];
  const builds = holdBuilds(t);
  /** Asks for a build, and waits until the service has taken it in, which saves the draft. */
  const startBuild = async ({ paths, send, editor }: typeof first, source: string) => {
    const controller = new AbortController();
    const building = fetch(`http://127.0.0.1:${first.port}${paths.build('javascript')}`, {
      method: 'POST',
      headers: { ...editor, ...text },
      body: source,
      signal: controller.signal,
    }).catch((error: unknown) => error);
    while ((await send('GET', paths.draft, editor)).status !== 200);
    return { building, controller };
  };
  // As many as an environment may have on a machine of many cores.
  const before: Awaited<ReturnType<typeof startBuild>>[] = [];
  for (let i = 0; i < 7; i++)
    before.push(await startBuild(await startPlugin(t, `before-${i}`, first), slow(i)));
  const { building, controller } = await startBuild(abandoned, echo);
  controller.abort();
  await building;
  // The service, in this process, has heard of the end before it takes in another build.
  const next = await startBuild(last, echo);
  builds.release();
  await Promise.all([...before, next].map((one) => one.building));
  // Behind all that was there before it.
  await last.build(echo);
  const { paths, send, editor } = abandoned;
  const progress = await send('GET', paths.draft.replace('/draft/', '/progress/'), editor);
  assert.deepEqual(JSON.parse(progress.body), { built: false });
});

test('a newer check of a plugin replaces the one that waits, which is answered with 409', async (t) => {
  const { send, paths, editor } = await startPlugin(t);
  const builds = holdBuilds(t);
  const path = paths.build('javascript').replace('/build/', '/check/');
  // More than run at once on a machine of many cores. Which of them comes first is not for us to say.
  const { refused: superseded, note } = firstRefusal(t);
  void superseded.then(builds.release);
  const responses = await Promise.all(
    Array.from({ length: 10 }, async (_, i) => {
      const response = await send('POST', path, { ...editor, ...text }, slow(i));
      note(response);
      return response;
    }),
  );
  const refused = responses.filter(({ status }) => status !== 200);
  assert.ok(refused.length > 0 && refused.length < 10);
  for (const { status, body } of refused) assert.deepEqual([status, codeIn(body)], [409, 'check-superseded']);
});

test('a tenant whose runs do not end does not keep another one waiting', async (t) => {
  const endless = await startPlugin(t);
  const other = await startPlugin(t, 't2', endless);
  for (const { build, deploy } of [endless, other]) {
    await build(echo);
    await deploy();
  }
  const { held, release } = holdRuns(t, 'endless');
  let ended = 0;
  const { sandbox } = toolProcesses;
  const runs = Array.from({ length: 6 }, () => endless.run('v1.0.0', 'endless').then(() => (ended += 1)));
  await until('they wait', () => held() > 0 && held() + sandbox.waiting === 6);
  for (let i = 0; i < 3; i++) assert.equal((await other.run('v1.0.0', `${i}`)).body, `${i}`);
  assert.equal(ended, 0);
  release();
  await Promise.all(runs);
});

test('a run with another token of the same tenant does not wait for all those before it', async (t) => {
  const { build, deploy, run, send, vendor } = await startPlugin(t);
  await build(echo);
  await deploy();
  const made = await send(
    'POST',
    '/api/v1/environment/com.acme/tokens',
    { ...vendor, 'content-type': 'application/json' },
    '{"holder":"other"}',
  );
  const other = { ...bearer((JSON.parse(made.body) as { token: string }).token), ...text };
  const { held, begun, release } = holdRuns(t);
  const { sandbox } = toolProcesses;
  const runs = Array.from({ length: 20 }, () => run('v1.0.0', 'first'));
  await until('they wait', () => held() + sandbox.waiting === 20);
  runs.push(run('v1.0.0', 'other', other));
  await until('the other one waits', () => held() + sandbox.waiting === 21);
  release();
  await Promise.all(runs);
  // It came last.
  const place = begun.indexOf('other');
  assert.ok(place >= 0 && place < begun.length / 2, begun.join());
});
