import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { Builds } from '../../../service/src/toolchains/build/builds.ts';
import { CompilerProcess } from '../../../service/src/toolchains/build/compiler-process.ts';
import type { BuildEnd } from '../../../service/src/toolchains/build/limits.ts';
import { loadLanguages } from '../../../service/src/toolchains/languages.ts';
import { loadedProgram } from '../../../service/src/plugins/program.ts';
import { systemTools } from '../../../service/src/processes/system-tools.ts';
import { Sandbox } from '../../../service/src/sandbox/sandbox.ts';

const languages = loadLanguages();

const builds = new Builds(languages);
const sandbox = new Sandbox();
after(async () => {
  builds.close();
  await sandbox.close();
});

const share = { environment: 'com.acme', tenant: 't1', token: '' };
const build = (lang: string, source: string) => builds.build(lang, { source, share });
const found = (end: BuildEnd) =>
  'compiled' in end
    ? end.compiled.diagnostics.map(({ line, column, message }) => [line, column, message] as const)
    : [];
const programOf = (end: BuildEnd) => {
  const program = 'compiled' in end ? end.compiled.program : undefined;
  assert.ok(program, JSON.stringify(end));
  return program;
};
const run = async (lang: string, source: string, input = '') =>
  sandbox.run({ program: loadedProgram(programOf(await build(lang, source))), input, share });
const errorOf = async (lang: string, source: string, input = '') => {
  const outcome = await run(lang, source, input);
  assert.ok('error' in outcome, JSON.stringify(outcome));
  return outcome.error;
};

/** Asserts that a build fails with exactly these places and messages. */
async function fails(
  lang: string,
  source: string,
  expected: [line: number, column: number, message: RegExp][],
) {
  const end = await build(lang, source);
  assert.ok(!('compiled' in end) || !end.compiled.program, `This was built: ${source}`);
  const actual = found(end);
  assert.deepEqual(
    actual.map(([line, column]) => [line, column]),
    expected.map(([line, column]) => [line, column]),
    JSON.stringify(actual),
  );
  for (const [i, [, , message]] of expected.entries()) assert.match(actual[i]?.[2] ?? '', message);
}

test('JavaScript: problems have their place, with columns in UTF-16 from 1', async () => {
  await fails('javascript', 'let s = "é😀"; let x = ;', [[1, 24, /Unexpected token/]]);
  await fails('javascript', '\r\n\nlet x = ;', [[3, 9, /Unexpected token/]]);
  await fails('javascript', 'let a;\n  let a;\nexport const run = () => "";', [
    [2, 7, /already been declared/],
  ]);
  await fails('javascript', 'export const x = 1;', [[1, 1, /exports a function named "run"/]]);
  await fails('javascript', '\nimport "fs";\nexport const run = () => import("x");\nexport * from "y";', [
    [2, 1, /cannot import/],
    [3, 26, /cannot import/],
    [4, 1, /cannot import/],
  ]);
  await fails('javascript', 'export const run = () => "";\n\n  @sealed class A {}', [[3, 3, /./]]);
});

/** What is found in a source, with how much it weighs, and whether it was built all the same. */
async function foundIn(lang: string, source: string) {
  const end = await build(lang, source);
  assert.ok('compiled' in end, JSON.stringify(end));
  const { diagnostics, program } = end.compiled;
  return {
    isBuilt: program !== undefined,
    found: diagnostics.map(({ line, column, severity, message }) => [line, column, severity, message]),
  };
}

const noNetwork = 'Plugins have no network: take what is needed from the input.';

test('JavaScript: unknown names fail the build, and misspelt methods are reported', async () => {
  const source = `export function run(input) {
  favorite(ordrs); input.trimm(); JSON.parsee(1); fetch();
  return input;
}
`;
  assert.deepEqual(await foundIn('javascript', source), {
    isBuilt: false,
    found: [
      [2, 3, 'error', "Cannot find name 'favorite'."],
      [2, 12, 'error', "Cannot find name 'ordrs'."],
      [2, 26, 'warning', "Property 'trimm' does not exist on type 'string'. Did you mean 'trim'?"],
      [2, 40, 'warning', "Property 'parsee' does not exist on type 'JSON'. Did you mean 'parse'?"],
      [2, 51, 'error', `Cannot find name 'fetch'. ${noNetwork}`],
    ],
  });
});

