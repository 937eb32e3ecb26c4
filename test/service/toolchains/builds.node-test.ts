import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { TestContext } from 'node:test';
import { Builds } from '../../../service/src/toolchains/build/builds.ts';
import type { BuildTimes } from '../../../service/src/toolchains/build/builds.ts';
import { SupersededError } from '../../../service/src/toolchains/process/superseding-queue.ts';
import { ProcessPool } from '../../../service/src/processes/process-pool.ts';
import { CompilerProcess } from '../../../service/src/toolchains/build/compiler-process.ts';
import type { BuildOutcome } from '../../../service/src/toolchains/build/limits.ts';
import { BusyError } from '../../../service/src/processes/fair-queue.ts';
import type { LoadedLanguage } from '../../../service/src/toolchains/languages.ts';
import { probeFiles } from './build-fixtures/files.ts';
import probe from './build-fixtures/probe.ts';
import { temporaryDirectory } from '../harness.ts';
import { until } from '../../support/until.ts';

const language: LoadedLanguage = { ...probe, module: new URL('./build-fixtures/probe.ts', import.meta.url) };

const folders = temporaryDirectory({ after });
/** Gives a job more time than a busy machine takes to start the compilers of the others, for which it is held. */
class PatientCompiler extends CompilerProcess {
  override build(...[source, options]: Parameters<CompilerProcess['build']>) {
    return super.build(source, { ...options, time: 120_000 });
  }
}
const startCompiler = () => new PatientCompiler(language, { readable: [...probeFiles, folders] });

/** Of the builds of all tests. */
const times: BuildTimes[] = [];
/** What was reported to the operator. */
const defects: unknown[][] = [];
const shared = new Builds(
  new Map([['probe', language]]),
  startCompiler,
  (_language, _outcome, one) => times.push(one),
  undefined,
  (...defect) => defects.push(defect),
);
after(() => shared.close());

/** Builds of a language whose sources say what its compiler does, and a folder of files that end what it waits for. */
function start(t: TestContext) {
  const folder = temporaryDirectory(t, folders);
  const ownerOf = (whose: string) => {
    const [environment = '', tenant = '', token = ''] = whose.split('/');
    return { environment, tenant, token };
  };
  const build = (whose: string, source = 'nothing', signal?: AbortSignal, finishes = false) =>
    shared.build('probe', { source, owner: ownerOf(whose), finishes, ...(signal && { signal }) });
  const check = (whose: string, source = 'nothing', signal?: AbortSignal, subject = 'plugin') =>
    shared.check('probe', { source, subject, owner: ownerOf(whose), ...(signal && { signal }) });
  // A source that is compiled until it is let go, and how that is done.
  const held = (name: string) => {
    const path = join(folder, name);
    return { source: `until ${path}`, letGo: () => writeFileSync(path, '') };
  };
  return { build, check, held };
}

const succeeds = async (end: BuildOutcome | Promise<BuildOutcome>) => {
  const ended = await end;
  assert.ok('compiled' in ended && ended.compiled.program, JSON.stringify(ended));
};

test('long builds of one tenant keep no other waiting, in its environment or another', async (t) => {
  const { build, held } = start(t);
  const long = held('long');
  const [first, second] = [build('a/t1', long.source), build('a/t1', 'nothing')];
  await succeeds(build('a/t2'));
  await succeeds(build('b/t1'));
  long.letGo();
  await succeeds(first);
  await succeeds(second);
});

test('the time that a build waited is reported apart from the time that it took', async (t) => {
  const { build, held } = start(t);
  await succeeds(build('a/t1'));
  // That one waited for its compiler to come up, which may be longer than everything below.
  times.length = 0;
  const long = held('long');
  const began = performance.now();
  // As many as a tenant may have at once on any machine.
  const inFront = Array.from({ length: 4 }, () => build('a/t1', long.source));
  const last = build('a/t1');
  await new Promise((resolve) => setTimeout(resolve, 300));
  long.letGo();
  for (const one of [last, ...inFront]) await succeeds(one);
  const total = performance.now() - began;
  // Those that waited did so for as long as the ones in front of them were held.
  const { waited, took } = times.toSorted((a, b) => b.waited - a.waited)[0] ?? assert.fail();
  assert.ok(waited >= 290 && took > 0 && waited + took <= total + 1, JSON.stringify({ waited, took, total }));
  // The first of those in front did not wait for a turn.
  assert.ok(times.some((one) => one.took >= 290));
});

test('long builds of all tenants of an environment keep no other environment waiting', async (t) => {
  const { build, held } = start(t);
  const long = held('long');
  const all = Array.from({ length: 12 }, (_, i) => build(`a/t${i}`, long.source));
  await succeeds(build('b/t1'));
  long.letGo();
  await Promise.all(all.map(succeeds));
});

test('checks do not wait for builds, nor builds for checks', async (t) => {
  const { build, check, held } = start(t);
  const [longBuild, longCheck] = [held('build'), held('check')];
  const builds = Array.from({ length: 12 }, (_, i) => build(`e${i}/t`, longBuild.source));
  await succeeds(check('e1/t'));
  longBuild.letGo();
  await Promise.all(builds.map(succeeds));
  const checks = Array.from({ length: 12 }, (_, i) => check(`e${i}/t`, longCheck.source));
  await succeeds(build('e1/t'));
  longCheck.letGo();
  await Promise.all(checks.map(succeeds));
});

