import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bearer, errorOf } from '../harness.ts';
import { asJson, plugin, startTypedPlugin, types } from './typed-plugin.ts';

test('in JavaScript an output of listed values or of a fixed length is no problem of types, and one of another type is', async (t) => {
  const { setTypes, build } = await startTypedPlugin(t);
  const tree = {
    type: 'object',
    properties: { state: { enum: ['new', 'done', 1] }, at: { $ref: '#/$defs/point' } },
    required: ['state'],
    additionalProperties: false,
    $defs: { point: { type: 'array', prefixItems: [{ type: 'number' }, { const: 'm' }], items: false } },
  };
  const output = {
    ...tree,
    properties: { ...tree.properties, parts: { type: 'array', items: { $ref: '#' } } },
  };
  await setTypes({ output, samples: [{ name: 'a', input: 1, output: { state: 'new', at: [1, 'm'] } }] });
  const messages = async (source: string) =>
    ((await build(source)).diagnostics ?? []).map(({ message }) => message).join('\n');
  for (const source of [
    "export function run() { return { state: 'new', at: [1, 'm'], parts: [{ state: 1 }] }; }",
    "export const run = async (input) => (input ? { state: 'done' } : { state: 'new', parts: [] });",
    "export const run = () => JSON.parse('{}');",
  ]) {
    assert.equal(await messages(source), '', source);
  }
  for (const source of [
    'export const run = () => ({ state: true });',
    "export const run = () => ({ stat: 'new' });",
    "export const run = () => ({ state: 'new', parts: [{ state: [] }] });",
    "export const run = async () => ({ state: 'new', at: 1 });",
  ]) {
    const found = await messages(source);
    assert.match(found, /must be a function from Input to Output.*=> (Output\w*) \| Promise<\1>/, source);
    assert.doesNotMatch(found, /Loose/);
  }
});

test('definitions may have any name; one that is not, or not yet, a name in TypeScript is left out', async (t) => {
  const { setTypes, build, read } = await startTypedPlugin(t);
  const names = ['größe', '価格', '\u{16d40}', '\u{1e5d0}x', 'a\u2028b', '\ua7da', '1', '__proto__'];
  await setTypes({
    input: {
      prefixItems: names.map((name) => ({ $ref: `#/$defs/${encodeURIComponent(name)}` })),
      $defs: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
      minItems: names.length,
      type: 'array',
    },
  });
  const { declarations } = await read(`/api/v1/types/${plugin}`);
  assert.deepEqual(
    [...String(declarations).matchAll(/^type (\S+) = string;/gm)].map(([, name]) => name),
    ['Größe', '価格', 'Part3', 'X', 'AB', 'Part6', '1', '__proto__'].map((name) => `Input${name}`),
  );
  const source = `export const run = (input: Input): string => input[${names.length - 1}] satisfies string;`;
  assert.equal((await build(source, 'typescript')).succeeded, true);
});

test('a sample of text is a test as it is where plugins take and return text', async (t) => {
  const { setTypes, fetch, editor } = await startTypedPlugin(t);
  await setTypes({
    samples: [
      { name: 'a', input: 'Ada', output: 'Hello,\n"Ada"' },
      { name: 'b', input: [1] },
    ],
  });
  const response = await fetch('/api/v1/template/javascript', { headers: editor });
  assert.deepEqual(((await response.json()) as { tests: unknown }).tests, [
    { name: 'a', payload: 'Ada', expected: 'Hello,\n"Ada"' },
    { name: 'b', payload: '[\n  1\n]' },
  ]);
});

