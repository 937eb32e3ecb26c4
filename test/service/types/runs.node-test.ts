import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorOf, limitRuns } from '../harness.ts';
import { greeting, plugin, startTypedPlugin, types } from './typed-plugin.ts';
import {
  readNamespaceTypes,
  replaceCompiledSchemas,
} from '../../../service/src/storage/tables/namespaces.ts';
import { until } from '../../support/until.ts';

test('a plugin in a namespace with types takes and returns values, which are checked on their way', async (t) => {
  const { setTypes, build, run, tryOut, deploy } = await startTypedPlugin(t);
  await setTypes(types);
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
  assert.deepEqual(await tryOut('\ufeff{"name":"Ada","count":3}'), await tryOut('{"name":"Ada","count":3}'));
  assert.equal((await deploy()).status, 200);

  for (const type of ['application/json', 'text/plain', 'image/png', 'multipart/form-data; boundary=x', '']) {
    const response = await run('{"name":"Ada","count":3}', undefined, { 'content-type': type });
    assert.equal(response.status, 200, type);
    assert.match(response.headers.get('content-type') ?? '', /^application\/json/);
    assert.deepEqual(await response.json(), { text: 'Ada 3' });
  }
  assert.equal((await run('\ufeff{"name":"Ada"}')).status, 200);
  for (const [body, path] of [
    ['', ''],
    ['Ada', ''],
    ['{"name":"secret","more":1}', '/more'],
    ['{"count":1}', '/name'],
  ] as const) {
    const response = await run(body);
    const error = await errorOf(response);
    assert.deepEqual([error.status, error.code, error.path], [422, 'invalid-input', path], body);
    assert.ok(!error.message.includes('secret'));
  }
});

test('a result that is not JSON, or does not fit, is an error with the place, which quotes no value', async (t) => {
  const typed = await startTypedPlugin(t);
  const { setTypes, build, run, tryOut, deploy } = typed;
  await setTypes(types);
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
    ['{ get text() { for (;;); } }', 'time-limit', undefined, /0\.25 s/],
  ];
  const cases = results.map(([returned]) => `() => ${returned.startsWith('{') ? `(${returned})` : returned}`);
  const source = `const cases = [${cases.join(', ')}];\nexport const run = (input) => cases[Number(input.name)]();\n`;
  assert.equal((await build(source)).succeeded, true);
  for (const [i, [returned, code, path, message]] of results.entries()) {
    if (code === 'time-limit') await limitRuns(typed, 250);
    const { error } = (await tryOut(JSON.stringify({ name: String(i) }))) as {
      error: { code: string; path?: string; message: string };
    };
    assert.deepEqual([error.code, error.path], [code, path], returned);
    assert.match(error.message, message);
  }
  await limitRuns(typed, 20_000);
  await deploy();
  const response = await run('{"name":"0"}');
  const { status, code, path } = await errorOf(response);
  assert.deepEqual([status, code, path], [422, 'invalid-output', '/text']);
});

test('records of runs say what did not fit, and a refused input took no time', async (t) => {
  const { setTypes, build, run, deploy, read } = await startTypedPlugin(t);
  await setTypes(types);
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
  const { setTypes, deleteTypes, build, run, deploy, read } = await startTypedPlugin(t);
  const known = () => read(`/api/v1/plugin/${plugin}`);
  const answered = async (body: string, version: string) => {
    const response = await run(body, `/exec/${plugin}/${version}`);
    return [response.status, await response.text()] as const;
  };
  await build('export const run = (input) => input;');
  await deploy();
  assert.equal((await known())['outdated'], false);

  await setTypes(types);
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
  await setTypes({
    output,
    input: Object.fromEntries(Object.entries(input).toReversed()),
    description: 'new',
    ...others,
  });
  assert.equal((await known())['built'], true);
  await setTypes({ ...types, output: { ...output, properties: { text: { type: 'number' } } }, samples: [] });
  assert.deepEqual([(await known())['built'], (await known())['outdated']], [false, true]);
  assert.deepEqual(await answered('{"name":"Ada"}', 'v1.0.1'), [200, '{"text":"Ada 1"}']);
  assert.deepEqual((await read(`/api/v1/plugin/${plugin}/versions/v1.0.1`))['output'], output);
  assert.equal(
    (await build(greeting)).diagnostics?.some(({ message }) => message.includes('Output')),
    true,
  );
  assert.equal(((await (await deploy()).json()) as { version: string }).version, 'v1.0.2');
  assert.equal((await answered('{"name":"Ada"}', 'v1.0.2'))[0], 422);

  await deleteTypes();
  assert.deepEqual([(await known())['built'], (await known())['outdated']], [false, true]);
  assert.deepEqual(await answered('{"name":"Ada"}', 'v1.0.1'), [200, '{"text":"Ada 1"}']);
});

test('a build takes formats into account where an earlier release compiled the types, and a version keeps its checks', async (t) => {
  const { setTypes, build, tryOut, run, deploy, storage } = await startTypedPlugin(t);
  const input = { properties: { due: { format: 'date' } } };
  await setTypes({ input });
  const key = { environment: 'com.acme', namespace: 'default' };
  const { schemasDigest } = await readNamespaceTypes(storage.db, key);
  const compileAsBefore = () =>
    replaceCompiledSchemas(storage.db, key, schemasDigest, {
      schemas: { input },
      inputCheck: '[() => true, "true"]',
    });
  // What was built by that release has its check, which is put here by a build of types that say that they check formats.
  await replaceCompiledSchemas(storage.db, key, schemasDigest, {
    schemas: { input },
    inputCheck: '[() => true, "true"]',
    checksFormats: true,
  });
  assert.equal((await build('export const run = () => 1;')).succeeded, true);
  assert.equal((await deploy()).status, 200);
  await compileAsBefore();
  assert.equal((await run('{"due":"tomorrow"}')).status, 200);

  assert.equal((await build('export const run = () => 2;')).succeeded, true);
  assert.equal((await readNamespaceTypes(storage.db, key)).compiled?.checksFormats, true);
  assert.deepEqual(await tryOut('{"due":"tomorrow"}'), {
    error: {
      code: 'invalid-input',
      message: 'The input at /due must be a date, such as 2026-03-31.',
      path: '/due',
    },
  });
  assert.equal((await run('{"due":"tomorrow"}')).status, 200);
});