test('twelve slow checks of one tenant keep no check of another waiting', async (t) => {
  const { check, held } = start(t);
  const slow = held('slow');
  const all = Array.from({ length: 12 }, (_, i) =>
    check(`a/t1/k${i}`, slow.source, undefined, `plugin ${i}`),
  );
  await succeeds(check('a/t2/k'));
  slow.letGo();
  await Promise.all(all.map(succeeds));
});

test('a newer check of the same token and plugin replaces the one that waits', async (t) => {
  const { check, held } = start(t);
  const slow = held('slow');
  const first = check('a/t/k', slow.source);
  const older = assert.rejects(check('a/t/k', 'nothing'), SupersededError);
  const others = [
    check('a/t/k', 'nothing', undefined, 'another plugin'),
    check('a/t/another token', 'nothing'),
  ];
  const newer = check('a/t/k', 'nothing');
  await older;
  slow.letGo();
  await Promise.all([first, newer, ...others].map(succeeds));
});

test('a build or a check whose client has gone leaves the queue', async (t) => {
  const { build, check, held } = start(t);
  for (const work of [build, check]) {
    const long = held(`long ${work.name}`);
    const first = work('a/t/k', long.source.replace('long ', 'long-'));
    // More than a token may have waiting, if they did not leave.
    for (let i = 0; i < 3; i++) {
      const controller = new AbortController();
      const all = Array.from({ length: 8 }, () =>
        work === build
          ? build('a/t/k', 'nothing', controller.signal)
          : check('a/t/k', 'nothing', controller.signal, `plugin ${Math.random()}`),
      ).map((one) => assert.rejects(one, { name: 'AbortError' }));
      controller.abort();
      await Promise.all(all);
    }
    const next = work('a/t/k', 'nothing');
    writeFileSync(long.source.replace('until ', '').replace('long ', 'long-'), '');
    await succeeds(first);
    await succeeds(next);
  }
});

test('a running job ends soon after its client has gone, except for a build that is to finish', async (t) => {
  const { build, check, held } = start(t);
  const long = held('long');
  const controller = new AbortController();
  const abandoned = [
    build('a/t1', held('never').source, controller.signal),
    check('a/t1', held('never').source, controller.signal),
  ];
  const finishing = build('a/t2', long.source, controller.signal, true);
  // Compilers are given in the order of asking: those three have theirs.
  await succeeds(build('b/t1'));
  await succeeds(check('b/t1'));
  controller.abort();
  for (const end of await Promise.all(abandoned)) assert.ok('failed' in end, JSON.stringify(end));
  long.letGo();
  await succeeds(finishing);
  await succeeds(build('a/t1'));
  await succeeds(check('a/t1'));
});

test('a compiler that crashes fails only its own build, and the next build works', async (t) => {
  const { build, held } = start(t);
  const long = held('long');
  const first = build('a/t1', long.source);
  const end = await build('a/t2', 'crash');
  assert.ok('failed' in end);
  assert.match(end.failed, /ended unexpectedly/);
  await succeeds(build('a/t2'));
  long.letGo();
  await succeeds(first);
});

test('a defect of a compiler is reported to the operator, by builds and checks, and what the source is to blame for is not', async (t) => {
  const { build, check } = start(t);
  for (const job of [build, check]) {
    defects.length = 0;
    assert.ok('failed' in (await job('a/t1', 'crash')));
    assert.ok('failed' in (await job('a/t1', 'throw')));
    const [[of, defect, owner] = [], ...others] = defects;
    assert.deepEqual([of, owner, others], ['probe', { environment: 'a', tenant: 't1', token: '' }, []]);
    assert.match(String(defect), /^Error: No\.\n/);
  }
});

test('a compiler that does not come up is reported to the operator, unless the service has ended', async () => {
  const reported: string[] = [];
  const builds = new Builds(
    new Map([['probe', language]]),
    () => new CompilerProcess(language),
    undefined,
    undefined,
    (_language, defect) => reported.push(defect),
  );
  const build = () =>
    builds.build('probe', { source: 'nothing', owner: { environment: 'a', tenant: 't1', token: '' } });
  assert.ok('failed' in (await build()));
  assert.equal(reported.length, 1);
  assert.match(reported[0] ?? '', /does not work on this machine: the compiler could not be loaded/);
  builds.close();
  assert.ok('failed' in (await build()));
  assert.equal(reported.length, 1);
});

test('too many builds of one token are refused at once', async (t) => {
  const { build, held } = start(t);
  const long = held('long');
  const all = [build('a/t/k', long.source)];
  const refused = (error: unknown) => error instanceof BusyError && error.level === 'token';
  assert.throws(() => {
    for (let i = 0; i < 100; i++) all.push(build('a/t/k'));
  }, refused);
  assert.ok(all.length > 1);
  long.letGo();
  await Promise.all(all.map(succeeds));
});

