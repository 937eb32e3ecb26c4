import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import assemblyscript from '../../../service/src/toolchains/languages/assemblyscript.ts';
import type { LoggedOutcome } from '../../../service/src/sandbox/outcome.ts';
import { loadedProgram } from '../../../service/src/plugins/program.ts';
import type { StoredProgram } from '../../../service/src/plugins/program.ts';
import { running } from '../../service/plugin.ts';
import { textTypes } from '../../../service/src/toolchains/types/declarations.ts';
import { script, startTarget } from './target.ts';
import type { Attack, Expected, Neighbour } from './target.ts';

const compile = await assemblyscript.loadCompiler();

async function programOf(source: string): Promise<StoredProgram> {
  const { program, diagnostics } = await compile(source, textTypes);
  assert.ok(program, JSON.stringify(diagnostics));
  return loadedProgram(program);
}

/** A block of memory with the header of a string: what the runtime keeps in front of each object. */
const forging = `
function forge(at: usize, id: u32, size: u32): string {
  store<u32>(at - 8, id);
  store<u32>(at - 4, size);
  return changetype<string>(at);
}
const room: usize = memory.data(4096);
function lastByte(): usize { return (<usize>memory.size() << 16) - 1; }
`;

const notString = {
  error: 'plugin-error',
  message: /^The plugin gave something that is not a string/,
} as const;
const notWhole = { error: 'plugin-error', message: /^The plugin gave a string that is not whole/ } as const;
const outOfBounds = { error: 'plugin-error', message: /^RuntimeError: memory access out of bounds/ } as const;

/** What \`run\` does for an input, with what that comes to. */
const cases: Record<string, readonly [body: string, expected: Expected, logs?: readonly string[]]> = {
  'a pointer to nothing, returned': ['return changetype<string>(0);', notString],
  'a pointer into the first header, returned': ['return changetype<string>(19);', notString],
  'an odd pointer, returned': ['return changetype<string>(changetype<usize>(input) + 1);', notString],
  'a pointer to another object, returned': [
    'return changetype<string>(changetype<usize>(new Array<i32>(4)));',
    notString,
  ],
  'a pointer to the middle of a string, returned': [
    'return changetype<string>(changetype<usize>("a longer text") + 8);',
    notString,
  ],
  'a pointer past the end, returned': ['return changetype<string>(lastByte() + 1);', notString],
  'the largest pointer, returned': ['return changetype<string>(0xfffffffe);', notString],
  'a string that says that it is longer than the memory, returned': [
    'return forge(room + 64, 2, 0xfffffffe);',
    notWhole,
  ],
  'a string that ends after the memory, returned': ['return forge(lastByte() - 7, 2, 10);', notWhole],
  'a string that ends with the memory, returned': [
    'store<u64>(lastByte() - 7, 0x0064_0063_0062_0061); return forge(lastByte() - 7, 2, 8);',
    'abcd',
  ],
  'a string of an odd size, returned': [
    'const text = forge(room + 64, 2, 3); store<u16>(room + 64, 0x61); return text;',
    'a',
  ],
  'a string of another kind, returned': ['return forge(room + 64, 1, 4);', notString],
  'a string that is more than an answer may be, returned': [
    'memory.grow(100); return forge(1 << 20, 2, 4 << 20);',
    { error: 'output-limit' },
  ],
  'the input, made longer': ['return forge(changetype<usize>(input), 2, 0x7ffffffe);', notWhole],
  'halves of pairs': [
    'return String.fromCharCode(0xd800) + String.fromCharCode(0xdc00) + String.fromCharCode(0xd800);',
    '\ud800\udc00\ud800',
  ],
  'a pointer to nothing, logged': ['console.log(changetype<string>(0)); return input;', notString],
  'a string that is longer than the memory, logged': [
    'console.warn(forge(room + 64, 2, 0xfffffffe)); return input;',
    notWhole,
  ],
  'a string that is more than logs may be': [
    'memory.grow(100); console.log(forge(1 << 20, 2, 4 << 20)); return input;',
    { error: 'log-limit' },
  ],
  'a pointer to nothing, traced': [
    'trace(changetype<string>(8), 5, 1, 2, 3, 4, 5); return input;',
    notString,
  ],
  'a count of traced numbers that there are not': [
    'trace("text", -1, 1); trace("text", 100, 1, 2); return input;',
    'in',
    ['text 1 0 0 0', 'text 1 2 0 0 0'],
  ],
  'a pointer to nothing as the reason to end': ['abort(changetype<string>(8)); return input;', notString],
  'no reason to end': [
    'abort(changetype<string>(0), changetype<string>(0)); return input;',
    { error: 'plugin-error', message: /^Error: The plugin ended itself\.$/ },
  ],
  'a forged file of the reason to end': [
    'abort("mine", forge(room + 64, 2, 0xfffffff0)); return input;',
    notWhole,
  ],
  'a read past the end': ['return load<u8>(lastByte() + 1).toString();', outOfBounds],
  'a read at the largest place': ['return load<u64>(0xfffffff8).toString();', outOfBounds],
  'a write past the end': ['store<u64>(lastByte() - 3, 1); return input;', outOfBounds],
  'a copy past the end': ['memory.copy(0, lastByte() - 10, 100); return input;', outOfBounds],
  'the whole memory, overwritten': [
    'memory.fill(0, 0xff, memory.size() << 16); return changetype<string>(64);',
    notString,
  ],
  'the lists of free blocks, overwritten': [
    'for (let at: usize = 0; at < (<usize>memory.size() << 16); at += 4) if (load<u32>(at) != 0) store<u32>(at, load<u32>(at) ^ 0x55); let all = ""; for (let i = 0; i < 1000; i++) all += i.toString(); return all.length.toString();',
    { error: ['plugin-error', 'memory-limit', 'stack-limit'] },
  ],
  'a block, given back twice': [
    'const at = heap.alloc(64); heap.free(at); heap.free(at); return input;',
    { error: 'plugin-error' },
  ],
  'a block that was never taken, given back': ['heap.free(room + 64); return input;', 'in'],
  'an object that is not managed, anywhere': [
    'return changetype<Anywhere>(0x7ffffff0).value.toString();',
    outOfBounds,
  ],
  'an element past the end of an array that is not checked': [
    'return unchecked(new StaticArray<u64>(1)[0x10000000]).toString();',
    outOfBounds,
  ],
  'an element past the end of an array': [
    'return new StaticArray<u64>(1)[2].toString();',
    { error: 'plugin-error', message: /^Error: Index out of range/ },
  ],
  'as much memory as there may be': [
    'const before = memory.size(); const grown = memory.grow(512 - before); store<u8>(lastByte(), 7); return (grown == before).toString() + load<u8>(lastByte()).toString() + memory.grow(1).toString();',
    'true7-1',
  ],
  'more memory than there may be': [
    'return [memory.grow(513), memory.grow(65536), memory.grow(-1)].join();',
    '-1,-1,-1',
  ],
  'a function of another signature': [
    'return changetype<(a: f64, b: f64) => f64>(changetype<usize>(double))(1, 2).toString();',
    { error: 'plugin-error', message: /^RuntimeError: .*signature mismatch/ },
  ],
  'a function that is not in the table': [
    'store<u32>(changetype<usize>(double), 9999); return double(1).toString();',
    { error: 'plugin-error', message: /^RuntimeError: table index is out of bounds/ },
  ],
  'an instruction that cannot be reached': [
    'unreachable(); return input;',
    { error: 'plugin-error', message: /^RuntimeError: unreachable/ },
  ],
  'a division by nothing': [
    'return (1 / (input.length - 2)).toString();',
    { error: 'plugin-error', message: /^RuntimeError: divide by zero/ },
  ],
  'a division with no result': [
    'return (i32.MIN_VALUE / (1 - input.length)).toString();',
    { error: 'plugin-error', message: /^RuntimeError: divide result unrepresentable/ },
  ],
  'a number that no whole number is near': ['return (<i32>(NaN * input.length)).toString();', /^-?\d+$/],
  'calls of itself': ['return deep(input.length).toString();', { error: 'stack-limit' }],
  'calls of itself by the table': ['return indirect(input.length).toString();', { error: 'stack-limit' }],
};