/** What the templates of a namespace with types begin `run` with. Those of AssemblyScript and Python are built where their compilers are. */
const signatures = {
  typescript: /^export function run\(input: Input\): Output \{$/m,
  javascript: /^export function run\(input\) \{$/m,
  assemblyscript: /^export function run\(input: string\): string \{\n {2}return "\{/m,
  python: /^class Input\(TypedDict\):[^]*^def run\(input: Input\) -> Output:$/m,
};

test('builds, checks and language help know the types, in JavaScript too, and templates contain them', async (t) => {
  const { setTypes, build, fetch, editor, vendor } = await startTypedPlugin(t);
  await setTypes(types);
  const declared = (await (await fetch(`/api/v1/types/${plugin}`, { headers: editor })).json()) as Record<
    string,
    unknown
  >;
  assert.deepEqual(
    { input: declared['input'], output: declared['output'], samples: declared['samples'] },
    { input: types.input, output: types.output, samples: types.samples },
  );
  assert.match(
    String(declared['declarations']),
    /\/\*\* Whom to greet\. \*\/\n {2}name: string;\n {2}count\?: InputCount;/,
  );
  assert.match(String(declared['declarations']), /^type Output = \{\n {2}text: string;\n\};$/m);

  const wrong = await build('export const run = (input) => ({ text: input.nam });');
  assert.match(wrong.diagnostics?.[0]?.message ?? '', /'nam' does not exist on type 'Input'/);
  const failed = await build('export const run = (input: Input): Output => ({ text: 1 });', 'typescript');
  assert.equal(failed.succeeded, false);
  const checked = await fetch(`/api/v1/check/typescript/${plugin}`, {
    method: 'POST',
    headers: editor,
    body: 'export const run = (input: Input): Output => ({ text: input.nme });',
  });
  const { diagnostics } = (await checked.json()) as { diagnostics: { message: string }[] };
  assert.match(diagnostics[0]?.message ?? '', /Did you mean 'name'/);

  const contents = 'export function run(input) { return { text: input.n }; }';
  const helped = await fetch(`/api/v1/language-help/javascript/${plugin}`, {
    method: 'POST',
    headers: { ...editor, ...asJson },
    body: JSON.stringify({
      contents,
      request: {
        method: 'textDocument/completion',
        params: { position: { line: 0, character: contents.indexOf('.n') + 1 } },
      },
    }),
  });
  const { result } = (await helped.json()) as { result: { items: { label: string }[] } };
  const labels = result.items.map(({ label }) => label.replace('?', ''));
  assert.ok(labels.includes('name') && labels.includes('count'), labels.join());

  for (const [language, headers] of [
    ['typescript', editor],
    ['javascript', vendor],
    ['assemblyscript', editor],
    ['python', editor],
  ] as const) {
    const response = await fetch(`/api/v2/template/${language}/add-record?namespace=default`, { headers });
    const template = (await response.json()) as { lang: string; contents: string; tests: unknown[] };
    assert.deepEqual(template.tests, [
      { name: 'one', payload: '{\n  "name": "Ada",\n  "count": 2\n}', expected: '{\n  "text": "Ada 2"\n}' },
      { name: 'another', description: 'Without a count.', payload: '{\n  "name": "Bo"\n}' },
    ]);
    assert.match(template.contents, signatures[language]);
    if (language === 'assemblyscript' || language === 'python') continue;
    const built = await build(template.contents, language);
    assert.ok(built.succeeded && !built.diagnostics, `${language}: ${built.outputLog}`);
  }
  const untyped = (await (await fetch('/api/v1/template/typescript')).json()) as { contents: string };
  assert.match(untyped.contents, /input: string/);
  const ended = await fetch('/api/v1/template/typescript', { headers: bearer('pe_edit_x') });
  assert.equal((await errorOf(ended)).status, 401);
  await setTypes({ ...types, templates: { typescript: '// ours\n' } });
  const own = await fetch('/api/v1/template/typescript', { headers: editor });
  assert.equal(((await own.json()) as { contents: string }).contents, '// ours\n');
});

test('the types of Python are TypedDicts', async (t) => {
  const { setTypes, fetch, editor } = await startTypedPlugin(t);
  await setTypes(types);
  const read = (language: string) =>
    fetch(`/api/v1/types/${plugin}?language=${language}`, { headers: editor });
  assert.equal(
    ((await (await read('python')).json()) as { declarations: string }).declarations,
    `from typing import NotRequired, TypedDict


class Input(TypedDict):
    # Whom to greet.
    name: str
    count: NotRequired[InputCount]


type InputCount = int


class Output(TypedDict):
    text: str
`,
  );
  assert.equal((await errorOf(await read('cobol'))).status, 400);
});