test('JavaScript: problems of types are only warnings, and the plugin is built', async () => {
  const { isBuilt, found: all } = await foundIn(
    'javascript',
    'export const run = (input) => {\n  const n = input.length;\n  return n.toUpperCase();\n};',
  );
  assert.equal(isBuilt, true);
  assert.deepEqual(
    all.map(([line, column, severity]) => [line, column, severity]),
    [[3, 12, 'warning']],
  );
  assert.deepEqual(await foundIn('javascript', 'export const run = (input) => input.length;'), {
    isBuilt: true,
    found: [
      [
        1,
        14,
        'warning',
        `"run" must be a function from text to text, or to a promise of text. Type '(input: string) => number' is not assignable to type '(input: string) => string | Promise<string>'.
Type 'number' is not assignable to type 'string | Promise<string>'.`,
      ],
    ],
  });
});

test('JavaScript: code that is usual without types is no problem', async () => {
  const source = `// A comment.
/**
 * @param {string} input what the caller sent
 */
export async function run(input) {
  const state = { items: [], last: null };
  state.items.push(3);
  state.last = { a: 1 };
  const groups = {};
  for (const key of ['a', 'b']) {
    groups[key] = groups[key] || [];
    groups[key].push(key);
  }
  const match = /x/.exec(input);
  if (match) console.log(match[1], state.last.a);
  const data = JSON.parse(input || '{}');
  data.foo = data.bar?.baz;
  try {
    data.go();
  } catch (error) {
    console.error(error.message, error.code);
  }
  function add(a, b) {
    return a + b;
  }
  add(1);
  class Counter {
    constructor() {
      this.count = 0;
    }
    up() {
      return ++this.count;
    }
  }
  if (typeof fetch === 'function') throw new Error('There is a network.');
  globalThis.cache ??= new Counter();
  return String(cache.up());
}
`;
  assert.deepEqual(await foundIn('javascript', source), { isBuilt: true, found: [] });
});

test('a value that the libraries declare and the sandbox lacks is a problem where it is used, and nowhere else', async () => {
  const used = `export const run = (input) => {
  const price = new Intl.NumberFormat('de').format(Number(input));
  return price + Intl.DateTimeFormat().resolvedOptions().locale + Atomics.load(input, 0);
};`;
  const { isBuilt, found: all } = await foundIn('javascript', used);
  assert.equal(isBuilt, false);
  const named = all.filter(([, , , message]) => /'(?:Intl|Atomics)'/.test(String(message)));
  assert.deepEqual(
    named.map(([line, column, severity]) => [line, column, severity]),
    [
      [2, 21, 'error'],
      [3, 18, 'error'],
      [3, 67, 'error'],
    ],
  );
  assert.match(String(named[0]?.[3]), /^Cannot find name 'Intl'\. Plugins have no locales/);
  for (const body of [
    '// new Intl.NumberFormat("de")\n  return "new Intl.Collator()";',
    '// @ts-ignore\n  return new Intl.NumberFormat("de").format(1);',
    'const Intl = { now: () => "1" };\n  return Intl.now();',
    'return typeof Intl === "object" ? new Intl.NumberFormat("de").format(1) : "1";',
    'const options: Intl.NumberFormatOptions = {};\n  return (1).toLocaleString("en", options);',
  ]) {
    const source = `export const run = (input: string): string => {\n  ${body}\n};`;
    assert.deepEqual(await foundIn('typescript', source), { isBuilt: true, found: [] }, body);
  }
});

test('everything that the sandbox adds to the language, and its newest features, can be used', async () => {
  const source = `export const run = (input: string): string => {
  const began = performance.now();
  const both = new Set([input]).union(new Set([btoa(input)]));
  return both.values().map((one) => atob(one)).toArray().join() + String(performance.now() - began);
};`;
  assert.deepEqual(await foundIn('typescript', source), { isBuilt: true, found: [] });
});

