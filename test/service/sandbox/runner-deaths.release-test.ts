import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import type { QueueOwner } from '../../../service/src/processes/fair-queue.ts';
import { FrameReader } from '../../../service/src/processes/frames.ts';
import { loadedProgram } from '../../../service/src/plugins/program.ts';
import type { StoredProgram } from '../../../service/src/plugins/program.ts';
import { frameKind } from '../../../service/src/sandbox/protocol.ts';
import { RunnerProcess } from '../../../service/src/sandbox/runner-process.ts';
import type { Turn } from '../../../service/src/sandbox/runner-process.ts';
import { Sandbox } from '../../../service/src/sandbox/sandbox.ts';
import { processTree } from '../../bench/executions/processes.ts';
import { until } from '../../support/until.ts';
import { running } from '../plugin.ts';
import { patientLimits } from '../tool-processes.ts';
import { answering, asyncRun, begin, response, sandbox, show, upstream } from './calling.ts';

const script = (code: string) => loadedProgram({ kind: 'script', code, file: 'plugin.js' });

test('a run whose runner is killed from outside ends with an error of its own name', async (t) => {
  const runner = new RunnerProcess();
  t.after(() => runner.close());
  await runner.ready;
  const ended = runner.run(script(running('for (;;);')), '');
  process.kill(runner.pid ?? 0, 'SIGKILL');
  const outcome = await ended;
  assert.equal('error' in outcome && outcome.error.code, 'runner-crashed');
  assert.equal(runner.isUsable, false);
});

/** The processes that this one has started and that have not ended. */
const children = () =>
  readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);

test(
  'a run whose runner ends while it starts is done by another one',
  { skip: process.platform !== 'linux' },
  async (t) => {
    const before = new Set(children());
    const own = new Sandbox({ limits: patientLimits });
    t.after(() => own.close());
    own.warmUp();
    for (const pid of children()) if (!before.has(pid)) process.kill(pid, 'SIGKILL');
    const owner = { environment: 'com.acme', tenant: 't1', token: '' };
    const outcome = await own.run({ program: script(running('return input;')), input: 'text', owner });
    assert.deepEqual(outcome, { result: 'text', logs: [] });
  },
);

/** Kills all runners of this process at once. */
function killRunners(): void {
  for (const pid of processTree(process.pid).slice(1)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended with its parent.
    }
  }
}

describe('when all runners die', { skip: process.platform !== 'linux' }, () => {
  const asking = asyncRun('return input + (await (await fetch("https://a.example")).text());');

  /** A program that can be loaded until `isAway` is set. */
  const losable = (code: string) => {
    const state = { isAway: false };
    const program = loadedProgram({ kind: 'script', code, file: 'plugin.js' });
    const load = () => (state.isAway ? Promise.reject(new Error('It is away.')) : program.load());
    return { state, program: { ...program, load } };
  };

  test('the runs that wait are not lost, although their program cannot be loaded any more', async () => {
    const { caller, waiting, come } = upstream();
    const { state, program } = losable(asking);
    const runs = Array.from({ length: 100 }, (_, i) => begin('', caller, { program, input: String(i) }));
    await come(100);
    await until('all runs wait outside of the runners', () => sandbox.connected.waiting === 100);
    state.isAway = true;
    killRunners();
    for (const { answer } of waiting) answer(response('!'));
    const shown = (await Promise.all(runs)).map(({ outcome }) => show(outcome));
    assert.deepEqual(
      shown,
      shown.map((_, i) => `${i}!`),
    );
  });

  test('a run whose program was not kept, and cannot be loaded any more, has an outcome', async (t) => {
    t.mock.method(sandbox.connected, 'keep', async (_: QueueOwner, program: StoredProgram) => ({
      program,
      release: () => {},
    }));
    const { caller, waiting, come } = upstream();
    const { state, program } = losable(asking);
    const ended = begin('', caller, { program });
    await come(1);
    await until('it waits', () => sandbox.connected.waiting === 1);
    state.isAway = true;
    killRunners();
    waiting[0]?.answer(response('!'));
    assert.equal(show((await ended).outcome), 'runner-crashed: The run could not go on.');
  });

  test('as a run is handed to one of them, a new one takes it, once', async (t) => {
    let deaths = 0;
    // oxlint-disable-next-line typescript/unbound-method -- it is called with its runner
    const { take } = RunnerProcess.prototype;
    t.mock.method(RunnerProcess.prototype, 'take', function (this: RunnerProcess, turn: Turn) {
      if (deaths > 0) killRunners();
      deaths -= 1;
      return take.call(this, turn);
    });
    // Several runners are idle, none of which is known to have ended when the run is handed over.
    await Promise.all(
      ['a', 'b', 'c'].map((input) =>
        begin(
          asking,
          answering(() => ''),
          { input },
        ),
      ),
    );
    for (const [atFirst, later, expected] of [
      [1, 0, /^in!$/],
      [0, 1, /^in!$/],
      [1, 1, /^in!$/],
      [0, 2, /^runner-crashed: /],
    ] as const) {
      const { caller, waiting, come } = upstream();
      deaths = atFirst;
      const ended = begin(asking, caller);
      await Promise.race([come(1), ended]);
      await until('the run waits, or has ended', () => sandbox.connected.waiting === sandbox.connected.size);
      deaths = later;
      waiting[0]?.answer(response('!'));
      assert.match(show((await ended).outcome), expected, `${atFirst} ${later}`);
      assert.equal(sandbox.connected.size, 0);
    }
  });

  test('before the state of a run has come, the run goes on from the state before, unless it has called meanwhile', async (t) => {
    let cuts = 0;
    // oxlint-disable-next-line typescript/unbound-method -- it is called with its reader
    const { push } = FrameReader.prototype;
    t.mock.method(FrameReader.prototype, 'push', function (this: FrameReader, chunk: Buffer) {
      const frames = push.call(this, chunk);
      const whole = frames.filter(({ kind }) => kind !== frameKind.suspended);
      if (cuts === 0 || whole.length === frames.length) return frames;
      cuts -= 1;
      killRunners();
      return whole;
    });
    const { caller, waiting, come } = upstream();
    const both = begin(
      asyncRun(
        'const ask = async (name) => (await fetch("https://" + name + ".example")).text(); return (await Promise.all([ask("a"), ask("b")])).join();',
      ),
      caller,
    );
    await come(2);
    await until('the run waits', () => sandbox.connected.waiting === 1);
    cuts = 1;
    waiting[0]?.answer(response('one'));
    await until(
      'the runner has died, and the run waits again, or has ended',
      () => cuts === 0 && sandbox.connected.waiting === sandbox.connected.size,
    );
    waiting[1]?.answer(response('two'));
    assert.equal(show((await both).outcome), 'one,two');
    cuts = 1;
    // Its call was made, so that the turn cannot be taken again.
    const { outcome } = await begin(asking, caller);
    assert.match(show(outcome), /^runner-crashed: /);
    assert.equal(waiting[2]?.signal.aborted, true);
    assert.equal(sandbox.connected.size, 0);
  });
});