const names = Object.keys(cases);
const source = `${forging}
@unmanaged class Anywhere { value: u64; }
const double = (x: i32): i32 => x * 2;
function deep(n: i32): i32 { return n == 0 ? 0 : deep(n + 1) + 1; }
let self: (n: i32) => i32 = double;
const indirect = (n: i32): i32 => n == 0 ? 0 : self(n + 1) + 1;
self = indirect;
${names.map((name, i) => `function case${i}(input: string): string { ${cases[name]?.[0]} }`).join('\n')}
export function run(input: string): string {
  ${names.map((_, i) => `if (input == "${i}") return case${i}("in");`).join('\n  ')}
  return "run " + input + " " + seen();
}
function seen(): string {
  // All that is not zero, apart from what the module itself has put there.
  let sum: u64 = 0;
  for (let at: usize = heap.alloc(16) + 16; at < (<usize>memory.size() << 16); at += 8) sum |= load<u64>(at);
  return sum.toString() + " " + memory.size().toString();
}
`;
const program = await programOf(source);
const neighbours = (): Neighbour[] => [
  { program, input: 'of another' },
  { program: script(running('return input + [1, 2].map((n) => n * 2);')), input: 'of another' },
];
const { run, assertUnharmed, testAttacks } = startTarget(neighbours);

describe('programs in AssemblyScript that forge and overrun pointers stay within their own memory', () => {
  testAttacks(
    Object.fromEntries(
      Object.entries(cases).map(([name, [, expected, logs]], i): [string, Attack] => [
        `${name}: only the run itself is affected`,
        [program, expected, logs, `${i}`],
      ]),
    ),
  );
});

const resultOf = (outcome: LoggedOutcome): string => {
  assert.ok('result' in outcome, JSON.stringify(outcome));
  return outcome.result;
};

