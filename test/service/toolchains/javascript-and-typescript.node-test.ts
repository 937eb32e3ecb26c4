import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pluginTypes } from '../../../service/src/toolchains/types/declarations.ts';
import { programOf, startBuilds } from './compiling.ts';

const {
  assertCompilerConfined,
  assertTemplateWorks,
  build,
  run,
  runErrorOf,
  assertProblems,
  problemsOf,
  assertSurvivesFlood,
} = startBuilds();

const noNetwork = 'Plugins have no network: take what is needed from the input.';

for (const lang of ['javascript', 'typescript'])
  test(`${lang}: the template builds and passes its own tests`, () => assertTemplateWorks(lang));

test("JavaScript: the compiler's process has no environment variables and no child processes", (t) =>
  assertCompilerConfined(t, 'javascript'));

test('JavaScript: problems have their place, with columns in UTF-16 from 1', async () => {
  await assertProblems('javascript', 'let s = "é😀"; let x = ;', [[1, 24, /Unexpected token/]]);
  await assertProblems('javascript', '\r\n\nlet x = ;', [[3, 9, /Unexpected token/]]);
  await assertProblems('javascript', 'let a;\n  let a;\nexport const run = () => "";', [
    [2, 7, /already been declared/],
  ]);
  // JavaScript has no types, so the message shows none.
  await assertProblems('javascript', 'export const x = 1;', [
    [1, 1, /exports a function named "run", from text to text: export function run\(input\)$/],
  ]);
  await assertProblems(
    'javascript',
    '\nimport "fs";\nexport const run = () => import("x");\nexport * from "y";',
    [
      [2, 1, /no libraries that it could import/],
      [3, 26, /no libraries that it could import/],
      [4, 1, /no libraries that it could import/],
    ],
  );
  await assertProblems('javascript', 'export const run = () => "";\n\n  @sealed class A {}', [[3, 3, /./]]);
});