test('advice that no plugin can follow is reworded', async () => {
  for (const [lang, parameter] of [
    ['javascript', 'input'],
    ['typescript', 'input: string'],
  ] as const) {
    const { found: all } = await foundIn(
      lang,
      `export const run = (${parameter}) => {\n  process.exit();\n  document.title;\n  Buffer.from(input);\n  new Map().emplace();\n  return input;\n};`,
    );
    const messages = all.map(([, , , message]) => String(message));
    assert.deepEqual(messages.slice(0, 3), [
      "Cannot find name 'process'. Plugins do not run in Node.",
      "Cannot find name 'document'. Plugins do not run in a browser.",
      "Cannot find name 'Buffer'. Plugins do not run in Node.",
    ]);
    for (const message of messages)
      assert.doesNotMatch(message, /npm|tsconfig|compiler option|install/, message);
  }
  const imports = await foundIn(
    'typescript',
    'import fs from "fs";\nimport x from "./x";\nexport const run = () => fs + x;',
  );
  for (const [, , , message] of imports.found)
    assert.match(String(message), /^A plugin is one file: it cannot import/);
});

test('TypeScript: types are checked, the signature of run among them', async () => {
  const good = 'export function run(input: string): string { return input; }';
  await fails('typescript', `${good}\nconst s = "é😀"; const n: number = s;`, [
    [2, 24, /not assignable to type 'number'/],
  ]);
  await fails('typescript', '\nexport function run(input: number): string { return ""; }', [
    [2, 17, /from text to text/],
  ]);
  await fails('typescript', 'export const run = (input: string) => input.length;', [
    [1, 14, /from text to text/],
  ]);
  await fails('typescript', 'export const other = 1;', [[1, 1, /exports a function named "run"/]]);
  await fails('typescript', '', [[1, 1, /exports a function named "run"/]]);
  await fails('typescript', `${good}\nfetch("x"); process.exit();`, [
    [2, 1, /fetch/],
    [2, 13, /process/],
  ]);
  await fails('typescript', `let x = ;\n${good}`, [[1, 9, /Expression expected/]]);
  assert.equal(
    (await errorOf('typescript', good.replace('return input', 'console.log(input); throw null'))).code,
    'plugin-error',
  );
});

test('TypeScript: a build leaves nothing for the next one', async () => {
  await fails('typescript', 'export const x = 1;', [[1, 1, /./]]);
  const outcome = await run(
    'typescript',
    'export const run = async (input: string): Promise<string> => `${input}!`;',
    'a',
  );
  assert.deepEqual(outcome, { result: 'a!', logs: [] });
});

test('TypeScript: a stack trace has the lines of the source, also after lines that compile to nothing', async () => {
  const source = `interface Gone { a: string; }
enum Kind { One = 1 }

export function run(input: string): string {
  const text: string = "é😀"; throw new Error(input + Kind.One);
}
`;
  assert.match(
    (await errorOf('typescript', source, 'in')).message,
    /^Error: in1\n    at run \(plugin\.ts:5:\d+\)$/,
  );
});

test('TypeScript: an endless type fails the build, and the next build works', async () => {
  const source = `type Tuple<N extends number, R extends unknown[] = []> = R['length'] extends N ? R : Tuple<N, [...R, 1]>;
export const run = (input: string): string => { const t: Tuple<99999> = []; return input; };`;
  const end = await build('typescript', source);
  assert.ok(!('compiled' in end) || !end.compiled.program);
  programOf(await build('typescript', 'export const run = (input: string) => input;'));
});

