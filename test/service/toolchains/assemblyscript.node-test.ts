import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadedProgram } from '../../../service/src/plugins/program.ts';
import type { StoredProgram } from '../../../service/src/plugins/program.ts';
import { Sandbox } from '../../../service/src/sandbox/sandbox.ts';
import { mebibyte } from '../../../service/src/units.ts';
import { typedProgram } from '../typed-program.ts';
import { languages, owner, programOf, startBuilds } from './compiling.ts';

const {
  assertCompilerConfined,
  assertTemplateWorks,
  build,
  runProgram,
  run,
  assertProblems,
  assertSurvivesFlood,
} = startBuilds();

test('AssemblyScript: the template builds and passes its own tests', () =>
  assertTemplateWorks('assemblyscript'));

test("AssemblyScript: the compiler's process has no environment variables and no child processes", (t) =>
  assertCompilerConfined(t, 'assemblyscript'));

test('AssemblyScript: problems have their place, the signature of run among them', async () => {
  const good = 'export function run(input: string): string { return input; }';
  await assertProblems('assemblyscript', `${good}\nlet s = "é😀"; let n: i32 = s;`, [
    [2, 29, /not assignable to type 'i32'/],
  ]);
  await assertProblems('assemblyscript', '\nexport function run(input: string): i32 { return 1; }', [
    [2, 17, /from text to text/],
  ]);
  await assertProblems('assemblyscript', good.replace('return', 'JSON.parse(input); return'), [
    [1, 46, /^Cannot find name 'JSON'\. AssemblyScript has no JSON: take what you need out of the text/],
  ]);
  await assertProblems('assemblyscript', `import "fs";\n${good}`, [[1, 8, /not found/]]);
  await assertProblems(
    'assemblyscript',
    `declare function open(): i32;\n${good.replace('return', 'open(); return')}`,
    [[1, 1, /"plugin\.open"/]],
  );
});

test('AssemblyScript: text goes in and out unchanged, and logs are reported', async () => {
  const source =
    'export function run(input: string): string { console.log("é " + input); trace("n", 2, 1, 2.5); return input; }';
  const text = 'NUL \0, half \ud83d, whole 😀';
  assert.deepEqual(await run('assemblyscript', source, text), {
    result: text,
    logs: [`é ${text}`, 'n 1 2.5'],
  });
});

test('AssemblyScript: a plugin with types takes and returns text, which is JSON, as its template does', async () => {
  const typed = async (source: string) =>
    typedProgram(programOf(await build('assemblyscript', source)), {
      input: { type: 'object', required: ['name'] },
      output: { properties: { text: { type: 'string' } }, additionalProperties: false },
    });
  const errorOf = async (program: StoredProgram, input: string) => {
    const outcome = await runProgram(program, input);
    assert.ok('error' in outcome, JSON.stringify(outcome));
    return [outcome.error.code, outcome.error.path];
  };
  const source = (text: string) => `export function run(input: string): string { return ${text}; }`;
  const counting = await typed(source('\'{"text":"\' + input.length.toString() + \'"}\''));
  assert.deepEqual(await runProgram(counting, '{"name":"Ada"}'), { result: '{"text":"14"}', logs: [] });
  assert.deepEqual(await errorOf(counting, '{}'), ['invalid-input', '/name']);
  const echoing = await typed(source('input'));
  assert.deepEqual(await errorOf(echoing, '{"name":"Ada"}'), ['invalid-output', '/name']);
  const template = languages
    .get('assemblyscript')
    ?.typedTemplate({ output: '{"text": "Ada"}', declarations: '' });
  assert.deepEqual(await runProgram(await typed(template ?? ''), '{"name":"Ada"}'), {
    result: '{"text":"Ada"}',
    logs: [],
  });
});

