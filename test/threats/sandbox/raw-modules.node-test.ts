import { describe } from 'node:test';
import { loadedProgram } from '../../../service/src/plugins/program.ts';
import { running } from '../../service/plugin.ts';
import { allocate, echo, memory, moduleOf, pin, raw } from './assembly.ts';
import { script, startTarget } from './target.ts';
import type { Attack, Expected, Neighbour } from './target.ts';

/*
 * Modules that the compiler would not have made, as they could come from a store that somebody has written to.
 */

const failed = (message: RegExp): Expected => ({ error: 'plugin-error', message });
const notString = failed(/^The plugin gave something that is not a string/);
const foreign = failed(/^Error: The module imports /);
const notLinked = failed(/^LinkError: /);
const invalid = failed(/^CompileError: /);

const neighbours = (): Neighbour[] => [
  { program: moduleOf(memory, allocate, pin, echo), input: 'an' },
  { program: script(running('return input + [1, 2].map((n) => n * 2);')), input: 'of another' },
];
const { testAttacks } = startTarget(neighbours);

/** `run`s that answer with something else than a pointer. */
const results = {
  nothing: ['', ''],
  'a whole number of 64 bits': ['i64', '(i64.const 1024)'],
  'a number with a fraction': ['f64', '(f64.const 1024.5)'],
  'no number': ['f64', '(f64.const nan)'],
  'a number without an end': ['f64', '(f64.const inf)'],
  'a number below zero': ['i32', '(i32.const -2)'],
  'a reference to a function': ['funcref', '(ref.func $f)'],
  'no reference': ['externref', '(ref.null extern)'],
  'two numbers': ['i32 i32', '(i32.const 1024) (i32.const 1024)'],
} as const;

describe('modules that return no text', () => {
  testAttacks(
    Object.fromEntries(
      Object.entries(results).map(([what, [type, value]]): [string, Attack] => [
        `a run that returns ${what} ends with an error`,
        [
          moduleOf(
            memory,
            allocate,
            pin,
            '(elem declare func $f) (func $f)',
            `(func (export "run") (param i32) ${type && `(result ${type})`} ${value})`,
          ),
          { error: 'plugin-error' },
        ],
      ]),
    ),
  );
});

const withMemory = (text: string) => moduleOf(text, allocate, pin, echo);

const withImport = (text: string) => moduleOf(text, allocate, pin, '(memory 16)', echo);