const memorySource = `
/** The memory that the module itself has put nothing into. */
function free(): usize { return (heap.alloc(65536) + 65536 + 7) & ~7; }
function end(): usize { return <usize>memory.size() << 16; }
export function run(input: string): string {
  memory.grow(512 - memory.size());
  let found: u32 = 0;
  for (let at = free(); at < end(); at += 8) {
    if (load<u64>(at) == 0xa7a7a7a7a7a7a7a7) found++;
  }
  if (input.length > 0) memory.fill(free(), 0xa7, end() - free());
  if (input == "trap") unreachable();
  return found.toString();
}`;

test('memory that a module allocates holds nothing of an earlier run', async () => {
  const searching = await programOf(memorySource);
  for (const how of ['answer', 'trap']) {
    const outcome = await run(searching, how);
    assert.equal(
      'result' in outcome ? outcome.result : outcome.error.code,
      how === 'trap' ? 'plugin-error' : '0',
    );
    assert.equal(resultOf(await run(searching)), '0');
    assert.equal(
      resultOf(await run(script(running('return String(new Uint8Array(3e6).includes(0xa7));')))),
      'false',
    );
  }
  // And none of what a script had in its memory.
  await run(
    script(running(`const all = []; try { for (;;) all.push(new Uint8Array(1e5).fill(0xa7)); } catch {}`)),
  );
  assert.equal(resultOf(await run(searching)), '0');
  await assertUnharmed();
});

test('the variables and random numbers of a module keep nothing of a run', async () => {
  const counting = await programOf(`
    let count = 0;
    const kept: string[] = [];
    const first = Math.random();
    export function run(input: string): string {
      kept.push(input);
      return (++count).toString() + " " + kept.length.toString() + " " + first.toString() + " " + Math.random().toString() + " " + Math.random().toString();
    }`);
  const numbers = new Set<string>();
  for (let i = 0; i < 50; i++) {
    const [count, kept, ...random] = resultOf(await run(counting, 'x')).split(' ');
    assert.deepEqual([count, kept, random.length], ['1', '1', 3]);
    for (const number of random) numbers.add(number);
  }
  assert.equal(numbers.size, 150);
});

test('the seed of the random numbers can be any number of 52 bits', async () => {
  const seeding = await programOf(`
    @external("env", "seed") declare function seed(): f64;
    export function run(input: string): string { return (<u64>seed()).toString(); }`);
  let everSet = 0n;
  let everClear = 0n;
  for (let i = 0; i < 64; i++) {
    const seed = BigInt(resultOf(await run(seeding)));
    everSet |= seed;
    everClear |= ~seed;
  }
  const bits = (1n << 52n) - 1n;
  assert.deepEqual([everSet, everClear & bits], [bits, bits]);
});

test('code that a module runs at its start meets the same limits', async () => {
  const ends: Record<string, RegExp> = {
    'const all = changetype<string>(4).length;': /^$|plugin-error/,
    'unreachable();': /plugin-error/,
    'abort("early");': /plugin-error/,
    'memory.grow(100000); const all = new StaticArray<u8>(100000000);': /memory-limit/,
    'for (;;) console.log("text");': /log-limit/,
    'function deep(n: i32): i32 { return deep(n + 1) + 1; } const all = deep(1);': /stack-limit/,
  };
  for (const [code, expected] of Object.entries(ends)) {
    const early = await programOf(`${code}\nexport function run(input: string): string { return ""; }`);
    const outcome = await run(early);
    assert.match('error' in outcome ? outcome.error.code : outcome.result, expected, code);
  }
  await assertUnharmed();
});

const good = 'export function run(input: string): string {';
const refused: Record<string, string> = {
  'a function of the environment': `@external("env", "open") declare function open(path: string): i32;\n${good} return open(input).toString(); }`,
  'a function of another module': `@external("wasi_snapshot_preview1", "fd_write") declare function write(a: i32, b: i32, c: i32, d: i32): i32;\n${good} return write(1, 0, 0, 0).toString(); }`,
  'a variable of the environment': `@external("env", "secret") declare const secret: i32;\n${good} return secret.toString(); }`,
  'a function that has no name': `@external("", "") declare function nameless(): i32;\n${good} return nameless().toString(); }`,
  'a function of the prototypes': `@external("env", "constructor") declare function make(text: string): i32;\n${good} return make(input).toString(); }`,
  'what objects have': `@external("__proto__", "toString") declare function text(): i32;\n${good} return text().toString(); }`,
  'the end of the process': `${good} process.exit(1); return input; }`,
  'a file': `import { readFileSync } from "fs";\n${good} return readFileSync(input); }`,
  'a process': `${good} return process.argv[0] + process.env.toString(); }`,
};

for (const [what, foreign] of Object.entries(refused)) {
  test(`a module is not built with ${what}`, async () => {
    const { program: built, diagnostics } = await compile(foreign, textTypes);
    assert.equal(built, undefined);
    assert.ok(diagnostics.some(({ severity }) => severity === 'error'));
  });
}
