import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { bearer, errorOf, startService } from '../harness.ts';
import type { ServiceOptions } from '../../../service/src/http/app.ts';
import { until } from '../storage/databases.ts';

const ident = 'com.acme.t1';
const plugin = `${ident}/default/add-record`;
const namespace = '/api/v1/environment/com.acme/namespaces/default';

const types = {
  input: {
    type: 'object',
    properties: {
      name: { type: 'string', description: 'Whom to greet.' },
      count: { $ref: '#/$defs/count' },
    },
    required: ['name'],
    additionalProperties: false,
    $defs: { count: { type: 'integer', minimum: 1 } },
  },
  output: {
    type: 'object',
    properties: { text: { type: 'string' } },
    required: ['text'],
    additionalProperties: false,
  },
  samples: [
    { name: 'one', input: { name: 'Ada', count: 2 }, output: { text: 'Ada 2' } },
    { name: 'another', description: 'Without a count.', input: { name: 'Bo' } },
  ],
};

const asJson = { 'content-type': 'application/json' };

/** A service, with what a vendor and an author do with the one plugin. */
async function start(t: TestContext, options: Partial<ServiceOptions> = {}) {
  const running = await startService(t, options);
  const { fetch } = running;
  const vendor = bearer(await running.environmentToken());
  const { token } = (await (await fetch(`/auth/v2/access/${plugin}`, { headers: vendor })).json()) as {
    token: string;
  };
  const editor = bearer(token);
  const say = async (details: unknown) => {
    const answer = await fetch(namespace, {
      method: 'PUT',
      headers: { ...vendor, ...asJson },
      body: JSON.stringify(details),
    });
    assert.ok(answer.ok, await answer.clone().text());
  };
  const build = async (source: string, language = 'javascript') => {
    const answer = await fetch(`/api/v1/build/${language}/${plugin}`, {
      method: 'POST',
      headers: editor,
      body: source,
    });
    return (await answer.json()) as {
      succeeded: boolean;
      outputLog: string;
      diagnostics?: { message: string }[];
    };
  };
  const run = async (body: string, path = `/exec/name/${plugin}`, headers: Record<string, string> = {}) =>
    fetch(path, { method: 'POST', headers: { ...vendor, ...headers }, body });
  const tryOut = async (body: string) => {
    const answer = await fetch(`/api/v1/test/${plugin}`, { method: 'POST', headers: editor, body });
    assert.equal(answer.status, 200, await answer.clone().text());
    const { took, ...end } = (await answer.json()) as { took: number };
    assert.ok(took >= 0);
    return end;
  };
  const deploy = () => fetch(`/api/v1/draft/${plugin}/promote`, { method: 'POST', headers: editor });
  const read = async (path: string) =>
    (await fetch(path, { headers: vendor })).json() as Promise<Record<string, unknown>>;
  return { ...running, vendor, editor, say, build, run, tryOut, deploy, read };
}

const greeting = `export function run(input) {
  console.log('ran');
  return { text: input.name + ' ' + (input.count ?? 1) };
}
`;

test('a plugin in a namespace with types takes and returns values, which are checked on their way', async (t) => {
  const { say, build, run, tryOut, deploy } = await start(t);
  await say(types);
  const typed =
    'export async function run({ name, count }: Input): Promise<Output> { return { text: `${name} ${count ?? 1}` }; }';
  assert.equal((await build(typed, 'typescript')).outputLog.includes('succeeded'), true);
  assert.deepEqual(await tryOut('{"name":"Ada"}'), { result: '{"text":"Ada 1"}' });

  assert.equal((await build(greeting)).succeeded, true);
  const refused = {
    code: 'invalid-input',
    message: 'The input at /count must be at least 1.',
    path: '/count',
  };
  assert.deepEqual(await tryOut('{"name":"Ada","count":0}'), { error: refused });
  assert.deepEqual(await tryOut('{"name":"secret'), {
    error: { code: 'invalid-input', message: 'The input is not JSON.', path: '' },
  });
  assert.equal((await deploy()).status, 200);

  for (const type of ['application/json', 'text/plain', 'image/png', 'multipart/form-data; boundary=x', '']) {
    const answer = await run('{"name":"Ada","count":3}', undefined, { 'content-type': type });
    assert.equal(answer.status, 200, type);
    assert.match(answer.headers.get('content-type') ?? '', /^application\/json/);
    assert.deepEqual(await answer.json(), { text: 'Ada 3' });
  }
  for (const [body, path] of [
    ['', ''],
    ['Ada', ''],
    ['{"name":"secret","more":1}', '/more'],
    ['{"count":1}', '/name'],
  ] as const) {
    const answer = await run(body);
    const error = await errorOf(answer);
    assert.deepEqual([error.status, error.code, error.path], [422, 'invalid-input', path], body);
    assert.ok(!error.message.includes('secret'));
  }
});