describe('modules that no compiler made meet the same limits', () => {
  testAttacks({
    'no bytes at all are no module': [raw(new Uint8Array()), invalid],
    'bytes that are no module are refused': [raw(Buffer.from('export function run() {}')), invalid],
    'a module that is cut off is refused': [
      raw(Buffer.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 127])),
      invalid,
    ],
    'a module of another version is refused': [raw(Buffer.from([0, 0x61, 0x73, 0x6d, 2, 0, 0, 0])), invalid],
    'a module that says that it has billions of functions is refused': [
      raw(Buffer.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 5, 0xff, 0xff, 0xff, 0xff, 0x0f])),
      invalid,
    ],
    'text that is no base64 is no module': [loadedProgram({ kind: 'wasm', module: '***' }), invalid],
    'a module with nothing in it has no run': [
      raw(Buffer.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0])),
      failed(/^TypeError: /),
    ],
    'a module without a run is refused': [moduleOf(memory, allocate, pin), failed(/^TypeError: /)],
    'a module without its runtime is refused': [moduleOf(memory, echo), failed(/^TypeError: /)],
    'a run that is a variable is refused': [
      moduleOf(memory, allocate, pin, '(global (export "run") i32 (i32.const 1))'),
      failed(/^TypeError: /),
    ],
    'a run that is a memory is refused': [
      moduleOf('(memory (export "run") 1)', allocate, pin),
      failed(/^TypeError: /),
    ],
    'a run that is a table is refused': [
      moduleOf(memory, allocate, pin, '(table (export "run") 1 funcref)'),
      failed(/^TypeError: /),
    ],
    'a run that takes whole numbers of 64 bits is refused': [
      moduleOf(memory, allocate, pin, '(func (export "run") (param i64) (result i32) (i32.const 1024))'),
      failed(/^TypeError: .*BigInt/),
    ],
    'a run that takes references gets a number': [
      moduleOf(
        memory,
        allocate,
        pin,
        '(func (export "run") (param externref) (result externref) (local.get 0))',
      ),
      notString,
    ],
    'a run that takes more than it is given gets nothing for it': [
      moduleOf(
        memory,
        allocate,
        pin,
        '(func (export "run") (param i32 externref f64) (result externref) (local.get 1))',
      ),
      notString,
    ],
    "the service's own function as the run is no more than that": [
      moduleOf(
        '(import "env" "abort" (func $abort (param i32 i32 i32 i32)))',
        memory,
        allocate,
        pin,
        '(export "run" (func $abort))',
      ),
      notString,
    ],
    "the service's own function as the allocation is no more than that": [
      moduleOf(
        '(import "env" "Date.now" (func $now (result f64)))',
        memory,
        pin,
        echo,
        '(export "__new" (func $now))',
      ),
      failed(/^(?:RangeError|RuntimeError|TypeError)/),
    ],
    'an allocation outside of the memory is refused': [
      moduleOf(
        memory,
        '(func (export "__new") (param i32 i32) (result i32) (i32.const 0x7ffffffe))',
        pin,
        echo,
      ),
      failed(/^RangeError: /),
    ],
    'an allocation below zero is refused': [
      moduleOf(memory, '(func (export "__new") (param i32 i32) (result i32) (i32.const -2))', pin, echo),
      failed(/^RangeError: /),
    ],
    'an allocation at an odd place is refused': [
      moduleOf(memory, '(func (export "__new") (param i32 i32) (result i32) (i32.const 1025))', pin, echo),
      failed(/^RangeError: /),
    ],
    'an allocation that makes the memory grow is written to where it is': [
      moduleOf(
        memory,
        '(func (export "__new") (param i32 i32) (result i32) (drop (memory.grow (i32.const 400))) (i32.const 20971520))',
        pin,
        '(func (export "run") (param i32) (result i32) (i32.store (i32.const 20971512) (i32.const 2)) (i32.store (i32.const 20971516) (i32.const 4)) (local.get 0))',
      ),
      'in',
    ],
    'an exception of the module is an error': [
      moduleOf(
        memory,
        allocate,
        pin,
        '(tag $t (param i32))',
        '(func (export "run") (param i32) (result i32) (throw $t (i32.const 1)))',
      ),
      failed(/./),
    ],
    'a start that traps is an error': [
      moduleOf(memory, allocate, pin, echo, '(func $start unreachable) (start $start)'),
      failed(/^RuntimeError: unreachable/),
    ],
    'a memory of its own is not what the host reads': [withMemory('(memory 16)'), notString],
    'a memory with the name of the imported one is not what the host reads': [
      withMemory('(memory (export "memory") 16)'),
      notString,
    ],
    'a memory that is shared is refused': [
      withMemory('(import "env" "memory" (memory 16 512 shared))'),
      notLinked,
    ],
    'a memory that is larger at its start is refused': [
      withMemory('(import "env" "memory" (memory 17 512))'),
      notLinked,
    ],
    'a memory that may become less is refused': [
      withMemory('(import "env" "memory" (memory 1 100))'),
      notLinked,
    ],
    'a memory of 64 bits is refused': [
      withMemory('(import "env" "memory" (memory i64 16 512))'),
      { error: 'plugin-error' },
    ],
    'a memory as a function is refused': [
      withImport('(import "env" "memory" (func))'),
      failed(/^(?:LinkError|TypeError): /),
    ],
    'a memory as a variable is refused': [
      withImport('(import "env" "memory" (global i32))'),
      failed(/^(?:LinkError|TypeError): /),
    ],
    'a function as a memory is refused': [
      withMemory('(import "env" "abort" (memory 1))'),
      failed(/^(?:LinkError|TypeError): /),
    ],
    'a function with another signature is called as it is': [
      moduleOf(
        '(import "env" "seed" (func $seed (param i32 i64) (result i32)))',
        memory,
        allocate,
        pin,
        echo,
        '(func $start (drop (call $seed (i32.const 1) (i64.const 1)))) (start $start)',
      ),
      'in',
    ],
    'logs of what is no pointer are refused': [
      moduleOf(
        '(import "env" "console.log" (func $log (param i64)))',
        memory,
        allocate,
        pin,
        '(func (export "run") (param i32) (result i32) (call $log (i64.const 1)) (local.get 0))',
      ),
      failed(/^TypeError: /),
    ],
    'a function of another module is refused': [
      withImport('(import "wasi_snapshot_preview1" "fd_write" (func (param i32 i32 i32 i32) (result i32)))'),
      foreign,
    ],
    'a function that there is not is refused': [withImport('(import "env" "open" (func))'), foreign],
    'a function of the prototypes is refused': [withImport('(import "env" "constructor" (func))'), foreign],
    'the prototype itself is refused': [withImport('(import "env" "__proto__" (global externref))'), foreign],
    'names that together are an allowed one are refused': [
      withImport('(import "env.console" "log" (func (param i32)))'),
      failed(/^TypeError: /),
    ],
    "the engine's own functions for texts are refused": [
      withImport('(import "wasm:js-string" "length" (func (param externref) (result i32)))'),
      foreign,
    ],
    "a function of the exports with the name of a limit is the plugin's own": [
      moduleOf(
        memory,
        allocate,
        pin,
        '(func $growMemory unreachable)',
        '(func (export "run") (param i32) (result i32) (call $growMemory) (local.get 0))',
      ),
      { error: ['plugin-error', 'memory-limit'] },
    ],
    'a loop in the start is ended': [
      moduleOf(memory, allocate, pin, echo, '(func $start (loop $l (br $l))) (start $start)'),
      { error: 'time-limit' },
    ],
    'a loop of instructions that write all the memory is ended': [
      moduleOf(
        memory,
        allocate,
        pin,
        '(func (export "run") (param i32) (result i32) (drop (memory.grow (i32.const 400))) (loop $l (memory.fill (i32.const 0) (i32.const 1) (i32.shl (memory.size) (i32.const 16))) (br $l)) (i32.const 0))',
      ),
      { error: 'time-limit' },
    ],
    'calls without end by the table are ended': [
      moduleOf(
        memory,
        allocate,
        pin,
        '(type $t (func (param i32) (result i32))) (table 1 funcref) (elem (i32.const 0) $run)',
        '(func $run (export "run") (param i32) (result i32) (i32.add (i32.const 1) (call_indirect (type $t) (local.get 0) (i32.const 0))))',
      ),
      { error: 'stack-limit' },
    ],
    'a table of millions is no memory of the machine': [
      moduleOf(
        memory,
        allocate,
        pin,
        echo,
        '(table $t 1 funcref) (func $start (drop (table.grow $t (ref.null func) (i32.const 9000000)))) (start $start)',
      ),
      { error: ['runner-crashed', 'plugin-error', 'memory-limit'] },
    ],
  });
});