test('JavaScript: unknown names fail the build, and misspelt methods are reported', async () => {
  const source = `export function run(input) {
  favorite(ordrs); input.trimm(); JSON.parsee(1); fetch();
  return input;
}
`;
  assert.deepEqual(await problemsOf('javascript', source), {
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

test('JavaScript: types are checked beside a run in a comment, and where a comment with a type would not fit', async () => {
  const body = '{ return input.trimm() + missing; }';
  for (const before of [
    '/*\nexport function run(input) {}\n*/',
    'const text = `/*\nexport function run(x`;',
  ]) {
    const { isBuilt, found } = await problemsOf(
      'javascript',
      `${before}\nexport function run(input) ${body}`,
    );
    assert.equal(isBuilt, false);
    assert.match(String(found.at(-1)), /Cannot find name 'missing'/, before);
  }
  assert.deepEqual(await problemsOf('javascript', 'export function run(...all) { return all[0]; }'), {
    isBuilt: true,
    found: [],
  });
});

for (const lang of ['javascript', 'typescript'])
  test(`${lang}: a plugin that may make calls waits, and knows a response, as everywhere`, async () => {
    const types = pluginTypes({ declarations: '' }, [{ name: 'api', origin: 'https://api.example.com' }]);
    const source = `export const run = async () => {
  await new Promise((resolve) => setTimeout(resolve, 5));
  const late = setTimeout((a, b) => console.log(a.length, b), 5, 'x', 1);
  clearTimeout(late);
  const [found] = [await fetch('https://api.example.com'), new Response('', { status: 404 }), ''];
  return found instanceof Response ? found.text() : found;
};`;
    assert.deepEqual(await problemsOf(lang, source, types), { isBuilt: true, found: [] });
    const { found } = await problemsOf(lang, source.replace('(resolve, 5)', '("resolve()", 5)'), types);
    assert.deepEqual(
      found.map(([line]) => line),
      [2],
    );
  });

test('JavaScript: problems of types are only warnings, and the plugin is built', async () => {
  const { isBuilt, found: all } = await problemsOf(
    'javascript',
    'export const run = (input) => {\n  const n = input.length;\n  return n.toUpperCase();\n};',
  );
  assert.equal(isBuilt, true);
  assert.deepEqual(
    all.map(([line, column, severity]) => [line, column, severity]),
    [[3, 12, 'warning']],
  );
  assert.deepEqual(await problemsOf('javascript', 'export const run = (input) => input.length;'), {
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
  assert.deepEqual(await problemsOf('javascript', source), { isBuilt: true, found: [] });
});

test('TypeScript: types are checked, the signature of run among them', async () => {
  const good = 'export function run(input: string): string { return input; }';
  await assertProblems('typescript', `${good}\nconst s = "é😀"; const n: number = s;`, [
    [2, 24, /not assignable to type 'number'/],
  ]);
  await assertProblems('typescript', '\nexport function run(input: number): string { return ""; }', [
    [2, 17, /from text to text/],
  ]);
  await assertProblems('typescript', 'export const run = (input: string) => input.length;', [
    [1, 14, /from text to text/],
  ]);
  await assertProblems('typescript', 'export const other = 1;', [[1, 1, /exports a function named "run"/]]);
  await assertProblems('typescript', '', [[1, 1, /exports a function named "run"/]]);
  await assertProblems('typescript', `${good}\nfetch("x"); process.exit();`, [
    [2, 1, /fetch/],
    [2, 13, /process/],
  ]);
  await assertProblems('typescript', `let x = ;\n${good}`, [[1, 9, /Expression expected/]]);
  assert.equal(
    (await runErrorOf('typescript', good.replace('return input', 'console.log(input); throw null'))).code,
    'plugin-error',
  );
  for (const before of ['', 'export default 1;']) {
    await assertProblems('typescript', `${before}\nexport declare function run(input: string): string;`, [
      [2, 25, /exports a function named "run"/],
    ]);
  }
});

for (const lang of ['javascript', 'typescript'])
  test(`${lang}: a lone surrogate is a character like others`, async () => {
    const source = `export const run = (input${lang === 'typescript' ? ': string' : ''}) => "\ud800" + input.trimm();`;
    const { found } = await problemsOf(lang, source);
    assert.deepEqual(
      found.map(([line, column]) => [line, column]),
      [[1, source.indexOf('trimm') + 1]],
    );
    assert.deepEqual(await run(lang, source.replace('"\ud800"', '"\ud800".length').replace('mm', 'm'), 'a'), {
      result: '1a',
      logs: [],
    });
  });

test('TypeScript: a build leaves nothing for the next one', async () => {
  await assertProblems('typescript', 'export const x = 1;', [[1, 1, /./]]);
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
    (await runErrorOf('typescript', source, 'in')).message,
    /^Error: in1\n    at run \(plugin\.ts:5:\d+\)$/,
  );
});

test('TypeScript: an endless type fails the build, and the next build works', async () => {
  const source = `type Endless<T> = T extends unknown[] ? Endless<[T]> : never;
export const run = (input: string): string => { const t: Endless<[]> = []; return input; };`;
  await assertProblems('typescript', source, [[1, 41, /excessively deep/]]);
  programOf(await build('typescript', 'export const run = (input: string) => input;'));
});

test('a value that the libraries declare and the sandbox lacks is a problem where it is used, and nowhere else', async () => {
  const used = `export const run = (input) => {
  const price = new Intl.Segmenter('de').segment(input);
  return price + Intl.DisplayNames.supportedLocalesOf('de') + Atomics.load(input, 0);
};`;
  const { isBuilt, found: all } = await problemsOf('javascript', used);
  assert.equal(isBuilt, false);
  const named = all.filter(([, , , message]) => /'(?:Intl\.\w+|Atomics)'/.test(String(message)));
  assert.deepEqual(
    named.map(([line, column, severity]) => [line, column, severity]),
    [
      [2, 21, 'error'],
      [3, 18, 'error'],
      [3, 63, 'error'],
    ],
  );
  assert.match(
    String(named[0]?.[3]),
    /^Cannot find name 'Intl\.Segmenter'\. Plugins have no such class: "Array\.from/,
  );
  for (const body of [
    '// new Intl.Segmenter("de")\n  return "new Intl.Locale()";',
    '// @ts-ignore\n  return String(new Intl.Segmenter("de"));',
    'const Intl = { Locale: { now: () => "1" } };\n  return Intl.Locale.now();',
    'return typeof Intl.Segmenter === "function" ? String(new Intl.Segmenter("de")) : "1";',
    'const options: Intl.NumberFormatOptions = {};\n  return (1).toLocaleString("en", options);',
  ]) {
    const source = `export const run = (input: string): string => {\n  ${body}\n};`;
    assert.deepEqual(await problemsOf('typescript', source), { isBuilt: true, found: [] }, body);
  }
});

test('everything that the sandbox adds to the language, and its newest features, can be used', async () => {
  const source = `export const run = (input: string): string => {
  const began = performance.now();
  const both = new Set([input]).union(new Set([btoa(input)]));
  return both.values().map((one) => atob(one)).toArray().join() + String(performance.now() - began);
};`;
  const web = `export const run = async (input: string): Promise<string> => {
  const url = new URL('/a', 'https://example.com');
  url.searchParams.set('name', input);
  const bytes = new TextEncoder().encode(structuredClone(url.href));
  const key = await crypto.subtle.generateKey({ name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
  const signed = await crypto.subtle.sign('HMAC', key, bytes);
  const headers = new Headers({ 'x-signed': btoa(String.fromCharCode(...new Uint8Array(signed))) });
  const list = new Intl.ListFormat('de').format([...headers.keys(), crypto.randomUUID()]);
  return list + new TextDecoder('utf-8', { fatal: true }).decode(bytes) + (1e6).toLocaleString('de');
};`;
  assert.deepEqual(await problemsOf('typescript', web), { isBuilt: true, found: [] });
  assert.deepEqual(await problemsOf('typescript', source), { isBuilt: true, found: [] });
});

test('advice that no plugin can follow is reworded', async () => {
  for (const [lang, parameter] of [
    ['javascript', 'input'],
    ['typescript', 'input: string'],
  ] as const) {
    const { found: all } = await problemsOf(
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
  const connected = pluginTypes({ declarations: '' }, [{ name: 'api', origin: 'https://api.example.com' }]);
  const calling =
    'export const run = () => { new Request("a"); setInterval(run, 5); clearInterval(1); return ""; };';
  const { found: ofCalling } = await problemsOf('javascript', calling, connected);
  assert.deepEqual(
    ofCalling.map(([, , , message]) => String(message).replace(/console.*/, '…')),
    [
      "Cannot find name 'Request'. Plugins make calls by fetch(url, options) alone.",
      "Cannot find name 'setInterval'. The only timer of plugins is setTimeout.",
      "Cannot find name 'clearInterval'. Plugins have the language itself, Intl, fetch, setTimeout, …",
    ],
  );
  const imports = await problemsOf(
    'typescript',
    'import fs from "fs";\nimport x from "./x";\nimport type y from "y";\nexport const run = (z: y) => fs + x + z;',
  );
  const none = 'A plugin is one file, and this namespace has no libraries that it could import.';
  assert.deepEqual(
    imports.found.map(([, , , message]) => message),
    [none, none, none],
  );
});

for (const lang of ['javascript', 'typescript'])
  test(`${lang}: source that floods or crashes the compiler fails alone, and the next build works`, () =>
    assertSurvivesFlood(lang));