test('a result that is not JSON, or does not fit, is an error with the place, which quotes no value', async (t) => {
  const { say, build, run, tryOut, deploy } = await start(t);
  await say(types);
  const results: readonly [returned: string, code: string, path: string | undefined, message: RegExp][] = [
    ['{ text: 1 }', 'invalid-output', '/text', /must be of type string/],
    ['{ text: "", secret: 1 }', 'invalid-output', '/secret', /must not be there/],
    ['"secret"', 'invalid-output', '', /must be of type object/],
    ['{ text: undefined }', 'invalid-output', '/text', /must be there/],
    ['undefined', 'plugin-error', undefined, /returned nothing/],
    ['(() => 1)', 'plugin-error', undefined, /type function/],
    ['{ text: 1n }', 'plugin-error', undefined, /BigInt/],
    ['(() => { const a = {}; a.a = a; return a; })()', 'plugin-error', undefined, /circular/],
    ['{ text: NaN }', 'plugin-error', undefined, /NaN or infinite/],
    ['[1 / 0]', 'plugin-error', undefined, /NaN or infinite/],
    ['new Promise(() => {})', 'plugin-error', undefined, /promise that nothing is left to settle/],
    ['Promise.reject(new Error("no"))', 'plugin-error', undefined, /^Error: no/],
    ['{ toJSON() { throw new Error("never"); } }', 'plugin-error', undefined, /^Error: never/],
    ['{ get text() { for (;;); } }', 'time-limit', undefined, /1 s/],
  ];
  const cases = results.map(([returned]) => `() => ${returned.startsWith('{') ? `(${returned})` : returned}`);
  const source = `const cases = [${cases.join(', ')}];\nexport const run = (input) => cases[Number(input.name)]();\n`;
  assert.equal((await build(source)).succeeded, true);
  for (const [i, [returned, code, path, message]] of results.entries()) {
    const { error } = (await tryOut(JSON.stringify({ name: String(i) }))) as {
      error: { code: string; path?: string; message: string };
    };
    assert.deepEqual([error.code, error.path], [code, path], returned);
    assert.match(error.message, message);
  }
  await deploy();
  const answer = await run('{"name":"0"}');
  const { status, code, path } = await errorOf(answer);
  assert.deepEqual([status, code, path], [422, 'invalid-output', '/text']);
});

test('a plugin in AssemblyScript takes and returns text, which is JSON', async (t) => {
  const { say, build, tryOut } = await start(t);
  await say(types);
  const source = (text: string) => `export function run(input: string): string { return ${text}; }`;
  assert.equal(
    (await build(source('\'{"text":"\' + input.length.toString() + \'"}\''), 'assemblyscript')).succeeded,
    true,
  );
  assert.deepEqual(await tryOut('{"name":"Ada"}'), { result: '{"text":"14"}' });
  assert.equal(((await tryOut('{}')) as { error: { path: string } }).error.path, '/name');
  await build(source('input'), 'assemblyscript');
  const { error } = (await tryOut('{"name":"Ada"}')) as { error: { code: string; path: string } };
  assert.deepEqual([error.code, error.path], ['invalid-output', '/text']);
});

test('records of runs say what did not fit, and a refused input took no time', async (t) => {
  const { say, build, run, deploy, read } = await start(t);
  await say(types);
  await build(greeting.replace('input.name +', 'input.count === 9 ? 1 : input.name +'));
  await deploy();
  for (const input of ['{"name":1}', '{"name":"x","count":9}']) await run(input);
  const runs = async () =>
    (await read(`/api/v1/plugin/${plugin}/runs`))['runs'] as {
      took: number;
      error: { code: string; path: string };
    }[];
  await until('both runs are recorded', async () => (await runs()).length === 2);
  const found = (await runs()).toSorted((a, b) => (a.error.code < b.error.code ? -1 : 1));
  assert.deepEqual(
    found.map(({ error }) => [error.code, error.path]),
    [
      ['invalid-input', '/name'],
      ['invalid-output', '/text'],
    ],
  );
  assert.equal(found[0]?.took, 0);
  assert.ok((found[1]?.took ?? 0) > 0);
});

