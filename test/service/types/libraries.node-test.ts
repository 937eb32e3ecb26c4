import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { errorOf } from '../harness.ts';
import { asJson, plugin, startTypedPlugin } from './typed-plugin.ts';

const list = '/api/v1/environment/com.acme/libraries';
const money = {
  contents: 'export const round = (n) => Math.round(n * 100) / 100;\nexport default class Money {}\n',
  declarations:
    'export interface Rounding { digits: number }\n/** Rounds to cents. */\nexport declare function round(n: number): number;\nexport default class Money {}\n',
  description: 'Amounts.',
};
const usesMoney = `import { round } from 'money';
export const run = (input) => String(round(Number(input)));
`;

async function start(t: TestContext) {
  const typed = await startTypedPlugin(t);
  const send = (method: string, path: string, body?: unknown) =>
    typed.fetch(path, {
      method,
      headers: { ...typed.vendor, ...(body !== undefined && asJson) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  const publish = async (name: string, contents: string, version = '1.0.0') => {
    const response = await send('PUT', `${list}/${name}/${version}`, { contents });
    assert.equal(response.status, 201, await response.clone().text());
  };
  const messages = async (source: string, language?: string) =>
    (await typed.build(source, language)).diagnostics?.map(({ message }) => message) ?? [];
  return { ...typed, send, publish, messages };
}

test('a version of a library never changes, and only comes back as it was', async (t) => {
  const { send, storage } = await start(t);
  const path = `${list}/money/1.0.0`;
  assert.equal((await errorOf(await send('GET', path))).code, 'library-not-found');
  const first = await send('PUT', path, money);
  assert.equal(first.status, 201);
  const record = await first.json();
  assert.deepEqual(record, {
    name: 'money',
    version: '1.0.0',
    bytes: money.contents.length,
    createdAt: '2026-01-01T00:00:00.000Z',
  });
  const again = await send('PUT', path, money);
  assert.deepEqual([again.status, await again.json()], [200, record]);
  assert.deepEqual(await (await send('GET', path)).json(), { ...(record as object), ...money });
  const other = { ...money, contents: 'export const round = 1;' };
  const changed = await errorOf(await send('PUT', path, other));
  assert.equal(changed.code, 'library-exists');
  assert.match(changed.message, /^money 1\.0\.0 is published already, and differs in its contents\. /);
  const described = await errorOf(await send('PUT', path, { ...money, description: 'Another.' }));
  assert.match(described.message, /^money 1\.0\.0 is published already, and differs in its description\. /);
  // One that is deleted once it was compared is published.
  const { query } = storage.db;
  const selectFrom = query.selectFrom.bind(query);
  const found = [selectFrom('libraries'), selectFrom('libraries').where('name', '=', 'none')];
  const selected = (table: 'libraries') => (table === 'libraries' && found.shift()) || selectFrom(table);
  t.mock.method(query, 'selectFrom', selected as typeof selectFrom);
  assert.equal((await send('PUT', path, money)).status, 200);
  assert.equal(found.length, 0);

  assert.equal((await send('PUT', `${list}/@acme/rates/2.0.0-rc.1`, money)).status, 201);
  const page = (await (await send('GET', `${list}?limit=1`)).json()) as { libraries: object[]; next: string };
  assert.deepEqual(page.libraries, [{ ...(record as object), name: '@acme/rates', version: '2.0.0-rc.1' }]);
  const rest = await (await send('GET', `${list}?limit=1&after=${page.next}`)).json();
  assert.deepEqual(rest, { libraries: [record] });

  assert.equal((await send('DELETE', path)).status, 204);
  assert.equal((await errorOf(await send('DELETE', path))).status, 404);
  assert.equal((await errorOf(await send('PUT', path, other))).code, 'library-exists');
  assert.equal((await send('PUT', path, money)).status, 201);
  assert.equal((await send('GET', path)).status, 200);
});

test('a library is refused where a plugin could not import it', async (t) => {
  const { send } = await start(t);
  for (const [body, path, message] of [
    [{ contents: 'import "./other.js";' }, '/contents', /import nothing; line 1/],
    [{ contents: 'export * from "other";' }, '/contents', /import nothing/],
    [{ contents: 'export const a = () => import("b");' }, '/contents', /import nothing/],
    [{ contents: 'module.exports = 1;' }, '/contents', /exports something/],
    [{ contents: 'export const a = ;' }, '/contents', /line 1, column 18/],
    [{ contents: 'export const a = process.env;' }, '/contents', /cannot be loaded.*process/],
    [{ contents: '('.repeat(2000) }, '/contents', /nested/],
    [{ ...money, declarations: '} declare const Input: never; {' }, '/declarations', /line 1/],
    [{ ...money, declarations: 'export const a: /*' }, '/declarations', /line 1/],
    [{ contents: `//${'x'.repeat(1024 * 1024)}` }, '/contents', /at most 1048576 bytes/],
  ] as const) {
    const found = await errorOf(await send('PUT', `${list}/money/1.0.0`, body));
    assert.deepEqual([found.status, found.code, found.path], [422, 'invalid-body', path], found.message);
    assert.match(found.message, message);
  }
  for (const path of ['Money/1.0.0', 'money/1', '@Acme/money/1.0.0', '_x/1.0.0', `${'a'.repeat(215)}/1.0.0`])
    assert.equal((await errorOf(await send('PUT', `${list}/${path}`, money))).code, 'invalid-path', path);
});

test('an environment has a hundred libraries at most', async (t) => {
  const { send, publish, storage } = await start(t);
  await publish('money', 'export const a = 1;');
  const row = await storage.db.query.selectFrom('libraries').selectAll().executeTakeFirstOrThrow();
  const more = Array.from({ length: 99 }, (_, i) => ({ ...row, version: `2.0.${i}` }));
  await storage.db.query.insertInto('libraries').values(more).execute();
  const found = await errorOf(await send('PUT', `${list}/money/1.0.1`, money));
  assert.deepEqual([found.status, found.code], [403, 'too-many-libraries']);
  assert.equal((await send('DELETE', `${list}/money/2.0.7`)).status, 204);
  assert.equal((await send('PUT', `${list}/money/1.0.1`, money)).status, 201);
});

test('what builds read of the libraries of a namespace is bounded, names of exports as well', async (t) => {
  const { send, publish, storage } = await start(t);
  const names = Array.from({ length: 10_000 }, (_, i) => `a as ${'x'.repeat(60)}${i}`);
  await publish('wide', `const a = 1; export { ${names.join()} };`);
  const row = await storage.db.query.selectFrom('libraries').selectAll().executeTakeFirstOrThrow();
  await storage.db.query
    .insertInto('libraries')
    .values({ ...row, name: 'wider' })
    .execute();
  const namespace = '/api/v1/environment/com.acme/namespaces/default';
  assert.equal((await send('PUT', namespace, { libraries: { wide: '1.0.0' } })).status, 201);
  const both = { wide: '1.0.0', wider: '1.0.0' };
  const found = await errorOf(await send('PUT', namespace, { libraries: both }));
  assert.deepEqual([found.status, found.code, found.path], [422, 'invalid-body', '/libraries']);
  assert.match(found.message, /at most 1048576 bytes together, as JSON; they have 13/);
});

test('a plugin whose libraries are larger than a program may be is said to be too large', async (t) => {
  const { send, publish, storage, messages } = await start(t);
  await publish('large', `export const a = 1; //${'x'.repeat(1024 * 1000)}`);
  const row = await storage.db.query.selectFrom('libraries').selectAll().executeTakeFirstOrThrow();
  const names = ['larger', 'largest', 'other', 'another'];
  await storage.db.query
    .insertInto('libraries')
    .values(names.map((name) => ({ ...row, name })))
    .execute();
  const libraries = Object.fromEntries(['large', ...names].map((name) => [name, '1.0.0']));
  const namespace = '/api/v1/environment/com.acme/namespaces/default';
  assert.equal((await send('PUT', namespace, { libraries })).status, 201);
  const imports = (some: readonly string[]) =>
    some.map((name, i) => `import { a as a${i} } from '${name}';\n`).join('');
  const run = 'export const run = (input) => input;\n';
  assert.deepEqual(await messages(imports(names) + run), []);
  assert.deepEqual(await messages(imports(['large', ...names]) + run), [
    `The plugin is too large: the libraries that it imports have ${5 * 1024_022} bytes, and the limit is 4194304.`,
  ]);
});

test('a version is in use by the namespaces that name it, and by none that names a similar one', async (t) => {
  const { send } = await start(t);
  const similar = { '@acme/money': '1.0.0', moneys: '1.0.0', money: '1.0.0-rc.1' };
  for (const [name, version] of [...Object.entries(similar), ['money', '1.0.0']])
    assert.equal((await send('PUT', `${list}/${name}/${version}`, money)).status, 201);
  const setLibraries = async (namespace: string, libraries: object) => {
    const path = `/api/v1/environment/com.acme/namespaces/${namespace}`;
    assert.ok((await send('PUT', path, { libraries })).ok);
  };
  await setLibraries('a', similar);
  await setLibraries('b', { ...similar, money: '1.0.0' });
  const found = await errorOf(await send('DELETE', `${list}/money/1.0.0`));
  assert.deepEqual([found.status, found.code], [409, 'library-in-use']);
  assert.match(found.message, /^The namespace "b" names this version/);
  await setLibraries('b', similar);
  assert.equal((await send('DELETE', `${list}/money/1.0.0`)).status, 204);
});

test('a plugin imports the libraries of its namespace, and its versions keep them', async (t) => {
  const { send, publish, build, deploy, run, setTypes, deleteTypes, read, messages } = await start(t);
  const namespace = '/api/v1/environment/com.acme/namespaces/default';
  const none = 'A plugin is one file, and this namespace has no libraries that it could import.';
  assert.deepEqual(await messages(usesMoney), [none]);
  const unknown = await errorOf(await send('PUT', namespace, { libraries: { money: '1.0.0' } }));
  assert.deepEqual([unknown.status, unknown.path], [422, '/libraries/money']);

  assert.equal((await send('PUT', `${list}/money/1.0.0`, money)).status, 201);
  await publish('money', 'export const round = (n) => Math.floor(n);', '2.0.0');
  await publish('plugin.js', 'export const run = () => "not a plugin"; export const constructor = 1;');
  await setTypes({ libraries: { money: '1.0.0', 'plugin.js': '1.0.0' } });
  assert.deepEqual((await read(namespace))['libraries'], { money: '1.0.0', 'plugin.js': '1.0.0' });
  assert.equal((await errorOf(await send('DELETE', `${list}/money/1.0.0`))).code, 'library-in-use');
  assert.equal((await errorOf(await deleteTypes())).code, 'namespace-in-use');

  assert.equal((await build(usesMoney)).outputLog.split('\n').at(-1), 'The build succeeded.');
  assert.equal((await deploy()).status, 200);
  assert.equal(await (await run('1.005')).text(), '1');
  assert.equal(await (await run('2.349')).text(), '2.35');
  const state = async () => {
    const { built, outdated } = await read(`/api/v1/plugin/${plugin}`);
    return { built, outdated };
  };
  assert.deepEqual(await state(), { built: true, outdated: false });

  await setTypes({ libraries: { money: '2.0.0' } });
  assert.deepEqual(await state(), { built: false, outdated: true });
  assert.equal((await errorOf(await deploy())).code, 'not-built');
  assert.equal(await (await run('2.349')).text(), '2.35');
  await build(usesMoney);
  assert.deepEqual(await (await deploy()).json(), { version: 'v1.0.1', live: 'v1.0.1' });
  assert.equal(await (await run('2.349')).text(), '2');
  await setTypes({ description: 'The libraries stay.' });
  assert.deepEqual(await (await deploy()).json(), { version: 'v1.0.1', unchanged: true, live: 'v1.0.1' });

  assert.equal((await send('DELETE', `${list}/money/1.0.0`)).status, 204);
  await setTypes({ libraries: null });
  assert.equal((await deleteTypes()).status, 204);
  const versionOne = await run('2.349', `/exec/com.acme.t1/default/add-record/v1.0.0`);
  assert.equal(await versionOne.text(), '2.35');
});

test('what cannot be imported is an error of the build that names what there is', async (t) => {
  const { send, publish, setTypes, messages } = await start(t);
  assert.equal((await send('PUT', `${list}/money/1.0.0`, money)).status, 201);
  await publish('@acme/untyped', 'export const a = 1;');
  await setTypes({ libraries: { money: '1.0.0', '@acme/untyped': '1.0.0' } });
  const others =
    'A plugin can import the libraries of its namespace and nothing else: "@acme/untyped", "money".';
  const run = 'export const run = (input) => input;';
  for (const language of ['javascript', 'typescript']) {
    const typed = language === 'typescript' ? run.replace('input)', 'input: string)') : run;
    assert.deepEqual(await messages(`import 'fs';\n${typed}`, language), [others]);
    assert.deepEqual(
      await messages(`import { b } from '@acme/untyped'; console.log(b);\n${typed}`, language),
      ['"@acme/untyped" has no export "b". It exports "a".'],
    );
    assert.deepEqual(await messages(`export const a = () => import('money');\n${typed}`, language), [
      'A library is imported at the top: import … from "…";',
    ]);
    const used = `import { a } from '@acme/untyped';\nimport Money, { round } from 'money';\nimport * as all from 'money';\nexport { round as also } from 'money';\nconsole.log(a, new Money(), round(1), all.round(2));\n${typed}`;
    assert.deepEqual(await messages(used, language), []);
  }
  assert.deepEqual(
    await messages(
      `import { Rounding } from 'money';\nexport const run = (input: string): string => { const r: Rounding = { digits: 2 }; return input + r.digits; };`,
      'typescript',
    ),
    [],
  );
  assert.match(
    (
      await messages(
        `import { round } from 'money';\nexport const run = (input: string): string => String(round(input));`,
        'typescript',
      )
    )[0] ?? '',
    /not assignable to parameter of type 'number'/,
  );
  assert.match(
    (
      await messages(
        `import { floor } from 'money';\nexport const run = (input: string): string => String(floor(1));`,
        'typescript',
      )
    )[0] ?? '',
    /no exported member/,
  );
});

test('a library has the clock and no other plugin’s state, and is left out of stack traces', async (t) => {
  const { publish, setTypes, build, tryOut } = await start(t);
  await publish(
    'state',
    'let count = 0;\nexport const next = () => ++count;\nexport const fail = () => { throw new Error("no"); };\nexport const loaded = Date.now();',
  );
  await setTypes({ libraries: { state: '1.0.0' } });
  await build(`import { next, loaded } from 'state';
export const run = () => String([next(), next(), loaded > 0]);`);
  for (let i = 0; i < 2; i++) assert.deepEqual(await tryOut(''), { result: '1,2,true' });
  await build(`import { fail } from 'state';
export const run = () => fail();`);
  assert.deepEqual(await tryOut(''), {
    error: { code: 'plugin-error', message: 'Error: no\n    at run (plugin.js:2:26)' },
  });
  await build(`export const run = async () => {
  try { return String(await new Function('return import("state")')()); } catch (error) { return String(error); }
};`);
  const end = await tryOut('');
  assert.match(String((end as { result?: string }).result), /no library|not/i, JSON.stringify(end));
});

test('the editor names libraries, and completes what they export, with their documentation', async (t) => {
  const { send, setTypes, fetch, editor, read } = await start(t);
  assert.equal((await send('PUT', `${list}/money/1.0.0`, money)).status, 201);
  await setTypes({ libraries: { money: '1.0.0' } });
  assert.deepEqual(await read(`/api/v1/types/${plugin}`), {
    declarations: '',
    libraries: [{ name: 'money', version: '1.0.0', description: 'Amounts.', exports: ['round', 'default'] }],
  });
  const contents = "import { round } from 'money';\nexport const run = (input) => round(1);\n";
  const ask = async (method: string, line: number, character: number) => {
    const response = await fetch(`/api/v1/language-help/javascript/${plugin}`, {
      method: 'POST',
      headers: { ...editor, ...asJson },
      body: JSON.stringify({ contents, request: { method, params: { position: { line, character } } } }),
    });
    return JSON.stringify(await response.json());
  };
  const hover = await ask('textDocument/hover', 1, 32);
  assert.match(hover, /round\(n: number\): number/);
  assert.match(hover, /Rounds to cents/);
  assert.match(await ask('textDocument/completion', 0, 9), /"label":"round"/);
  assert.match(await ask('textDocument/completion', 0, 23), /"label":"money"/);
});