test('AssemblyScript: each way in which a run can end has its error name', async () => {
  const source = `function deep(n: i32): i32 { return deep(n + 1) + 1; }
function deepText(s: string): string { return deepText(s + "1") + "2"; }
export function run(input: string): string {
  if (input == "throw") throw new Error("bad é");
  if (input == "memory") { const all: StaticArray<u8>[] = []; while (true) all.push(new StaticArray<u8>(1000000)); }
  if (input == "large") return new StaticArray<u8>(100000000).length.toString();
  if (input == "deep") return deep(1).toString();
  if (input == "deep text") return deepText("1");
  if (input == "pointer") return changetype<string>(12345678);
  if (input == "null") return changetype<string>(0);
  if (input == "trap") unreachable();
  if (input == "output") return "x".repeat(1048577);
  if (input == "logs") while (true) console.log("x".repeat(10000));
  return memory.grow(1000).toString();
}`;
  const program = programOf(await build('assemblyscript', source));
  const endOf = async (input: string) => {
    const outcome = await runProgram(loadedProgram(program), input);
    return 'error' in outcome ? outcome.error.code : outcome.result;
  };
  const expected = {
    throw: 'plugin-error',
    memory: 'memory-limit',
    large: 'memory-limit',
    deep: 'stack-limit',
    'deep text': 'stack-limit',
    pointer: 'plugin-error',
    null: 'plugin-error',
    trap: 'plugin-error',
    output: 'output-limit',
    logs: 'log-limit',
    other: '-1',
  };
  for (const [input, end] of Object.entries(expected)) assert.equal(await endOf(input), end, input);
  const outcome = await runProgram(loadedProgram(program), 'throw');
  assert.ok('error' in outcome);
  assert.match(outcome.error.message, /^Error: bad é\n    at plugin\.ts:4:25$/);
});

test('AssemblyScript: no instruction works on much memory at once, so that a run ends at its time limit', async () => {
  const source = `export function run(input: string): string {
  if (input == "features") return ASC_FEATURE_BULK_MEMORY.toString();
  memory.grow(400);
  for (;;) memory.fill(0, 1, <usize>memory.size() << 16);
  return input;
}`;
  const program = loadedProgram(programOf(await build('assemblyscript', source)));
  assert.deepEqual(await runProgram(program, 'features'), { result: 'false', logs: [] });
  const outcome = await runProgram(program, 'fill', 250);
  assert.equal('error' in outcome && outcome.error.code, 'time-limit');
});

test('AssemblyScript: a source that becomes a gigantic function is not built, and one that becomes a large one is', async () => {
  // 1.2 KB, of which each step doubles what is inlined into `run`.
  const doubling = (steps: number) =>
    [
      `@inline function f0(x: i32): i32 { ${'x = x * 31 + 7 ^ x; '.repeat(20)} return x }`,
      ...Array.from(
        { length: steps },
        (_, i) => `@inline function f${i + 1}(x: i32): i32 { return f${i}(x) + f${i}(x + 1) }`,
      ),
      `export function run(input: string): string { return f${steps}(input.length).toString() }`,
    ].join('\n');
  await assertProblems('assemblyscript', doubling(10), [
    [1, 1, /A function of the compiled plugin is too large/],
  ]);
  assert.ok('result' in (await run('assemblyscript', doubling(3), 'text')));
});

test('AssemblyScript: a larger limit of memory applies as to scripts', async (t) => {
  const sandbox = new Sandbox({ limits: { time: 60_000, memory: 128 * mebibyte } });
  t.after(() => sandbox.close());
  const compiled = await build(
    'assemblyscript',
    `export function run(input: string): string { return new Uint8Array(${64 * mebibyte}).length.toString(); }`,
  );
  const script = `export const run = () => String(new Uint8Array(${64 * mebibyte}).fill(1).length);`;
  for (const program of [programOf(compiled), { kind: 'script', code: script, file: 'plugin.js' } as const]) {
    const outcome = await sandbox.run({ program: loadedProgram(program), input: '', owner });
    assert.equal('result' in outcome && outcome.result, `${64 * mebibyte}`, JSON.stringify(outcome));
  }
});

test('AssemblyScript: source that the compiler fails on is a problem, and the next build has the same compiler', async () => {
  const good = 'export function run(input: string): string { return input; }';
  const first = programOf(await build('assemblyscript', good));
  for (const source of ['let a = [1,,2];', 'yield 1;', 'f<i32>();']) {
    const end = await build(
      'assemblyscript',
      `function f<T>(): void { f<Array<T>>(); }\n${good.replace('return', `${source} return`)}`,
    );
    assert.ok('compiled' in end && !end.compiled.program, JSON.stringify(end));
    assert.match(end.compiled.diagnostics.at(-1)?.message ?? '', /fails on this source/, source);
  }
  assert.deepEqual(programOf(await build('assemblyscript', good)), first);
});

test('AssemblyScript: source that floods or crashes the compiler fails alone, and the next build works', () =>
  assertSurvivesFlood('assemblyscript'));