const tooLarge = { error: 'module-limit', message: /is too large/ } as const;
const answering = '(func (export "run") (param i32) (result i32) (local.get 0))';
const manyVariables = Array.from({ length: 5000 }, (_, i) => `(local $l${i} i32)`).join('');
const array = '(type $a (array (mut i64)))';

// A type that takes more than one byte shifts what comes after it, for a check that does not know it.
describe('modules that hide their size meet the same limits', () => {
  testAttacks({
    'variables are counted after one of a type of the module': [
      moduleOf(
        memory,
        allocate,
        pin,
        array,
        answering,
        `(func (local (ref null $a)) ${manyVariables} (local.set $l1 (i32.const 1)))`,
      ),
      tooLarge,
    ],
    'variables are counted after parameters of a type of the module': [
      moduleOf(
        memory,
        allocate,
        pin,
        array,
        '(func (param (ref null $a) (ref $a)))',
        answering,
        `(func ${manyVariables} (local.set $l1 (i32.const 1)))`,
      ),
      tooLarge,
    ],
    'variables are counted in a module with groups of types': [
      moduleOf(
        memory,
        allocate,
        pin,
        '(rec (type $b (struct)) (type $c (func (param (ref null $b)))))',
        '(func (type $c))',
        answering,
        `(func ${manyVariables} (local.set $l1 (i32.const 1)))`,
      ),
      tooLarge,
    ],
    'tables are counted after one of a type of the module': [
      moduleOf(
        memory,
        allocate,
        pin,
        answering,
        '(type $f (func)) (table 1 (ref null $f)) (table 5000000 funcref)',
      ),
      tooLarge,
    ],
    // Two tables: one that says what it is filled with, and one of five million entries.
    'what the check cannot read, and the engine can, is refused': [
      raw(Buffer.from('0061736d01000000040f024000700001d0700b7000c096b102', 'hex')),
      { error: 'module-limit', message: /parts of a kind that plugins cannot have/ },
    ],
  });
});