test('AssemblyScript: problems have their place, the signature of run among them', async () => {
  const good = 'export function run(input: string): string { return input; }';
  await fails('assemblyscript', `${good}\nlet s = "é😀"; let n: i32 = s;`, [
    [2, 29, /not assignable to type 'i32'/],
  ]);
  await fails('assemblyscript', '\nexport function run(input: string): i32 { return 1; }', [
    [2, 17, /from text to text/],
  ]);
  await fails('assemblyscript', `import "fs";\n${good}`, [[1, 8, /not found/]]);
  await fails(
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

test('AssemblyScript: each way in which a run can end has its error name', async () => {
  const source = `function deep(n: i32): i32 { return deep(n + 1) + 1; }
function deepText(s: string): string { return deepText(s + "1") + "2"; }
export function run(input: string): string {
  if (input == "throw") throw new Error("bad é");
  if (input == "loop") while (true) {}
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
    const outcome = await sandbox.run({ program: loadedProgram(program), input, share });
    return 'error' in outcome ? outcome.error.code : outcome.result;
  };
  const expected = {
    throw: 'plugin-error',
    loop: 'time-limit',
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
  const outcome = await sandbox.run({
    program: loadedProgram(program),
    input: 'throw',
    share,
  });
  assert.ok('error' in outcome);
  assert.match(outcome.error.message, /^Error: bad é\n    at plugin\.ts:4:25$/);
});

test('AssemblyScript: no instruction works on much memory at once, so that a run ends at its time limit', async () => {
  const source = `export function run(input: string): string {
  if (input == "features") return ASC_FEATURE_BULK_MEMORY.toString();
  memory.grow(400);
  const half = <usize>memory.size() << 15;
  if (input == "fill") for (;;) memory.fill(0, 1, half * 2);
  for (;;) memory.copy(0, half, half);
  return input;
}`;
  const program = loadedProgram(programOf(await build('assemblyscript', source)));
  assert.deepEqual(await sandbox.run({ program, input: 'features', share }), {
    result: 'false',
    logs: [],
  });
  for (const input of ['fill', 'copy']) {
    const outcome = await sandbox.run({ program, input, share });
    assert.equal('error' in outcome && outcome.error.code, 'time-limit', input);
  }
});

for (const [lang, language] of languages) {
  test(`${lang}: the compiler's processes have no environment variables and no child processes`, async (t) => {
    const compiler = new CompilerProcess(language);
    t.after(() => compiler.close());
    await compiler.ready;
    assert.ok(compiler.pids.length > 0);
    if (process.platform !== 'linux') return;
    const childrenOf = (pid: number) =>
      readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
    for (const pid of compiler.pids) {
      assert.equal(readFileSync(`/proc/${pid}/environ`, 'utf8'), '');
      // A native program may be the one child of bubblewrap, which hides files from it.
      const isWrapped = readFileSync(`/proc/${pid}/comm`, 'utf8') === 'bwrap\n';
      assert.equal(isWrapped, pid !== compiler.pids[0] && systemTools().hidesFiles);
      const programs = isWrapped ? childrenOf(pid) : [pid];
      assert.equal(programs.length, 1);
      for (const program of programs) {
        assert.equal(readFileSync(`/proc/${program}/environ`, 'utf8'), '');
        assert.deepEqual(childrenOf(program), []);
        const [, user] = /^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${program}/status`, 'utf8')) ?? [];
        assert.equal(Number(user), systemTools().user ?? process.getuid?.());
      }
    }
  });
}

for (const lang of languages.keys()) {
  test(`${lang}: source that floods or crashes the compiler fails alone, and the next build works`, async () => {
    const end = await build(lang, '('.repeat(200_000));
    assert.ok(!('compiled' in end) || !end.compiled.program);
    const { contents } = languages.get(lang)?.template({ pluginName: 'x', namespace: 'y' }) ?? {
      contents: '',
    };
    programOf(await build(lang, contents));
  });
}

test('a toolchain that does not work here is left out, and its language and the reason are reported', () => {
  const broken = {
    probe: () => {
      throw new Error('no such platform');
    },
  };
  const skipped: [string, string][] = [];
  const loaded = loadLanguages(
    (identifier, reason) => skipped.push([identifier, (reason as Error).message]),
    [...languages.values()].map((one) => (one.identifier === 'typescript' ? { ...one, ...broken } : one)),
  );
  assert.deepEqual([...loaded.keys()], ['assemblyscript', 'javascript']);
  assert.deepEqual(skipped, [['typescript', 'no such platform']]);
});
