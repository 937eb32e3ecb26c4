import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { RunErrorCode } from '../../../service/src/sandbox/outcome.ts';
import type { StoredProgram } from '../../../service/src/plugins/program.ts';
import { Sandbox } from '../../../service/src/sandbox/sandbox.ts';
import { running } from '../../service/plugin.ts';
import { allocate, echo, memory, moduleOf, pin } from './assembly.ts';
import { inTime, script } from './target.ts';

const others = [
  moduleOf(memory, allocate, pin, echo),
  script(running('return input + [1, 2].map((n) => n * 2);')),
];

const locals = 32_768;
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
  // The compiler keeps a state of all variables for each block.
  'a function with as many variables as there may be': moduleOf(
    memory,
    allocate,
    pin,
    `(func (export "run") (param i32) (result i32)
      ${Array.from({ length: locals }, (_, i) => `(local $l${i} i32)`).join('')}
      ${Array.from({ length: locals }, (_, i) => `(local.set $l${i} (block $b${i} (result i32) (br $b${i} (i32.add (local.get $l${(i * 7919) % locals}) (local.get 0)))))`).join('')}
      (local.get $l1))`,
  ),
};

// By the sandbox, which watches what its runners hold.
const sandbox = new Sandbox();
after(() => sandbox.close());
const runFor = (tenant: string, program: StoredProgram) =>
  sandbox.run({ program, input: 'in', share: { environment: tenant, tenant, token: '' } });

for (const [what, program] of Object.entries(huge)) {
  test(`${what}: the run is ended, and the next is answered`, async () => {
    const outcome = await runFor('attacker', program);
    const ends: (RunErrorCode | undefined)[] = [
      'memory-limit',
      'time-limit',
      'runner-crashed',
      'module-limit',
    ];
    assert.ok(ends.includes('error' in outcome ? outcome.error.code : undefined), JSON.stringify(outcome));
    for (const next of others) assert.ok('result' in (await inTime(() => runFor('other', next))));
  });
}
