import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { loadedProgram, type StoredProgram } from '../../../service/src/plugins/program.ts';
import { Logs } from '../../../service/src/sandbox/logs.ts';
import type { RunErrorCode } from '../../../service/src/sandbox/outcome.ts';
import { type AdjustableLimits, defaultLimits } from '../../../service/src/sandbox/run-limits.ts';
import { RunnerProcess } from '../../../service/src/sandbox/runner-process.ts';
import { Sandbox } from '../../../service/src/sandbox/sandbox.ts';
import { ScriptRunner } from '../../../service/src/sandbox/script/script-runner.ts';
import { running } from '../../service/plugin.ts';
import { allocate, echo, memory, moduleOf, pin } from './assembly.ts';
import { patient, script } from './target.ts';

const isWatched = process.platform === 'linux';

test('a runner that holds much memory after a run is not used again', { skip: !isWatched }, async () => {
  const runner = new RunnerProcess({ recycleMemory: 1, limits: patient });
  after(() => runner.close());
  const program = script(running('const end = Date.now() + 20; while (Date.now() < end); return "fine";'));
  assert.deepEqual(await runner.run(program, ''), { result: 'fine', logs: [] });
  assert.equal(runner.isUsable, false);
});

const kept: Record<string, (i: number) => string> = {
  'long logs of its top level': (i) => `console.log("${i}" + "x".repeat(1e6));\n${running('return "";')}`,
  'many logs of its top level': (i) =>
    `for (let i = 0; i < 3000; i++) console.log("${i}" + "x".repeat(330));\n${running('return "";')}`,
  'a state of many small changes': (i) =>
    `const all = new Uint8Array(2e6); for (let at = 0; at < 2e6; at += 512) all[at] = ${i + 1};\n${running('return "";')}`,
};

for (const [what, codeOf] of Object.entries(kept)) {
  test(`a runner keeps few programs of which it has to keep ${what}`, async () => {
    const runner = new ScriptRunner();
    const programs = Array.from({ length: 12 }, (_, i) =>
      loadedProgram({ kind: 'script', code: codeOf(i), file: 'plugin.js' }),
    );
    for (const stored of programs) {
      const program = await stored.load();
      assert.ok(program.kind === 'script');
      // By then it has an engine that is large enough, and its state is kept.
      for (let i = 0; i < 3; i++) {
        const deadline = performance.now() + 10_000;
        const end = await runner.run({ hash: stored.hash, program, deadline, logs: new Logs(() => {}) }, '');
        assert.deepEqual(end, { result: '' });
      }
    }
    const known = programs.filter(({ hash }) => runner.has(hash)).length;
    assert.ok(known >= 1 && known <= 8, `${known}`);
  });
}

// It watches what its runners hold. Only an attack has the default limits.
const sandbox = new Sandbox({ limits: patient });
after(() => sandbox.close());
const runFor = (tenant: string, program: StoredProgram, limits?: AdjustableLimits) =>
  sandbox.run({ program, input: 'in', owner: { environment: tenant, tenant, token: '' }, limits });

const others = [
  moduleOf(memory, allocate, pin, echo),
  script(running('return input + [1, 2].map((n) => n * 2);')),
];

const huge: Record<string, StoredProgram> = {
  'a memory of its own of gigabytes': moduleOf(
    '(memory $own 1 65536)',
    allocate,
    pin,
    `(func (export "run") (param i32) (result i32) (local $pages i32)
      (loop $l
        (local.set $pages (memory.size))
        (drop (memory.grow (i32.const 256)))
        (memory.fill (i32.shl (local.get $pages) (i32.const 16)) (i32.const 7) (i32.const 0x1000000))
        (br $l))
      (i32.const 0))`,
  ),
  'tables that grow': moduleOf(
    memory,
    allocate,
    pin,
    ...Array.from({ length: 50 }, (_, i) => `(table $t${i} 1 funcref)`),
    `(func $f (export "run") (param i32) (result i32)
      ${Array.from({ length: 50 }, (_, i) => `(drop (table.grow $t${i} (ref.func $f) (i32.const 5000000)))`).join('')}
      (i32.const 0))`,
  ),
  'arrays of the collected heap': moduleOf(
    memory,
    allocate,
    pin,
    '(type $a (array (mut i64))) (type $l (array (mut (ref null $a))))',
    `(func (export "run") (param i32) (result i32) (local $all (ref null $l)) (local $i i32)
      (local.set $all (array.new_default $l (i32.const 1000)))
      (loop $next
        (array.set $l (local.get $all) (local.get $i) (array.new $a (i64.const 7) (i32.const 1000000)))
        (local.set $i (i32.add (local.get $i) (i32.const 1)))
        (br_if $next (i32.lt_u (local.get $i) (i32.const 1000))))
      (i32.const 0))`,
  ),
};

for (const [what, program] of Object.entries(huge)) {
  test(`${what}: the run is ended, and the next is answered`, async () => {
    const outcome = await runFor('attacker', program, defaultLimits);
    const ends: (RunErrorCode | undefined)[] = ['memory-limit', 'time-limit', 'runner-crashed'];
    assert.ok(ends.includes('error' in outcome ? outcome.error.code : undefined), JSON.stringify(outcome));
    for (const next of others) assert.ok('result' in (await runFor('other', next)));
  });
}