test('compilers start on demand, and all but one end when they have been idle for a while', async (t) => {
  const pool = new ProcessPool(startCompiler, { extra: 100 });
  t.after(() => pool.close());
  const first = await pool.take();
  assert.equal(pool.size, 1);
  const second = await pool.take();
  const third = await pool.take();
  assert.equal(pool.size, 3);
  for (const one of [first, second, third]) await pool.giveBack(one);
  await until('the end of all compilers but one', () => pool.size === 1);
  assert.deepEqual([first.isUsable, second.isUsable, third.isUsable], [false, false, true]);
  assert.equal(await pool.take(), third);
});

test('a job that waits for a compiler to start gets one that becomes free earlier', async (t) => {
  const pool = new ProcessPool(startCompiler);
  t.after(() => pool.close());
  const first = await pool.take();
  const next = pool.take();
  await pool.giveBack(first);
  assert.equal(await next, first);
});

test('the turn of a job that ends its compiler lasts until another compiler has started', async (t) => {
  const pool = new ProcessPool(startCompiler);
  t.after(() => pool.close());
  let isReleased = false;
  const turn = Promise.resolve(() => (isReleased = true));
  const outcome = await pool.use(turn, (compiler) => compiler.build('crash'));
  assert.ok('failed' in outcome);
  assert.equal(isReleased, false);
  await until('the end of the turn', () => isReleased);
  assert.equal((await pool.take()).isUsable, true);
});

test('brackets that are nested too deep are a problem with its place, and no parser sees them', async (t) => {
  const { build } = start(t);
  const problemIn = async (source: string) => {
    const outcome = await build('a/t1', source);
    assert.ok('compiled' in outcome);
    return outcome.compiled.diagnostics[0];
  };
  const message = 'Brackets are nested more than 1000 deep here, which is the limit.';
  for (const [source, line, column] of [
    ['('.repeat(500_000), 1, 1001],
    [`\n${'[{'.repeat(600)}`, 2, 1001],
  ] as const) {
    assert.deepEqual(await problemIn(source), { line, column, message, severity: 'error' });
  }
  assert.equal(await problemIn(`${'('.repeat(1000)}${')'.repeat(1000)}${'()'.repeat(5000)}`), undefined);
});

test('a compiler that fails to start is reported to the job that waits for it', async (t) => {
  const broken = { ...language, module: new URL('./missing.ts', import.meta.url) };
  const pool = new ProcessPool(() => new CompilerProcess(broken));
  t.after(() => pool.close());
  await assert.rejects(pool.take(), /could not be loaded/);
  assert.equal(pool.size, 0);
});

/** A pool of compilers. The system refuses those that are listed as refused, counted by their starts. */
function poolWithRefused(t: TestContext, refused: readonly number[]) {
  let starts = 0;
  const pool = new ProcessPool(() => {
    starts += 1;
    if (refused.includes(starts)) throw new Error('spawn ENOMEM');
    return startCompiler();
  });
  t.after(() => pool.close());
  return { pool, starts: () => starts };
}

test('a compiler whose process the system refuses is reported to the job that waits for it, and to no other', async (t) => {
  const { pool } = poolWithRefused(t, [1]);
  await assert.rejects(pool.take(), /ENOMEM/);
  assert.equal(pool.size, 0);
  assert.equal((await pool.take()).isUsable, true);
});

test('warming up ends where the system refuses the process, and the next job starts one', async (t) => {
  const { pool } = poolWithRefused(t, [1]);
  await pool.warmUp();
  assert.equal(pool.size, 0);
  assert.equal((await pool.take()).isUsable, true);
});

test('a compiler that is given back and cannot be replaced is replaced for the next job', async (t) => {
  const { pool, starts } = poolWithRefused(t, [2]);
  const first = await pool.take();
  first.close();
  await pool.giveBack(first);
  assert.deepEqual([pool.size, starts()], [0, 2]);
  assert.notEqual(await pool.take(), first);
});

test('compilers are warmed up one after the other, the last language first, whether they come up or not', async (t) => {
  const broken = { ...language, module: new URL('./missing.ts', import.meta.url) };
  const languages = new Map([
    ['a', language],
    ['b', broken],
  ]);
  const events: string[] = [];
  const builds = new Builds(languages, (one) => {
    const name = one === broken ? 'b' : 'a';
    const compiler = one === broken ? new CompilerProcess(one) : startCompiler();
    events.push(`${name} started`);
    compiler.ready.then(
      () => events.push(`${name} is up`),
      () => events.push(`${name} failed`),
    );
    return compiler;
  });
  t.after(() => builds.close());
  await builds.warmUp();
  assert.deepEqual(events, ['b started', 'b failed', 'a started', 'a is up']);
});

test('the first job takes the compiler that warming up has started, and the next job another', async (t) => {
  const { pool, starts } = poolWithRefused(t, []);
  const isWarm = pool.warmUp();
  const first = pool.take();
  assert.equal(starts(), 1);
  const second = pool.take();
  assert.equal(starts(), 2);
  await isWarm;
  assert.notEqual(await first, await second);
});