test('a version keeps its schemas, and a draft must be built anew once those of its namespace change', async (t) => {
  const { say, build, run, deploy, read, fetch, vendor } = await start(t);
  const known = () => read(`/api/v1/plugin/${plugin}`);
  const answered = async (body: string, version: string) => {
    const answer = await run(body, `/exec/${plugin}/${version}`);
    return [answer.status, await answer.text()] as const;
  };
  await build('export const run = (input) => input;');
  await deploy();
  assert.equal((await known())['outdated'], false);

  await say(types);
  assert.deepEqual([(await known())['built'], (await known())['outdated']], [false, true]);
  assert.equal((await errorOf(await deploy())).code, 'not-built');
  assert.deepEqual(await answered('any text', 'v1.0.0'), [200, 'any text']);
  assert.equal((await read(`/api/v1/plugin/${plugin}/versions/v1.0.0`))['input'], undefined);

  await build(greeting);
  assert.equal((await known())['built'], true);
  assert.equal(((await (await deploy()).json()) as { version: string }).version, 'v1.0.1');
  assert.equal((await known())['outdated'], false);
  assert.equal(((await (await deploy()).json()) as { unchanged?: true }).unchanged, true);

  // Another description is another schema; the same in another order is not, nor is another sample.
  const { input, output, ...others } = types;
  await say({
    output,
    input: Object.fromEntries(Object.entries(input).toReversed()),
    description: 'new',
    ...others,
  });
  assert.equal((await known())['built'], true);
  await say({ ...types, output: { ...output, properties: { text: { type: 'number' } } }, samples: [] });
  assert.deepEqual([(await known())['built'], (await known())['outdated']], [false, true]);
  assert.deepEqual(await answered('{"name":"Ada"}', 'v1.0.1'), [200, '{"text":"Ada 1"}']);
  assert.deepEqual((await read(`/api/v1/plugin/${plugin}/versions/v1.0.1`))['output'], output);
  assert.equal(
    (await build(greeting)).diagnostics?.some(({ message }) => message.includes('Output')),
    true,
  );
  assert.equal(((await (await deploy()).json()) as { version: string }).version, 'v1.0.2');
  assert.equal((await answered('{"name":"Ada"}', 'v1.0.2'))[0], 422);

  await fetch(namespace, { method: 'DELETE', headers: vendor });
  assert.deepEqual([(await known())['built'], (await known())['outdated']], [false, true]);
  assert.deepEqual(await answered('{"name":"Ada"}', 'v1.0.1'), [200, '{"text":"Ada 1"}']);
});

test('in JavaScript an output of listed values or of a fixed length is no problem of types, and one of another type is', async (t) => {
  const { say, build } = await start(t);
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
  await say({ output, samples: [{ name: 'a', input: 1, output: { state: 'new', at: [1, 'm'] } }] });
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
  const { say, build, read } = await start(t);
  const names = ['größe', '価格', '\u{16d40}', '\u{1e5d0}x', 'a\u2028b', '\ua7da', '1', '__proto__'];
  await say({
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
  const { say, fetch, editor } = await start(t);
  await say({
    samples: [
      { name: 'a', input: 'Ada', output: 'Hello,\n"Ada"' },
      { name: 'b', input: [1] },
    ],
  });
  const answer = await fetch('/api/v1/template/javascript', { headers: editor });
  assert.deepEqual(((await answer.json()) as { tests: unknown }).tests, [
    { name: 'a', payload: 'Ada', expected: 'Hello,\n"Ada"' },
    { name: 'b', payload: '[\n  1\n]' },
  ]);
});

test('builds, checks and language help know the types, in JavaScript too, and templates contain them', async (t) => {
  const { say, build, fetch, editor, vendor } = await start(t);
  await say(types);
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
  ] as const) {
    const answer = await fetch(`/api/v2/template/${language}/add-record?namespace=default`, { headers });
    const template = (await answer.json()) as { lang: string; contents: string; tests: unknown[] };
    assert.deepEqual(template.tests, [
      { name: 'one', payload: '{\n  "name": "Ada",\n  "count": 2\n}', expected: '{\n  "text": "Ada 2"\n}' },
      { name: 'another', description: 'Without a count.', payload: '{\n  "name": "Bo"\n}' },
    ]);
    const built = await build(template.contents, language);
    assert.ok(built.succeeded && !built.diagnostics, `${language}: ${built.outputLog}`);
  }
  const untyped = (await (await fetch('/api/v1/template/typescript')).json()) as { contents: string };
  assert.match(untyped.contents, /input: string/);
  const ended = await fetch('/api/v1/template/typescript', { headers: bearer('pe_edit_x') });
  assert.equal((await errorOf(ended)).status, 401);
  await say({ ...types, templates: { typescript: '// ours\n' } });
  const own = await fetch('/api/v1/template/typescript', { headers: editor });
  assert.equal(((await own.json()) as { contents: string }).contents, '// ours\n');
});
