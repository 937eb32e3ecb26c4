import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import type { LoggedOutcome } from '../../../service/src/sandbox/outcome.ts';
import { loadedProgram } from '../../../service/src/plugins/program.ts';
import { startIsolated } from '../../../service/src/processes/isolated-process.ts';
import { codeOf } from '../../../service/src/processes/package-folders.ts';
import { RunnerProcess } from '../../../service/src/sandbox/runner-process.ts';
import { mebibyte } from '../../../service/src/units.ts';
import { running } from '../plugin.ts';
import { patientLimits } from '../tool-processes.ts';

const script = (code: string) => loadedProgram({ kind: 'script', code, file: 'plugin.js' });
const errorCodeOf = (outcome: LoggedOutcome) => ('error' in outcome ? outcome.error.code : 'none');
const looping = script(running('console.log("begun"); for (;;);'));

const runners: RunnerProcess[] = [];
function startRunner(options?: ConstructorParameters<typeof RunnerProcess>[0]): RunnerProcess {
  const runner = new RunnerProcess({ limits: patientLimits, ...options });
  runners.push(runner);
  return runner;
}
after(() => Promise.all(runners.map((runner) => runner.close())));

test('a runner that does not come up in time says so', async () => {
  const start = () =>
    startIsolated({
      file: new URL('../../../service/src/sandbox/runner-main.ts', import.meta.url),
      readable: codeOf(['lru-cache', 'quickjs-wasi']),
      memoryLimit: 512 * mebibyte,
      stdio: ['pipe', 'pipe', 'ignore'],
    });
  // No process comes up in a millisecond.
  const runner = new RunnerProcess({}, { start, startTime: 1, hasCalls: false, keepsAlive: true });
  runners.push(runner);
  await assert.rejects(runner.ready, {
    name: 'RunnerStartError',
    message: 'The sandbox does not work on this machine: its process did not come up in 0.001 s.',
  });
});

test('a runner that takes too much memory is killed during a run, which ends with memory-limit, and not while it is idle', async () => {
  const runner = startRunner({ watchedMemory: 1 });
  await runner.ready;
  runner.enforceMemoryLimit();
  assert.equal(runner.isUsable, true);
  const watch = setInterval(() => runner.enforceMemoryLimit(), 1);
  try {
    assert.equal(errorCodeOf(await runner.run(looping, '')), 'memory-limit');
  } finally {
    clearInterval(watch);
  }
});

/** For the tests that leave it as they found it. */
const usable = startRunner();

test('a runner requests a program again that it has dropped', async () => {
  let loads = 0;
  const large = (name: string) => {
    const program = script(
      `const name = "${name}"; // ${'x'.repeat(1e6)}\n${running('return name + input;')}`,
    );
    return { hash: program.hash, isTyped: false, load: () => ((loads += 1), program.load()) };
  };
  const programs = Array.from({ length: 8 }, (_, i) => large(`p${i}`));
  for (const round of ['a', 'b']) {
    for (const [i, program] of programs.entries()) {
      assert.deepEqual(await usable.run(program, round), { result: `p${i}${round}`, logs: [] });
    }
  }
  assert.ok(loads > programs.length && loads <= 2 * programs.length, `${loads} loads`);
});

test('a program is loaded once for many runs', async () => {
  let loads = 0;
  const program = { ...looping, ...script(running('return input;')) };
  const counted = { hash: program.hash, isTyped: false, load: () => ((loads += 1), program.load()) };
  for (let i = 0; i < 20; i++) await usable.run(counted, `${i}`);
  assert.equal(loads, 1);
});

test(
  'a runner has no environment variables and no child processes',
  { skip: process.platform !== 'linux' },
  async () => {
    await usable.ready;
    const variables = readFileSync(`/proc/${usable.pid}/environ`, 'utf8');
    assert.equal(variables, '');
    const tasks = readdirSync(`/proc/${usable.pid}/task`);
    for (const task of tasks) {
      assert.equal(readFileSync(`/proc/${usable.pid}/task/${task}/children`, 'utf8'), '');
    }
  },
);
