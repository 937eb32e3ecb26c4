import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { bearer, errorOf, limitRuns, startService } from '../harness.ts';

const list = '/api/v1/environment/com.acme/namespaces';

export const order = {
  description: 'Called for each order.',
  input: {
    type: 'object',
    properties: { total: { type: 'number' }, lines: { type: 'array', items: { $ref: '#/$defs/line' } } },
    required: ['total'],
    $defs: { line: { type: 'object', properties: { sku: { type: 'string' } } } },
  },
  output: { type: 'object', properties: { discount: { type: 'number' } }, required: ['discount'] },
  samples: [{ name: 'small', input: { total: 20 }, output: { discount: 0 } }],
  templates: { javascript: 'export const run = (input) => ({ discount: input.total / 10 });\n' },
};

async function start(t: TestContext) {
  const running = await startService(t);
  const token = await running.environmentToken();
  const sendRequest = async (method: string, path: string, body?: unknown) =>
    running.fetch(path, {
      method,
      headers: { ...bearer(token), ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  return { ...running, token, sendRequest };
}

test('a namespace is created, read, listed by pages and deleted', async (t) => {
  const { sendRequest } = await start(t);
  const path = `${list}/orders`;
  assert.equal((await errorOf(await sendRequest('GET', path))).code, 'namespace-not-found');
  assert.equal((await errorOf(await sendRequest('DELETE', path))).status, 404);

  const first = await sendRequest('PUT', path, { ...order, unknown: 1, namespace: 'other' });
  assert.equal(first.status, 201);
  const { warnings, ...record } = (await first.json()) as { warnings: { path: string }[] };
  assert.deepEqual(record, { namespace: 'orders', ...order });
  assert.deepEqual(
    warnings.map((warning) => warning.path),
    ['/input', '/input/$defs/line'],
  );
  assert.deepEqual(await (await sendRequest('GET', path)).json(), { namespace: 'orders', ...order });

  const second = await sendRequest('PUT', path, { input: true });
  assert.equal(second.status, 200);
  assert.deepEqual(await second.json(), { namespace: 'orders', input: true, warnings: [] });

  for (const name of ['a', 'b']) await sendRequest('PUT', `${list}/${name}`, {});
  const names: string[] = [];
  let next: string | undefined = '';
  while (next !== undefined) {
    const response = await sendRequest('GET', `${list}?limit=1${next && `&after=${next}`}`);
    const page = (await response.json()) as { namespaces: { namespace: string }[]; next?: string };
    names.push(...page.namespaces.map(({ namespace }) => namespace));
    next = page.next;
  }
  assert.deepEqual(names, ['a', 'b', 'orders']);

  assert.equal((await sendRequest('DELETE', path)).status, 204);
  assert.equal((await sendRequest('GET', path)).status, 404);
});

test('an invalid body is refused with the place of the mistake, and nothing of it is kept', async (t) => {
  const { sendRequest } = await start(t);
  const path = `${list}/orders`;
  const long = 'x'.repeat(33_000);
  const chain = Array.from({ length: 600 }, (_, i) => ({ items: { $ref: `#/$defs/${i + 1}` } }));
  const cases: [body: unknown, path: string, message?: RegExp][] = [
    [{ input: 1 }, '/input'],
    [{ output: [] }, '/output'],
    [{ input: null }, '/input'],
    [{ description: 1 }, '/description'],
    [{ input: { properties: { a: { type: 'text' } } } }, '/input/properties/a/type'],
    [{ input: { properties: { 'a/b~': 1 } } }, '/input/properties/a~1b~0'],
    [{ output: { items: { $ref: 'https://example.com/x' } } }, '/output/items/$ref', /nothing is fetched/],
    [{ input: { $ref: '/etc/passwd' } }, '/input/$ref'],
    [{ input: { properties: { a: { pattern: '(' } } } }, '/input/properties/a/pattern', /regular expression/],
    [{ output: { patternProperties: { '\\p{Nothing}': true } } }, '/output/patternProperties/\\p{Nothing}'],
    [{ input: { const: long }, output: { const: long } }, '/input', /65536/],
    // Numbers that JSON would give back as null.
    ['{"input":{"enum":["a",-1e400]}}', '/input/enum/1', /smaller number/],
    ['{"samples":[{"name":"a","input":{"b":[1e400]}}]}', '/samples/0/input/b/0', /smaller number/],
    [
      { input: { $ref: '#/$defs/0', $defs: Object.fromEntries([...chain, true].entries()) } },
      '/input',
      / too deep/,
    ],
    [
      {
        input: { type: 'string' },
        samples: [
          { name: 'a', input: 'b' },
          { name: 'b', input: 1 },
        ],
      },
      '/samples/1/input',
    ],
    [
      { output: { type: 'string' }, samples: [{ name: 'a', input: 1, output: { b: 1 } }] },
      '/samples/0/output',
    ],
    [
      { input: { items: { type: 'string' } }, samples: [{ name: 'a', input: ['a', 'b', 3] }] },
      '/samples/0/input/2',
      /must be of type string/,
    ],
    [{ samples: [{ name: 'a' }] }, '/samples/0/input'],
    [{ samples: [{ input: 1 }] }, '/samples/0/name'],
    [{ templates: { cobol: '' } }, '/templates/cobol', /typescript/],
    [{ templates: { javascript: 1 } }, '/templates/javascript'],
  ];
  for (const [body, place, message] of cases) {
    const error = await errorOf(await sendRequest('PUT', path, body));
    assert.deepEqual(
      [error.status, error.code, error.path],
      [422, 'invalid-body', place],
      JSON.stringify(body).slice(0, 200),
    );
    if (message) assert.match(error.message, message);
  }
  assert.equal((await sendRequest('GET', path)).status, 404);
  const deep = await errorOf(
    await sendRequest('PUT', path, `{"input":${'{"not":'.repeat(100)}true${'}'.repeat(100)}}`),
  );
  assert.deepEqual([deep.status, deep.code, deep.path], [422, 'too-deep', '']);
  const other = await sendRequest('PUT', '/api/v1/environment/com.other/namespaces/orders', {});
  assert.equal((await errorOf(other)).code, 'forbidden');
});

test('the schemas that are given have at most 64 KB together', async (t) => {
  const { sendRequest } = await start(t);
  const schemaOf = (bytes: number) => ({ const: 'x'.repeat(bytes - JSON.stringify({ const: '' }).length) });
  for (const name of ['input', 'output']) {
    const put = (bytes: number) => sendRequest('PUT', `${list}/${name}`, { [name]: schemaOf(bytes) });
    assert.equal((await errorOf(await put(65_537))).path, `/${name}`);
    assert.equal((await put(65_536)).status, 201);
  }
});

test('schemas are kept unchanged, whatever their names, and nothing that generators read in them writes a file', async (t) => {
  const { sendRequest, fetch, token } = await start(t);
  const record =
    '{"input":{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"type":"number"}},' +
    '"required":["__proto__"],"tsType":"string; declare const pwned: 1"},' +
    '"output":{"title":"*/ declare const pwned: 1 /*","description":"a\\n*/ declare const pwned: 1; /**","type":"object",' +
    '"properties":{"a\\"; pwned: 1":{"enum":["`${1}`","\\"; pwned","\\u2028"]},"n":{"description":"tick ` and ${x}","tsType":"pwned"}}},' +
    '"samples":[{"name":"own","input":{"__proto__":"x","constructor":1}}]}';
  const response = await sendRequest('PUT', `${list}/default`, record);
  const body = await response.text();
  assert.equal(response.status, 201, body);
  const withoutWarnings = body.replace(/,"warnings":\[.*\]\}$/, '}');
  assert.equal(withoutWarnings, JSON.stringify(JSON.parse(`{"namespace":"default",${record.slice(1)}`)));
  assert.equal(({} as { type?: string }).type, undefined);
  const types = await fetch('/api/v1/types/com.acme.t1/default/p', { headers: bearer(token) });
  const { declarations } = (await types.json()) as { declarations: string };
  const withoutComments = declarations
    .replaceAll(/\/\*[^]*?\*\//g, '')
    .replaceAll(/"(?:[^"\\]|\\.)*"/g, '""');
  assert.doesNotMatch(withoutComments, /pwned/);
  assert.match(declarations, /__proto__: string;/);
  assert.doesNotMatch(declarations.replaceAll('\n', ''), /[\p{C}\p{Zl}\p{Zp}]/u);
  // A sample without what has that name is not taken for one with it.
  const without = await sendRequest('PUT', `${list}/default`, record.replace('"__proto__":"x",', ''));
  assert.equal((await errorOf(without)).path, '/samples/0/input/__proto__');
});

test('a hostile schema or sample costs at most its time limit, and the service goes on', async (t) => {
  const running = await start(t);
  const { sendRequest, fetch, editorToken, token } = running;
  const evil = { type: 'string', pattern: '^(a+)+$' };
  const samples = [{ name: 'a', input: `${'a'.repeat(60)}!` }];
  const began = performance.now();
  const refused = await errorOf(await sendRequest('PUT', `${list}/evil`, { input: evil, samples }));
  assert.deepEqual([refused.status, refused.path], [422, '/samples']);
  assert.match(refused.message, /limit of time/);
  assert.ok(performance.now() - began < 30_000);
  // Without the sample it is a schema as any other, and what it costs is a run's.
  assert.equal((await sendRequest('PUT', `${list}/evil`, { input: evil })).status, 201);
  const plugin = 'com.acme.t1/evil/p';
  const editor = bearer(await editorToken(`/auth/v2/access/${plugin}`, token));
  const post = (path: string, body = '') => fetch(path, { method: 'POST', headers: editor, body });
  await post(`/api/v1/build/javascript/${plugin}`, 'export const run = () => 1;');
  await limitRuns(running, 250);
  const tested = await post(`/api/v1/test/${plugin}`, JSON.stringify(samples[0]?.input));
  assert.equal(((await tested.json()) as { error: { code: string } }).error.code, 'time-limit');
  await limitRuns(running, 20_000);
  const after = await post(`/api/v1/test/${plugin}`, '"aaa"');
  assert.equal(((await after.json()) as { result: string }).result, '1');
});
