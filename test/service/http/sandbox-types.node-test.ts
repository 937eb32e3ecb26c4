import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bearer, startService } from '../harness.ts';

const place = 'com.acme.t1/default/add-record';

/** Values whose members differ most between engines. */
const values = [
  'Object',
  'Array',
  'Promise',
  'Math',
  'Iterator',
  'RegExp',
  "''",
  '[]',
  '1',
  '1n',
  '/a/',
  'new Map()',
  'new Set()',
  'new Date()',
  'new Uint8Array()',
  '[].values()',
  'performance',
  'console',
];

// Kept by TypeScript for old programs; of no use to a plugin.
const legacy = /^RegExp\.(?:\$[1-9_]|input|lastMatch|lastParen|leftContext|rightContext)$/;

test('everything that language help offers exists when the plugin runs', async (t) => {
  const service = await startService(t);
  const token = await service.editorToken();
  const post = async <T>(path: string, body: string, type = 'text/plain') => {
    const headers = { ...bearer(token), 'content-type': type };
    return (await (await service.fetch(path, { method: 'POST', headers, body })).json()) as T;
  };
  const complete = async (expression: string) => {
    const contents = `export function run(input) {\n${expression}\n}\n`;
    const params = { position: { line: 1, character: expression.length } };
    const { result } = await post<{ result: { items: { label: string }[] } }>(
      `/api/v1/language-help/javascript/${place}`,
      JSON.stringify({ contents, request: { method: 'textDocument/completion', params } }),
      'application/json',
    );
    return result.items.map(({ label }) => label).filter((label) => /^[\w$]+$/.test(label));
  };
  const globals = (await complete('')).filter((name) => /^[A-Z]/.test(name));
  // One after the other: of two at once for a plugin the second overtakes the first.
  const members: [value: string, names: string[]][] = [];
  for (const value of values)
    members.push([value, (await complete(`(${value}).`)).filter((name) => name !== 'Symbol')]);
  const built = await post<{ succeeded: boolean }>(
    `/api/v1/build/javascript/${place}`,
    `const values = { ${values.map((value) => `${JSON.stringify(value)}: ${value}`).join(', ')} };
export function run(input) {
  const { globals, members } = JSON.parse(input);
  const missing = globals.filter((name) => !(name in globalThis));
  for (const [value, names] of members)
    for (const name of names) if (!(name in Object(values[value]))) missing.push(value + "." + name);
  return JSON.stringify(missing);
}`,
  );
  assert.ok(built.succeeded, JSON.stringify(built));
  const ran = await post<{ result: string }>(`/api/v1/test/${place}`, JSON.stringify({ globals, members }));
  assert.ok(globals.length > 40 && members.every(([, names]) => names.length > 0));
  assert.deepEqual(
    (JSON.parse(ran.result) as string[]).filter((name) => !legacy.test(name)),
    [],
  );
});
